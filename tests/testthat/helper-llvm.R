built_without_llvm <- function() identical(.Call(C_anvil_llvm, NULL)$reason, "anvil was built without LLVM.")
