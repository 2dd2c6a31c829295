# Exported functions whose names other packages have for something else: flatten() of purrr, rlang and jsonlite, repr() of
# IRkernel's repr, shape() of keras3, jacobian() of numDeriv. As with R's functions (masks.R), what is attached is a function
# that sees whether a call is meant for this package, and otherwise calls what the session would call without it, if there is
# anything, whichever was attached first. Code in packages names the one that it means.

# When a call is surely ours, by the arguments that are given; `...` are arguments that only others know.
shared_names <- function() {
  of_tensor <- quote(is_ours(x))
  of_function <- quote(is.function(f) && (is.null(wrt) || is.character(wrt) || "wrt" %in% names(sys.call())) && ...length() == 0L)
  list(
    flatten = quote(any_ours(x)), repr = quote(is_ours(func)),
    shape = of_tensor, dtype = of_tensor, device = of_tensor, platform = of_tensor,
    gradient = of_function, jacobian = of_function, hessian = of_function
  )
}

is_ours <- function(x) {
  is.object(x) && inherits(x, c("AnvilValue", "AbstractTensor", "AnvilBuffer", "AnvilFunc", "GraphNode", "TreeNode"))
}

any_ours <- function(x) {
  if (is_container(x)) any(vapply(unclass(x), any_ours, NA)) else is_ours(x)
}

shared_mask <- function(name, ours) {
  own <- get(name, mode = "function")
  symbol <- as.name(name)
  arguments <- names(formals(own))
  mask <- function() NULL
  formals(mask) <- c(formals(own), alist(... = ))
  body(mask) <- bquote({
    .(symbol) <- if (!missing(.(as.name(arguments[1L]))) && .(ours)) .own else .Call(C_anvil_behind, mask_home$.attached, quote(.(symbol)), FALSE) %||% .own
    .(call_of_given(symbol, arguments))
  })
  environment(mask) <- list2env(list(.own = own), parent = topenv())
  attr(mask, "srcref") <- NULL
  mask
}

# By position, since others call their arguments otherwise.
call_of_given <- function(f, arguments) {
  if (!length(arguments)) {
    return(as.call(list(f, quote(...))))
  }
  last <- as.name(arguments[length(arguments)])
  given <- as.call(c(f, lapply(arguments, as.name), quote(...)))
  bquote(if (missing(.(last))) .(call_of_given(f, arguments[-length(arguments)])) else .(given))
}
