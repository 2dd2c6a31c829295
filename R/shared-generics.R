# Of some functions that are masked (masks.R) the methods package makes one generic function for all packages, which Matrix
# and others export: where theirs stands first, since they were attached later, it has methods for tensors.

#' @rawNamespace exportMethods(rowSums, colSums, rowMeans, colMeans, diag, "diag<-", kronecker)
NULL

# The verb with the formals of the generic function.
shared_method <- function(generic, verb) {
  method <- function() NULL
  formals(method) <- formals(generic)
  body(method) <- mask_calls(quote(.verb), intersect(names(formals(generic)), names(formals(verb))), asked = character())
  environment(method) <- list2env(list(.verb = verb), parent = topenv())
  method
}

local({
  verbs <- tensor_verbs()[c("rowSums", "colSums", "rowMeans", "colMeans", "diag", "diag<-", "kronecker")]
  for (name in names(verbs)) {
    both <- name == "kronecker"
    for (operands in if (both) list(c("AnvilValue", "AnvilValue"), c("AnvilValue", "ANY"), c("ANY", "AnvilValue")) else verbs[[name]]$is) {
      setMethod(name, operands, shared_method(methods::getGeneric(name), verbs[[name]]$verb), where = topenv())
    }
  }
})

# Of others only Matrix and posterior make generic functions, which have methods as soon as these packages are loaded: here R's own are
# called, which are faster and whose errors are R's. Those of the methods package, and those of S3:
late_generics <- list(
  Matrix = c("chol2inv", "drop", "norm", "which", "toeplitz", "solve", "qr.Q", "qr.R", "qr.X", "qr.coef", "qr.fitted", "qr.resid", "qr.qy", "qr.qty"),
  posterior = "drop"
)
late_s3_generics <- list(posterior = c("sd", "var"))
late_home <- new.env()

set_late_methods <- function(package) {
  verbs <- tensor_verbs()
  home <- asNamespace(package)
  for (name in late_generics[[package]]) {
    generic <- methods::getGeneric(name, where = home)
    if (is.null(generic)) next
    spec <- verbs[[name]]
    set <- function(operands, method) setMethod(generic, operands, method, where = late_home)
    if (identical(spec$is, "qr")) {
      decomposed <- decomposed_method(generic, spec$verb)
      set("list", decomposed)
      if ("y" %in% generic@signature) for (first in c("ANY", "list")) set(c(first, "AnvilValue"), decomposed)
    } else {
      method <- shared_method(generic, spec$verb)
      # Matrix has methods for a first matrix of its own and anything
      if (identical(spec$at, "b")) for (first in c("ANY", "Matrix")) set(c(first, "AnvilValue"), method) else set("AnvilValue", method)
    }
  }
  for (name in late_s3_generics[[package]]) registerS3method(name, "AnvilValue", verbs[[name]]$verb, envir = home)
}

# What qr() makes of a tensor is a list, as functions that are traced return it.
decomposed_method <- function(generic, verb) {
  method <- shared_method(generic, verb)
  meant <- if ("y" %in% generic@signature) quote(is_qr(qr) || is_value(y)) else quote(is_qr(qr))
  body(method) <- bquote(if (.(meant)) .(body(method)) else methods::callNextMethod())
  method
}

await_generics <- function() {
  for (package in names(late_generics)) {
    if (isNamespaceLoaded(package)) set_late_methods(package) else setHook(packageEvent(package, "onLoad"), function(pkg, ...) set_late_methods(pkg))
  }
}
