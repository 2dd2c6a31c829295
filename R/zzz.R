.onLoad <- function(libname, pkgname) {
  .Call(C_anvil_attach, topenv())
  library <- file.path(libname, pkgname, "jit", "anvil_llvm.so")
  .Call(C_anvil_llvm, if (nzchar(.Platform$r_arch)) sub("jit/", paste0("jit/", .Platform$r_arch, "/"), library, fixed = TRUE) else library)
}

.onUnload <- function(libpath) {
  library.dynam.unload("anvil", libpath)
}
