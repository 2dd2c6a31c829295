# Functions of R that ask what a value is, and would say FALSE of what they do not know: with a traced value they are the error
# that `if` is. Packages' own code calls R's, which see no logical in a tensor but where it is a single known bool.

truth_verbs <- function() {
  list(
    isTRUE = masked(function(x) isTRUE(single_truth(x, "isTRUE"))),
    isFALSE = masked(function(x) isFALSE(single_truth(x, "isFALSE"))),
    is.logical = masked(function(x) type_tag(x)[1L] == 0L),
    identical = masked(identical_values(), at = c("x", "y")),
    stopifnot = list(mask = stopifnot_mask()),
    sprintf = masked(function(fmt, ...) do.call(base::sprintf, c(list(fmt), lapply(list(...), as_text_data))), at = NULL)
  )
}

# As R data, or NULL where nothing but the type is needed to see that it is no single truth value.
single_truth <- function(x, verb) {
  if (type_tag(x)[1L] == 0L && length(x) == 1L) known_truth(x, verb)
}

known_truth <- function(x, verb, call = NULL) {
  if (inherits(x, "GraphBox")) refuse_condition(verb, "nv_if", call)
  as.vector(as_array(x))
}

# With the formals of R's.
identical_values <- function() {
  f <- function() NULL
  formals(f) <- formals(identical)
  body(f) <- bquote(same_values(x, y, .(as.call(c(quote(identical), lapply(names(formals(f)), as.name))))))
  f
}

# What differs in type is not identical, and what is the same box is.
same_values <- function(x, y, same) {
  if (!same && is_value(x) && is_value(y) && identical(type_tag(x), type_tag(y)) && (inherits(x, "GraphBox") || inherits(y, "GraphBox"))) {
    refuse_condition("identical", "nv_if")
  }
  same
}

# It looks at one argument after another, and at its own call: its mask is its body, that sees what a tensor holds.
stopifnot_mask <- function() {
  symbol <- quote(stopifnot)
  seen <- gsub("...elt(i)", "truth_of_bool(...elt(i))", body_text(base::stopifnot), fixed = TRUE)
  mask <- base::stopifnot
  body(mask) <- bquote({
    .(symbol) <- .Call(C_anvil_behind, .attached, quote(.(symbol)), TRUE)
    if (is.logical(.(symbol))) .(str2lang(seen)) else {
      call <- sys.call()
      call[[1L]] <- .(symbol)
      eval(call, parent.frame())
    }
  })
  mask
}

truth_of_bool <- function(x) {
  if (is_value(x) && type_tag(x)[1L] == 0L) known_truth(x, "stopifnot", sys.call(-1L)) else x
}

as_text_data <- function(x) {
  if (!is_value(x)) {
    return(x)
  }
  if (inherits(x, "GraphBox")) {
    abort_anvil("trace", "`sprintf()` cannot show a traced tensor, which has no value yet.", "i `nv_print()` prints when the program runs.")
  }
  as.vector(as_array(x))
}
