// A reader of just the JSON that a header of safetensors consists of: no recursion, so that
// no text is too deep, and memory in proportion to the text.
#include "base/safetensors.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace anvil {

std::string safetensors_name(DType dtype) {
  std::string text(name(dtype));
  if (is_unsigned_integer(dtype)) text.erase(1, 1);  // ui8: U8
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

namespace {

Error invalid(const std::string& what) {
  return Error("safetensors", "These are no valid safetensors data.", {"x " + what});
}

// How many bytes the character of UTF-8 at the beginning of s has; 0 when it is none.
size_t utf8_length(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(i < s.size() ? s[i] : 0); };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const size_t n = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);  // surrogates; 0x10ffff
  return overlong || beyond ? 0 : n;
}

// A name as messages show it: of names that are too long, the beginning.
std::string quoted(std::string_view name) {
  size_t n = 0;
  while (n < name.size() && n < 60) n += std::max<size_t>(1, utf8_length(name.substr(n)));
  std::string text = "\"" + std::string(name.substr(0, n)) + (n < name.size() ? "...\"" : "\"");
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

void append_utf8(std::string& to, unsigned code) {
  auto tail = [&](int shift) { to += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  SafeHeader read() {
    SafeHeader header;
    if (peek() != '{') fail("`{` is expected");  // at once, without space before it
    members([&](const std::string& key) {
      if (key == "__metadata__")
        members([&](const std::string& name) { header.metadata.emplace_back(name, string()); });
      else
        header.tensors.push_back(tensor(key));
    });
    if (at_ < text_.size()) fail("the header goes on behind its end");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid("Byte " + std::to_string(at_ + 1) + " of the header: " + what + ".");
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) ++at_;
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(at_ < text_.size() ? std::string("`") + c + "` is expected" : "it ends too early");
  }

  // The members of an object; `read` reads the value of a key.
  template <class Read>
  void members(Read&& read) {
    std::unordered_set<std::string> keys;
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = string();
      if (!keys.insert(key).second) fail("the key " + quoted(key) + " occurs twice");
      expect(':');
      read(key);
    } while (accept(','));
    expect('}');
  }

  SafeTensor tensor(const std::string& label) {
    SafeTensor t;
    t.name = label;
    std::vector<int64_t> offsets;
    int fields = 0;
    members([&](const std::string& key) {
      if (key == "dtype")
        t.dtype = dtype(label);
      else if (key == "shape")
        t.shape = integers();
      else if (key == "data_offsets")
        offsets = integers();
      else
        fail("a tensor has no field " + quoted(key));
      ++fields;
    });
    if (fields < 3) fail("the tensor " + quoted(label) + " needs `dtype`, `shape` and `data_offsets`");
    if (offsets.size() != 2) fail("`data_offsets` of " + quoted(label) + " must be two numbers");
    t.begin = offsets[0];
    t.end = offsets[1];
    return t;
  }

  DType dtype(const std::string& label) {
    const std::string text = string();
    for (size_t i = 0; i < descriptors.size(); ++i)
      if (safetensors_name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
    fail(quoted(label) + " has the dtype " + quoted(text) + ", which there is not here");
  }

  std::vector<int64_t> integers() {
    std::vector<int64_t> list;
    expect('[');
    if (accept(']')) return list;
    do list.push_back(integer());
    while (accept(','));
    expect(']');
    return list;
  }

  int64_t integer() {
    const size_t begin = at_;
    int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, peek() - '0', &value))
        fail("this number is too large");
    if (at_ == begin || (text_[begin] == '0' && at_ > begin + 1)) fail("a whole number of at least 0 is expected");
    skip_space();
    return value;
  }

  std::string string() {
    std::string value;
    if (peek() != '"') fail("a string is expected");
    for (++at_; peek() != '"';) {
      if (at_ >= text_.size()) fail("it ends within a string");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("a string has a control character");
      if (peek() == '\\') {
        append_utf8(value, escaped());
        continue;
      }
      const size_t n = utf8_length(text_.substr(at_));
      if (n == 0) fail("this is not UTF-8");
      value += text_.substr(at_, n);
      at_ += n;
    }
    ++at_;
    skip_space();
    return value;
  }

  // The character that an escape means.
  unsigned escaped() {
    static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    const char c = peek();
    ++at_;
    if (const size_t i = letters.find(c); i != std::string_view::npos) return static_cast<unsigned>(meant[i]);
    if (c != 'u') fail("there is no such escape");
    const unsigned code = four_digits();
    if (code == 0) fail("a string has a NUL");
    if (code < 0xd800 || code > 0xdfff) return code;
    if (code > 0xdbff || text_.substr(at_, 2) != "\\u") fail("half a character is escaped");
    at_ += 2;
    const unsigned low = four_digits();
    if (low < 0xdc00 || low > 0xdfff) fail("half a character is escaped");
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }

  unsigned four_digits() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
      if (!digit && !lower && !upper) fail("an escape needs four hexadecimal digits");
      value = 16 * value + static_cast<unsigned>(digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void check_size(const SafeTensor& t) {
  int64_t size = static_cast<int64_t>(size_of(t.dtype));
  const bool empty = std::find(t.shape.begin(), t.shape.end(), 0) != t.shape.end();
  for (int64_t extent : t.shape)
    if (!empty && __builtin_mul_overflow(size, extent, &size))
      throw invalid("The shape " + in_parentheses(t.shape) + " of " + quoted(t.name) + " is too large.");
  if (empty) size = 0;
  if (t.end < t.begin) throw invalid("The bytes of " + quoted(t.name) + " end before they begin.");
  if (t.end - t.begin != size)
    throw invalid("The tensor " + quoted(t.name) + ", " + safetensors_name(t.dtype) + " of shape " +
                  in_parentheses(t.shape) + ", has " + std::to_string(size) + " bytes, not " +
                  std::to_string(t.end - t.begin) + ".");
}

void check_places(const std::vector<SafeTensor>& tensors, std::optional<int64_t> bytes) {
  std::vector<const SafeTensor*> order;
  for (const SafeTensor& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](const SafeTensor* a, const SafeTensor* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  int64_t reached = 0;
  for (const SafeTensor* t : order) {
    if (t->begin < reached) throw invalid("The bytes of " + quoted(t->name) + " overlap those of another tensor.");
    if (t->begin > reached) throw invalid("There is a hole before the bytes of " + quoted(t->name) + ".");
    reached = t->end;
  }
  if (!bytes || reached == *bytes) return;
  throw invalid("The tensors have " + std::to_string(reached) + " bytes, but " + std::to_string(*bytes) +
                (reached > *bytes ? " are there: the data were cut off." : " are there."));
}

}  // namespace

SafeHeader read_safetensors(std::string_view header, std::optional<int64_t> bytes) {
  SafeHeader result = HeaderReader(header).read();
  for (const SafeTensor& t : result.tensors) check_size(t);
  check_places(result.tensors, bytes);
  return result;
}

}  // namespace anvil
