# anvil.so goes where R looks for it; anvil_llvm.so, which R never loads itself,
# into a folder of its own: jit/anvil_llvm.so.
copy <- function(files, folder) {
  dest <- file.path(R_PACKAGE_DIR, paste0(folder, R_ARCH))
  dir.create(dest, recursive = TRUE, showWarnings = FALSE)
  copied <- file.copy(files, dest, overwrite = TRUE)
  if (!all(copied)) stop("could not copy ", toString(files[!copied]), " to ", dest)
}

llvm <- "anvil_llvm.so"
copy(setdiff(Sys.glob(paste0("*", SHLIB_EXT)), llvm), "libs")
if (file.exists(llvm)) copy(llvm, "jit")
if (file.exists("symbols.rds")) copy("symbols.rds", "libs")
