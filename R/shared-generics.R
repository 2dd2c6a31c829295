# Of some functions that are masked (masks.R) the methods package makes one generic function for all packages, which Matrix
# and others export: where theirs stands first, since they were attached later, it has methods for tensors.

#' @rawNamespace exportMethods(rowSums, colSums, rowMeans, colMeans, diag, "diag<-", kronecker)
NULL

# The verb with the formals of the generic function.
shared_method <- function(generic, verb) {
  formals <- formals(generic)
  method <- function() NULL
  formals(method) <- formals
  body(method) <- mask_calls(quote(.verb), intersect(names(formals), names(formals(verb))), asked = character())
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

# Of others only Matrix makes generic functions, which have methods as soon as it is loaded: here R's own are called, which are
# faster and whose errors are R's.
late_generics <- c("chol2inv", "drop", "norm", "which")
late_home <- new.env()

set_late_methods <- function(...) {
  verbs <- tensor_verbs()[late_generics]
  for (name in late_generics) {
    generic <- methods::getGeneric(name, where = asNamespace("Matrix"))
    if (is.null(generic)) next
    method <- shared_method(generic, verbs[[name]]$verb)
    setMethod(generic, "AnvilValue", method, where = late_home)
  }
  # which asks the right-hand side as well, and would convert it for ever
  setMethod(methods::getGeneric("solve", where = asNamespace("Matrix")), c("Matrix", "AnvilValue"), function(a, b, ...) solve_by(a, b, ...), where = late_home)
}

await_matrix <- function() {
  if (isNamespaceLoaded("Matrix")) set_late_methods() else setHook(packageEvent("Matrix", "onLoad"), set_late_methods)
}
