// The cache of a jitted function and the arguments of a call of it, as jit() and those who report on it share them.
#pragma once
#include <list>
#include <unordered_map>
#include <unordered_set>

#include "r_compiled.h"

namespace anvil::r {

// What a call is known by: the tree of its arguments with the types at its leaves, in
// words, and the static values. Those are compared by content, 0 and -0 and NA and NaN being
// different; functions by their code and environment.
struct Key {
  std::vector<int64_t> words;
  std::vector<SEXP> statics;
  std::vector<SEXP> labels;  // vectors whose strings stand in `words` by their addresses
  bool operator==(const Key& o) const {
    constexpr int numbers_as_bits = 1, with_environments = 16;
    if (words != o.words) return false;
    for (size_t i = 0; i < statics.size(); ++i)
      if (!R_compute_identical(statics[i], o.statics[i], numbers_as_bits | with_environments)) return false;
    return true;
  }
  size_t hash() const {
    size_t h = words.size();
    for (int64_t w : words) h = (h ^ static_cast<size_t>(w)) * 0x9e3779b97f4a7c15u;
    return h;
  }
};

// An argument of a version, for people: the type of a tensor, by its place in the arguments, or a static value.
struct Argument {
  std::string name;  // "x", "state$mean"
  TensorType type;
  Kept value;  // of a static one
};

struct Slot {
  Key key;
  std::vector<Kept> kept;
  std::shared_ptr<Compiled> compiled;
  std::vector<Argument> arguments;
  int64_t number;  // how many were compiled before, and itself
};

class Cache {
 public:
  explicit Cache(SEXP spec);
  bool is_static(SEXP name) const { return std::find(static_.begin(), static_.end(), name) != static_.end(); }
  bool is_donated(SEXP name) const { return std::find(donate_.begin(), donate_.end(), name) != donate_.end(); }
  bool donates() const { return !donate_.empty(); }
  bool converts() const { return convert_; }
  const std::list<Slot>& slots() const { return slots_; }  // what was used last comes first
  int64_t made() const { return made_; }
  size_t shapes() const { return shapes_.size(); }  // different ones that programs were made for, at most `many`
  static constexpr size_t many = 10;

  std::shared_ptr<Compiled> find(const Key&);
  void insert(Key, std::vector<Argument>, std::shared_ptr<Compiled>);

 private:
  void drop_last();

  size_t limit_;
  bool convert_;
  std::vector<SEXP> static_, donate_;  // kept by the cache's own R object
  std::list<Slot> slots_;
  std::unordered_multimap<size_t, std::list<Slot>::iterator> index_;
  int64_t made_ = 0;
  std::unordered_set<std::string> shapes_;
};
// A cache starts empty, without an address; so does one that comes from another session.
Cache& cache_of(SEXP);

class Arguments {
 public:
  // `described`: where the arguments are to be listed, for people.
  explicit Arguments(const Cache&, std::vector<Argument>* described = nullptr);
  void add(SEXP args);

  Key key;
  std::vector<SEXP> tensors;  // the leaves, in order
  std::vector<SEXP> donated;
  std::vector<Kept> converted;
  bool abstract = false;  // some argument is a debug box without data

 private:
  void add_static(SEXP x, SEXP name);
  void add_labels(SEXP labels, R_xlen_t n);
  void add_tensor(SEXP);
  void leaf_or_list(SEXP);
  void add_data(SEXP x);
  std::string path() const;
  [[noreturn]] void wrong(SEXP) const;

  const Cache& cache_;
  std::vector<Argument>* described_;
  std::vector<std::pair<SEXP, R_xlen_t>> path_;
};

// What jit() runs for these arguments; `timed`: with readings of the clock around each nest.
std::shared_ptr<Compiled> traced_and_compiled(SEXP cache, SEXP args, const Arguments&, bool timed = false);

}  // namespace anvil::r
