// The arguments of a call of a jitted function: flattened into a key, and checked.
#include <algorithm>
#include <bit>

#include "r_descriptor.h"
#include "r_jit.h"

namespace anvil::r {
namespace {

// A program is compiled for the content of a static value. What can change under its name
// cannot be known by it.
void check_static(SEXP x, const std::string& argument, int depth) {
  auto refuse = [&](const std::string& what, const char* fix) -> Error {
    return {"argument",
            "The static argument `" + argument + "` cannot be " + what + ".",
            {"x It can change while the program that was compiled for it stays.", fix}};
  };
  if (depth == 0) throw Error("argument", "The static argument `" + argument + "` is nested too deeply.");
  const auto look_into = [&](SEXP part) { check_static(part, argument, depth - 1); };
  if (Class c = class_of(x); c == Class::tensor || c == Class::buffer) {
    tensor_data(x);  // not donated
    return;
  }
  switch (TYPEOF(x)) {
    case ENVSXP: throw refuse("an environment, or hold one", "i Pass the values, for example `as.list()` of it.");
    case EXTPTRSXP:
      if (class_of(x) == Class::debug_box || is_kind(x, names.a_graph)) return;
      throw refuse("an external pointer, or hold one", "i Pass the values that it stands for.");
    case WEAKREFSXP: throw refuse("a weak reference, or hold one", "i Pass the values.");
    case S4SXP:
      if (TYPEOF(Rf_getAttrib(x, names.reference)) == ENVSXP)
        throw refuse("an object of a reference class", "i Pass the values of its fields.");
      break;
    case VECSXP:
    case EXPRSXP:
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) look_into(VECTOR_ELT(x, i));
      break;
    case LISTSXP:
    case LANGSXP:
      for (SEXP rest = x; rest != R_NilValue; rest = CDR(rest)) {
        look_into(CAR(rest));
        if (TYPEOF(CDR(rest)) != LISTSXP) break;
      }
      break;
    default: break;
  }
  // Functions and formulas are what they say, in their environment; code knows its source file.
  if (TYPEOF(x) != CLOSXP && TYPEOF(x) != LANGSXP) each_attribute(x, look_into);
}

}  // namespace

Arguments::Arguments(const Cache& cache, std::vector<Argument>* described) : cache_(cache), described_(described) {
  key.words.reserve(32);
  for (int64_t number : local_rules()) key.words.insert(key.words.end(), {5, number});
  if (const int64_t checks = checks_wanted()) key.words.insert(key.words.end(), {6, checks});
  if (const int64_t defaults = defaults_chosen()) key.words.insert(key.words.end(), {7, defaults});
  tensors.reserve(8);
}

void Arguments::add(SEXP args) {
  if (args == R_NilValue) return;
  SEXP labels = Rf_getAttrib(list_of(args, "args"), R_NamesSymbol);
  add_labels(labels, XLENGTH(args));
  for (R_xlen_t i = 0; i < XLENGTH(args); ++i) {
    SEXP name = labels == R_NilValue ? R_BlankString : STRING_ELT(labels, i);
    SEXP x = VECTOR_ELT(args, i);
    if (cache_.is_static(name)) {
      add_static(x, name);
      continue;
    }
    size_t first = tensors.size();
    path_.push_back({name, i});
    leaf_or_list(x);
    path_.pop_back();
    if (cache_.donates() && cache_.is_donated(name))
      donated.insert(donated.end(), tensors.begin() + static_cast<std::ptrdiff_t>(first), tensors.end());
  }
}

void Arguments::add_static(SEXP x, SEXP name) {
  check_static(x, CHAR(name), 100);
  const bool vector = Rf_isVector(x);
  key.words.push_back(2 + 16 * TYPEOF(x));
  key.words.push_back(vector ? XLENGTH(x) : 0);
  if (vector && XLENGTH(x) == 1 && !ALTREP(x)) {  // most are single values: found by these
    if (TYPEOF(x) == REALSXP) key.words.push_back(std::bit_cast<int64_t>(REAL_ELT(x, 0)));
    if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) key.words.push_back(*static_cast<const int*>(DATAPTR_RO(x)));
    if (TYPEOF(x) == STRSXP) key.words.push_back(reinterpret_cast<int64_t>(STRING_ELT(x, 0)));
  }
  key.statics.push_back(x);
  if (described_) described_->push_back({CHAR(name), {}, Kept(x)});
}

void Arguments::add_labels(SEXP labels, R_xlen_t n) {
  key.words.push_back(3 + 16 * n + (labels == R_NilValue ? 0 : 8));
  if (labels == R_NilValue) return;
  key.labels.push_back(settled(labels));
  for (R_xlen_t i = 0; i < n; ++i) key.words.push_back(reinterpret_cast<int64_t>(STRING_ELT(labels, i)));
}

void Arguments::add_tensor(SEXP x) {
  SEXP tag = tensor_tag(x);
  const R_xlen_t n = XLENGTH(tag);
  key.words.push_back(1 + 16 * static_cast<int64_t>(n));
  for (R_xlen_t i = 0; i < n; ++i)
    key.words.push_back(TYPEOF(tag) == INTSXP ? INTEGER_RO(tag)[i] : static_cast<int64_t>(REAL_RO(tag)[i]));
  tensors.push_back(x);
  if (described_) described_->push_back({path(), type_of(tag), {}});
}

void Arguments::leaf_or_list(SEXP x) {
  switch (class_of(x)) {
    case Class::tensor: return add_tensor(x);
    case Class::debug_box: abstract = true; return;
    case Class::abstract: return wrong(x);
    default: break;
  }
  if (x == R_NilValue) return key.words.push_back(4);
  if (TYPEOF(x) == VECSXP && (!Rf_isObject(x) || Rf_inherits(x, "data.frame") || Rf_inherits(x, "AnvilSparse"))) {
    if (path_.size() > 1000) throw Error("argument", "Lists are nested too deeply.");
    SEXP labels = Rf_getAttrib(x, R_NamesSymbol);
    add_labels(labels, XLENGTH(x));
    if (Rf_inherits(x, "AnvilSparse")) {
      key.words.push_back(8);
      key.statics.push_back(Rf_getAttrib(x, names.pattern));
    }
    for (R_xlen_t i = 0; i < XLENGTH(x); ++i) {
      path_.push_back({labels == R_NilValue ? R_BlankString : STRING_ELT(labels, i), i});
      leaf_or_list(VECTOR_ELT(x, i));
      path_.pop_back();
    }
    return;
  }
  if (!cache_.converts()) return wrong(x);
  Shield<SEXP> data(Rf_inherits(x, "ts") ? call_r("as_tensor_data", {x}) : x);
  if (!is_data(data)) return wrong(x);
  add_data(data);
}

void Arguments::add_data(SEXP x) {
  bool scalar = XLENGTH(x) == 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue;
  DType dtype = array_dtype(x);
  if (described_) return described_->push_back({path(), {dtype, scalar ? Shape{} : shape_of_data(x)}, {}});
  converted.emplace_back(make_tensor(x, &dtype, scalar ? Shape{} : shape_of_data(x), false, false));
  add_tensor(converted.back().get());
}

// Where in the arguments the walk is: state$mean.
std::string Arguments::path() const {
  std::string text;
  for (size_t i = 0; i < path_.size(); ++i) {
    std::string name = CHAR(path_[i].first);
    if (i == 0)
      text = name.empty() ? "..." + std::to_string(path_[i].second + 1) : name;
    else
      text += name.empty() ? "[[" + std::to_string(path_[i].second + 1) + "]]" : "$" + name;
  }
  return text;
}

void Arguments::wrong(SEXP x) const {
  if (class_of(x) == Class::graph_box) unboxed(x);  // an error, where its trace has ended
  std::vector<std::string> details = {"x Got " + describe(x) + "."};
  std::string argument = CHAR(path_[0].first);
  if (is_data(x) || Rf_inherits(x, "ts"))
    details.push_back("i Make a tensor of it with `nv_tensor()` or `nv_scalar()`, or let `jit(convert = TRUE)` do so.");
  if (class_of(x) == Class::abstract)
    details.push_back("i An AbstractTensor has a type, but no data.");
  else if (!argument.empty())
    details.push_back("i If it is to be known when the function is compiled, name `" + argument + "` in `static`.");
  throw Error("argument", "`" + path() + "` must be an AnvilTensor.", details);
}

}  // namespace anvil::r
