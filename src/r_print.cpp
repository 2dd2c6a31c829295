// The lines that show a tensor's elements: matrices of right-aligned cells, blocks of
// columns where they do not fit, slices of the last two dimensions for higher ranks, and
// a budget of rows. Numbers are formatted alike within a slice. And what nv_print() prints.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {
namespace {

std::string printed(const char* format, double x) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, x);
  return buffer;
}
std::string printed_exponent(int exponent) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "1e%+03d *", exponent);
  return buffer;
}

// How the floats of one slice are shown.
struct Style {
  enum { whole, fixed, scientific, scaled } kind = whole;
  int exponent = 0;
};

// What the numbers of a slice have in common.
class Summary {
 public:
  void add(double x) {
    ++count_;
    if (!std::isfinite(x)) return;
    const double size = std::fabs(x);
    if (size != std::floor(size)) whole_ = false;
    if (size > 0) smallest_ = std::min(smallest_, size);
    largest_ = std::max(largest_, size);
  }
  Style style() const {
    if (whole_) return {};
    if (smallest_ > 1e-4 && largest_ < 1e6) return {Style::fixed};
    if (count_ == 1) return {Style::scientific};
    const double low = std::floor(std::log10(smallest_)), high = std::floor(std::log10(largest_));
    if (low == high) return {Style::scaled, static_cast<int>(low)};
    return {Style::scientific};
  }

 private:
  int64_t count_ = 0;
  double smallest_ = INFINITY, largest_ = 0;
  bool whole_ = true;
};

std::string whole_number(double x) {
  if (std::fabs(x) >= 1e6) return printed("%.4e", x);
  return printed("%.0f", x == 0 ? 0.0 : x);
}

std::string float_cell(double x, const Style& style) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  switch (style.kind) {
    case Style::whole: return whole_number(x);
    case Style::fixed: return printed("%.4f", x);
    case Style::scientific: return printed("%.4e", x);
    case Style::scaled: break;
  }
  return printed("%.4f", x / std::pow(10.0, style.exponent));
}

struct Limits {
  int64_t rows, width, rows_slice;
};

class DataPrinter {
 public:
  DataPrinter(const Tensor& t, const Limits& limits) : tensor_(t), limits_(limits), budget_(limits.rows) {}

  std::vector<std::string> lines() {
    const Shape& shape = tensor_.type.shape;
    if (elements(shape) == 0) return {};
    size_t rank = shape.size();
    rows_ = rank == 0 ? 1 : rank == 1 ? shape[0] : shape[rank - 2];
    columns_ = rank < 2 ? 1 : shape[rank - 1];
    if (rank < 3) {
      slice(0, 1, rank < 2 ? 1 : shape[0]);
    } else {
      Shape leading(shape.begin(), shape.end() - 2);
      std::vector<int64_t> step = strides(shape), index(leading.size(), 0);
      do {
        if (budget_ == 0) {
          truncated_ = true;
          break;
        }
        if (!lines_.empty()) lines_.push_back("");
        std::string header = "(";
        int64_t base = 0;
        for (size_t d = 0; d < index.size(); ++d) {
          header += std::to_string(index[d] + 1) + ",";
          base += index[d] * step[d];
        }
        lines_.push_back(header + ".,.) =");
        slice(base, step[rank - 2], step[rank - 1]);
      } while (next_row_major(index, leading));
    }
    if (truncated_) lines_.push_back(" ... [output was truncated, set max_rows = -1 to see all]");
    return std::move(lines_);
  }

 private:
  static bool next_row_major(std::vector<int64_t>& index, const Shape& shape) {
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) return true;
      index[d] = 0;
    }
    return false;
  }

  void slice(int64_t base, int64_t row_step, int64_t column_step) {
    auto at = [&](int64_t i, int64_t j) { return base + i * row_step + j * column_step; };
    Style style;
    if (is_float(tensor_.type.dtype)) {
      Summary summary;
      for (int64_t j = 0; j < columns_; ++j)
        in_pieces(rows_, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) summary.add(element(tensor_, at(i, j)).as<double>());
        });
      style = summary.style();
      if (style.kind == Style::scaled) lines_.push_back(printed_exponent(style.exponent));
    }
    auto cell = [&](int64_t i, int64_t j) {
      Scalar x = element(tensor_, at(i, j));
      DType t = tensor_.type.dtype;
      if (is_float(t)) return float_cell(x.as<double>(), style);
      if (is_bool(t)) return std::string(x.as<bool>() ? "1" : "0");
      return whole_number(t == DType::ui64 ? static_cast<double>(x.as<uint64_t>())
                                           : static_cast<double>(x.as<int64_t>()));
    };
    int64_t first = 0;
    while (first < columns_) {
      if (budget_ == 0) {
        truncated_ = true;
        return;
      }
      int64_t shown = std::min({rows_, limits_.rows_slice, budget_});
      if (shown < rows_) truncated_ = true;
      std::vector<std::vector<std::string>> block;
      size_t width = 0;
      for (int64_t j = first; j < columns_; ++j) {
        std::vector<std::string> column;
        size_t needed = width;
        poll();
        for (int64_t i = 0; i < shown; ++i) {
          column.push_back(cell(i, j));
          needed = std::max(needed, column.back().size());
        }
        if (!block.empty() && static_cast<int64_t>((needed + 1) * (block.size() + 1)) > limits_.width - 1) break;
        width = needed;
        block.push_back(std::move(column));
      }
      int64_t count = static_cast<int64_t>(block.size());
      if (count < columns_)
        lines_.push_back("Columns " + std::to_string(first + 1) + " to " + std::to_string(first + count));
      for (int64_t i = 0; i < shown; ++i) {
        std::string line;
        for (const auto& column : block) {
          const std::string& s = column[static_cast<size_t>(i)];
          line += " " + std::string(width - s.size(), ' ') + s;
        }
        lines_.push_back(std::move(line));
      }
      budget_ -= shown;
      first += count;
    }
  }

  const Tensor& tensor_;
  Limits limits_;
  int64_t budget_, rows_ = 0, columns_ = 0;
  bool truncated_ = false;
  std::vector<std::string> lines_;
};

}  // namespace

// Limits below 0 or not finite mean: no limit.
SEXP anvil_format_data(SEXP tensor, SEXP max_rows, SEXP max_width, SEXP max_rows_slice) {
  return entry([&] {
    auto limit = [](SEXP x, const char* argument) {
      double value = number_of(x, argument);
      return value >= 0 && value < 1e15 ? static_cast<int64_t>(value) : INT64_MAX;
    };
    if (Class c = class_of(tensor); c != Class::tensor && c != Class::buffer)
      throw wrong_argument("x", "an AnvilTensor", tensor);
    Tensor t = borrow(tensor);
    const Limits limits{limit(max_rows, "max_rows"), limit(max_width, "max_width"),
                        limit(max_rows_slice, "max_rows_slice")};
    std::vector<std::string> lines = DataPrinter(t, limits).lines();
    return guarded([&] { return strings(lines); });
  });
}

// Flags, width and one of d, i, s, or these, a precision and one of e, f, g.
static bool is_conversion(std::string_view s) {
  const auto skip = [&s](std::string_view some) { s.remove_prefix(std::min(s.find_first_not_of(some), s.size())); };
  constexpr std::string_view digits = "0123456789";
  if (s.empty() || s[0] != '%') return false;
  s.remove_prefix(1);
  skip("-+ #0");
  skip(digits);
  const bool precise = !s.empty() && s[0] == '.';
  if (precise) s.remove_prefix(1), skip(digits);
  return s.size() == 1 && std::string_view(precise ? "eEfgG" : "eEfgGdis").find(s[0]) != s.npos;
}
// An element in the form of such a conversion of sprintf().
static std::string formatted(const Scalar& x, DType t, std::string conversion) {
  const char kind = conversion.back();
  conversion.pop_back();
  const auto in_form = [&](const std::string& length_and_kind, auto value) {
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, (conversion + length_and_kind).c_str(), value);
    return std::string(buffer);
  };
  const auto word = [&](const char* text) {
    const bool left = conversion.find('-') != std::string::npos;
    const size_t width = std::min(conversion.find_first_of("123456789"), conversion.size());
    conversion = (left ? "%-" : "%") + conversion.substr(width, conversion.find('.') - width);
    return in_form("s", text);
  };
  if (is_bool(t) && kind == 's') return word(x.as<bool>() ? "TRUE" : "FALSE");
  if (is_float(t) || (kind != 's' && kind != 'd' && kind != 'i')) {
    const auto value = x.as<double>();
    if (std::isnan(value)) return word("NaN");
    if (std::isinf(value)) return word(value > 0 ? "Inf" : "-Inf");
    if (kind == 's') return in_form(t == DType::f64 ? ".15g" : ".7g", value);
    return in_form(std::string(1, kind), value);
  }
  if (is_unsigned_integer(t)) return in_form("llu", static_cast<unsigned long long>(x.as<uint64_t>()));
  return in_form("lld", static_cast<long long>(x.as<int64_t>()));
}

SEXP anvil_format_elements(SEXP tensor, SEXP conversion) {
  return entry([&] {
    const Tensor t = borrow(tensor);
    const std::string form = text_of(conversion, "conversion");
    if (!is_conversion(form)) throw Error("argument", "`conversion` must be one of sprintf().");
    std::vector<std::string> texts;
    for (int64_t i = 0; i < elements(t.type.shape); ++i) {
      worked(100);
      texts.push_back(formatted(element(t, i), t.type.dtype, form));
    }
    return guarded([&] { return strings(texts); });
  });
}

void print_in_r(std::string_view format, std::span<const DenseTensor> tensors) {
  Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(tensors.size())); }));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DenseTensor& t = tensors[i];
    const TensorType type{t.dtype, Shape(t.shape.begin(), t.shape.end()), t.ambiguous};
    const std::shared_ptr<void> data(std::shared_ptr<void>(), t.data);
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), tensor_from({type, data}));
  }
  Shield<SEXP> text(guarded([&] { return string(format); }));
  call_r("print_now", {text, list});
}

}  // namespace anvil::r
