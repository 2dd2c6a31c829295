// The only header that includes LLVM, versions 14 to 21, and the few functions whose form
// differs between them. Everything that includes it belongs to the loadable code generator.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/IR/AssemblyAnnotationWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Pass.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FormattedStream.h>
#include <llvm/Support/Memory.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils.h>
#if LLVM_VERSION_MAJOR >= 16
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#include <llvm/Support/Host.h>
#endif

#include <memory>
#include <string>

namespace anvil::llvm_backend {

// Pointers without a pointee type: a choice in 14, the only kind since.
inline void use_opaque_pointers([[maybe_unused]] ::llvm::LLVMContext& context) {
#if LLVM_VERSION_MAJOR == 14
  context.enableOpaquePointers();
#endif
}
inline ::llvm::PointerType* pointer_type(::llvm::LLVMContext& context) { return ::llvm::PointerType::get(context, 0); }

inline ::llvm::StringMap<bool> host_features() {
#if LLVM_VERSION_MAJOR >= 19
  return ::llvm::sys::getHostCPUFeatures();
#else
  ::llvm::StringMap<bool> features;
  ::llvm::sys::getHostCPUFeatures(features);
  return features;
#endif
}

inline void set_triple(::llvm::Module& module, const ::llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}

// Position independent code for `triple`, compiled with little effort: the code comes scheduled.
inline std::unique_ptr<::llvm::TargetMachine> target_machine(const ::llvm::Triple& triple, const std::string& cpu,
                                                             const std::string& features, std::string& error) {
#if LLVM_VERSION_MAJOR >= 21
  const auto& name = triple;
#else
  const auto& name = triple.str();
#endif
#if LLVM_VERSION_MAJOR >= 18
  const auto level = ::llvm::CodeGenOptLevel::Less;
#else
  const auto level = ::llvm::CodeGenOpt::Less;
#endif
  const ::llvm::Target* target = ::llvm::TargetRegistry::lookupTarget(triple.str(), error);
  if (!target) return nullptr;
  return std::unique_ptr<::llvm::TargetMachine>(target->createTargetMachine(
      name, cpu, features, ::llvm::TargetOptions(), ::llvm::Reloc::PIC_, ::llvm::CodeModel::Small, level, true));
}

// Adds the passes that write assembly; true when the target cannot.
inline bool add_assembly_passes(::llvm::TargetMachine& machine, ::llvm::legacy::PassManager& passes,
                                ::llvm::raw_pwrite_stream& out) {
#if LLVM_VERSION_MAJOR >= 18
  const auto kind = ::llvm::CodeGenFileType::AssemblyFile;
#else
  const auto kind = ::llvm::CGFT_AssemblyFile;
#endif
  return machine.addPassesToEmitFile(passes, out, nullptr, kind);
}

// Asked before each optional pass over a function; `on` is "function (name)".
class PassGate : public ::llvm::OptPassGate {
 public:
#if LLVM_VERSION_MAJOR >= 16
  bool shouldRunPass(::llvm::StringRef pass, ::llvm::StringRef on) override { return runs(pass, on); }
#else
  bool shouldRunPass(const ::llvm::Pass* pass, ::llvm::StringRef on) override { return runs(pass->getPassName(), on); }
#endif
  bool isEnabled() const override { return true; }

 private:
  virtual bool runs(::llvm::StringRef pass, ::llvm::StringRef on) = 0;
};

// How RuntimeDyld tells its memory managers an alignment.
#if LLVM_VERSION_MAJOR >= 16
using SectionAlignment = ::llvm::Align;
#else
using SectionAlignment = uint32_t;
#endif

}  // namespace anvil::llvm_backend
