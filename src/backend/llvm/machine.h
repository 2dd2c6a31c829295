// From an LLVM module to machine code in memory: the target of this processor, the passes
// that generate code, and a linker that puts one object file into pages of its own.
// There is no optimisation pipeline: loops come scheduled and vectorised.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "backend/llvm/entry.h"
#include "backend/llvm/llvm.h"
#include "backend/llvm/objects.h"

namespace anvil::llvm_backend {

using Symbols = std::unordered_map<std::string, void*>;

// Machine code; its pages are unmapped with it.
class Code {
 public:
  virtual ~Code() = default;
  runtime::Entry entry = nullptr;
  int64_t bytes = 0;
};

// What the processor has an instruction for.
struct Abilities {
  bool halves = false;        // converts f16
  bool scales = false;        // multiplies by powers of two
  bool orders_zeros = false;  // the larger of two floats, -0 before 0, but one of them where the other is NaN
  bool orders_all = false;    // the same, NaN where one of them is
};

class Machine {
 public:
  Machine(const Settings&, Symbols);
  const Symbols& symbols() const { return symbols_; }
  const Settings& settings() const { return settings_; }
  const Abilities& abilities() const { return abilities_; }
  // A module for this target; `names` keeps the names of values for people.
  std::unique_ptr<llvm::Module> module(llvm::LLVMContext&, bool names) const;
  // Locals into registers. This and those below ask between functions whether the user wants to
  // stop: base/interrupt.h.
  void promote(llvm::Module&) const;
  std::string key(const llvm::Module&) const;  // of what object() makes of it here
  Bytes object(llvm::Module&);
  std::unique_ptr<Code> link(const Bytes& object, const char* entry) const;
  std::string assembly(llvm::Module&);

 private:
  Settings settings_;
  Abilities abilities_;
  Symbols symbols_;
  llvm::Triple triple_;
  std::unique_ptr<llvm::TargetMachine> target_;
};

}  // namespace anvil::llvm_backend
