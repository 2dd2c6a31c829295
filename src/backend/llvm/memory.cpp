// Addresses, loads and stores. An address is built outermost variable first, and each part
// is placed where its variables live:
//   x[i + 8 * k + 64 * j]  ->  p = x + 64 * j  in loop j;  q = p + 8 * k  in loop k;  q + i
// Copies of blocked loops differ by constants only.
#include <algorithm>

#include "backend/llvm/emitter.h"
#include "loops/lanes.h"

namespace anvil::llvm_backend {

using loops::Term;

// A buffer's memory; of a swapped buffer, where its pointer is; of a number in a register, its slot.
Emitter::Value Emitter::place(BufferId id) {
  const BufferId b = analysis_.root(id);
  Value& known = bases_[b];
  if (known) return known;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  const loops::Buffer& buffer = program_.buffers[size_t(b)];
  if (registers_.count(b))
    known = slot(ops_.memory_type(buffer.dtype), buffer.name);
  else if (!analysis_.swapped().count(b))
    known = initial(b);
  else if (!(known = frame_slot(frame_pointers_, b)))
    b_.CreateStore(initial(b), known = slot(ptr_, buffer.name));
  return known;
}

// Where a buffer starts, and the scope that holds the value.
Emitter::Value Emitter::base(BufferId id, int* level) {
  const BufferId b = analysis_.root(id);
  Value known = place(b);
  *level = 0;
  if (in_nest_ || registers_.count(b) || !analysis_.swapped().count(b)) return known;
  Info in;
  for (int s = int(scopes_.size()) - 1; s > 0 && in.level == 0; --s)
    if (scopes_[size_t(s)].statement && facts(scopes_[size_t(s)]).changed.count(b)) in.level = s;
  in.changed = buffer_changed_[b];
  *level = home(in.level);
  const void* key = &program_.buffers[size_t(b)];
  if (Value v = remembered(key, 0, in)) return v;
  const At at(*this, *level);
  return remember(key, 0, *level, b_.CreateLoad(ptr_, known, program_.buffers[size_t(b)].name));
}

// Bytes, never elements: LLVM 14 takes two addresses of the same operands for the same
// whatever their element types are (SCEVExpander::expandAddToGEP, with opaque pointers).
Emitter::Value Emitter::advance(Value pointer, Value bytes, const llvm::Twine& name) {
  return b_.CreateGEP(b_.getInt8Ty(), pointer, bytes, name);
}

Emitter::Value Emitter::pointer(BufferId b, const Affine& a, const Coordinate& c, int64_t displacement) {
  struct Part {
    int level;
    int64_t factor;
    Value variable;
    std::array<int64_t, 3> key;
    uint64_t changed;
  };
  llvm::SmallVector<Part, 6> parts;
  displacement += a.constant;
  for (const Term& t : a.terms) {
    const VariableState& v = variable_state(t.variable);
    Info in = v;
    Affine only;
    only.terms.push_back(t);
    depends(in, only);
    if (v.axis >= 0) displacement += t.factor * c[size_t(v.axis)] * axes_[size_t(v.axis)].width;
    const int coordinate = v.values.empty() ? 0 : project(v.axes, c);
    Value number = v.values.empty() ? v.start : v.values[size_t(coordinate)];
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(number))
      displacement += t.factor * constant->getSExtValue();
    else
      parts.push_back({in.level, t.factor, number, {t.variable, t.factor, coordinate}, in.changed});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return x.level < y.level; });
  const auto bytes = int64_t(size_of(program_.buffers[size_t(b)].dtype));
  int base_level = 0;
  Value p = base(b, &base_level);
  std::vector<int64_t> key{reinterpret_cast<int64_t>(p)};
  uint64_t changed = 0;
  for (const Part& part : parts) {
    key.insert(key.end(), part.key.begin(), part.key.end());
    changed = std::max(changed, part.changed);
    const int level = std::max(home(part.level), base_level);
    Entry& entry = scopes_[size_t(level)].pointers[key];
    if (!entry.value || entry.time < changed) {
      const At at(*this, level);
      entry = {advance(p, b_.CreateMul(part.variable, i64(part.factor * bytes))), time_};
    }
    p = entry.value;
  }
  return displacement == 0 ? p : advance(p, i64(displacement * bytes));
}

std::optional<int64_t> Emitter::lane_stride(const Affine& a) {
  int64_t stride = 0;
  for (const Term& t : a.terms) {
    const VariableState& v = variable_state(t.variable);
    if (!v.lanes) continue;
    if (v.axis < 0) return std::nullopt;
    stride += t.factor;
  }
  return stride;
}

Emitter::Value Emitter::lane_pointer(BufferId b, const Affine& a, const Coordinate& c, int lane) {
  Affine rest{a.constant, {}};
  Value offset = i64(0);
  for (const Term& t : a.terms) {
    const VariableState& v = variable_state(t.variable);
    if (!v.lanes) {
      rest.terms.push_back(t);
      continue;
    }
    Value number = v.axis >= 0 ? b_.CreateAdd(v.start, i64(lane))
                               : b_.CreateExtractElement(v.values[size_t(project(v.axes, c))], uint64_t(lane));
    offset = b_.CreateAdd(offset, b_.CreateMul(number, i64(t.factor)));
    if (v.axis >= 0) rest.constant += t.factor * c[size_t(v.axis)] * lanes();
  }
  return advance(pointer(b, rest, c, 0),
                 b_.CreateMul(offset, i64(int64_t(size_of(program_.buffers[size_t(b)].dtype)))));
}

Emitter::Value Emitter::load(BufferId b, DType t, const loops::Index& place, const Coordinate& c, const Info& in) {
  const Affine offset = loops::linear(program_, b, place);
  const std::string& name = program_.buffers[size_t(b)].name;
  const llvm::Align align(size_of(t));
  const auto number = [&](Value raw) {
    return is_bool(t) ? b_.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType())) : raw;
  };
  if (!in.lanes) return number(b_.CreateAlignedLoad(ops_.memory_type(t), pointer(b, offset, c, 0), align, name));
  const int n = lanes();
  const std::optional<int64_t> stride = lane_stride(offset);
  if (stride == 1) return number(b_.CreateAlignedLoad(ops_.memory_type(t, n), pointer(b, offset, c, 0), align, name));
  if (stride == -1) {
    Value raw = b_.CreateAlignedLoad(ops_.memory_type(t, n), pointer(b, offset, c, 1 - n), align, name);
    llvm::SmallVector<int, 64> backwards;
    for (int l = n; l-- > 0;) backwards.push_back(l);
    return number(b_.CreateShuffleVector(raw, backwards));
  }
  if (stride && loops::lie_near(*stride, n, t)) return number(load_near(b, t, offset, c, *stride));
  Value raw = llvm::UndefValue::get(ops_.memory_type(t, n));
  for (int l = 0; l < n; ++l) {
    Value p = stride ? pointer(b, offset, c, *stride * l) : lane_pointer(b, offset, c, l);
    raw = b_.CreateInsertElement(raw, b_.CreateAlignedLoad(ops_.memory_type(t), p, align, name), uint64_t(l));
  }
  return number(raw);
}

// The first `done` lanes of memory stay as they are.
void Emitter::store(BufferId b, DType t, const loops::Index& place, const Coordinate& c, Value x, int done,
                    bool around_caches) {
  const Affine offset = loops::linear(program_, b, place);
  const llvm::Align align(size_of(t));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (is_bool(t)) x = b_.CreateZExt(x, ops_.memory_type(t, vector ? int(vector->getNumElements()) : 1));
  if (!vector) {
    b_.CreateAlignedStore(x, pointer(b, offset, c, 0), align);
    return;
  }
  const std::optional<int64_t> stride = lane_stride(offset);
  if (stride == 1) {
    Value p = pointer(b, offset, c, 0);
    if (done > 0) x = b_.CreateSelect(not_done(done), x, b_.CreateAlignedLoad(x->getType(), p, align));
    llvm::StoreInst* store = b_.CreateAlignedStore(x, p, align);
    if (around_caches && done == 0) go_around_caches(*store, lanes() * int64_t(size_of(t)));
    return;
  }
  if (stores_near(stride, t)) {
    store_near(b, t, offset, c, *stride, x, done);
    return;
  }
  for (int l = done; l < lanes(); ++l)
    b_.CreateAlignedStore(b_.CreateExtractElement(x, uint64_t(l)),
                          stride ? pointer(b, offset, c, *stride * l) : lane_pointer(b, offset, c, l), align);
}

// The processor may write what goes around its caches after what follows: end_function() waits for it.
void Emitter::go_around_caches(llvm::StoreInst& store, int64_t bytes) {
  store.setAlignment(llvm::Align(uint64_t(std::min(bytes, loops::cache_line))));
  store.setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  goes_around_ = true;
}

}  // namespace anvil::llvm_backend
