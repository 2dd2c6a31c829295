# Errors of the C++ core become classed R conditions here. Their call is the user's
# own: the outermost frame of the innermost run of frames that belong to the package.

# kind: the class is anvil_error_<kind>; details: bullets, "x ..." or "i ...".
raise_condition <- function(kind, message, details) {
  if (kind == "interrupt") {
    rlang::interrupt()
  }
  if (kind == "internal") {
    message <- paste0("Internal error in anvil: ", message)
    details <- c(details, "i Please report this with the code that led to it.")
  }
  if (identical(details, "x Got <NULL>.")) {
    details <- c(details, "i NULL is what `list$name` gives where the list has no element of that name.")
  }
  abort_anvil(kind, message, details)
}

# Called by the core, of a program that runs: with the call of the user's that the error is about.
raise_at <- function(kind, message, details, call) {
  where <- paste0("i It was called by ", location_text(call), ".")
  attr(call, "srcref") <- NULL
  abort_anvil(kind, message, c(details, where), call = call)
}

abort_anvil <- function(kind, message, details = character(), call = NULL) {
  if (is.null(call)) call <- user_call()
  bullets <- substring(details, 3L)
  names(bullets) <- substr(details, 1L, 1L)
  rlang::abort(
    c(message, bullets),
    class = c(paste0("anvil_error_", kind), "anvil_error"),
    call = call
  )
}

# The call of the user's that led here, or NULL: from the innermost function of the package to its caller, as long as that is
# the package's, too. The neighbour on the stack may be another function, an argument of which is being evaluated.
user_call <- function() {
  i <- outermost_own(sys.nframe() - 1L)
  if (i < 1L) {
    return(NULL)
  }
  call <- sys.call(i)
  # so rbind() and cbind() call their methods
  inside <- i > 1L && length(call) > 1L && identical(call[[2L]], quote(deparse.level))
  if (inside) sys.call(i - 1L) else readable_call(call, sys.frame(i))
}

# Where the user's call stands.
user_environment <- function() {
  i <- outermost_own(sys.nframe() - 1L)
  outer <- if (i > 0L) sys.parents()[i] else 0L
  if (outer > 0L) sys.frame(outer) else globalenv()
}

# The number of the frame that the user has called: the outermost one of the innermost run of frames, up to `i`, that
# belong to the package; 0 if there is none.
outermost_own <- function(i) {
  own <- function(i) identical(topenv(environment(sys.function(i))), topenv())
  parents <- sys.parents()
  # what lapply() and the like call for the package is the package's
  caller <- function(i) {
    outer <- calling_frame(i)
    while (outer > 0L && is_base_helper(sys.function(outer))) outer <- parents[outer]
    outer
  }
  while (i > 0L && !own(i)) i <- i - 1L
  while (i > 0L && (outer <- caller(i)) > 0L && outer < i && own(outer)) i <- outer
  if (i > 0L && parents[i] > 0L && identical(environment(sys.function(parents[i])), mask_home)) i <- parents[i] # the user called the mask
  i
}

# The number of the frame that called frame i. What the core calls, belongs to whoever called the core, and what handles
# an error of R's to whoever made it.
calling_frame <- function(i) {
  by_core <- identical(do.call(parent.frame, list(), envir = sys.frame(i)), topenv())
  if (by_core || identical(sys.function(i), base::.handleSimpleError)) i - 1L else sys.parents()[i]
}

is_base_helper <- function(f) identical(environment(f), .BaseNamespaceEnv) && !identical(f, base::eval)

# A method of a group generic is called by an operator, one of `[<-` by an assignment: show that.
readable_call <- function(call, frame) {
  attr(call, "srcref") <- NULL
  if (is_assignment(call)) {
    return(assignment_call(call))
  }
  generic <- frame[[".Generic"]]
  if (is.character(generic) && length(generic) == 1L) {
    call[[1L]] <- as.name(generic)
    # sum() and others hand on values
    inlined <- vapply(as.list(call), inherits, NA, "AnvilValue")
    call[inlined] <- list(quote(x))
  }
  call
}

is_assignment <- function(call) length(call) > 1L && identical(call[[2L]], quote(`*tmp*`))

assignment_call <- function(call) {
  target <- as.list(call)[-1L]
  target[[1L]] <- quote(x)
  target[names(target) == "value"] <- NULL
  head <- sub("<-.*$", "", as.character(call[[1L]]))
  call("<-", as.call(c(as.name(head), target)), quote(...))
}

# Called by the core: sum(), round() and the like hand on values. The variables of the caller that hold them stand for them.
call_of_generic <- function(call, caller) {
  if (identical(call[["na.rm"]], FALSE)) call[["na.rm"]] <- NULL
  names <- ls(caller, all.names = TRUE, sorted = FALSE)
  names <- names[names != "..."]
  if (length(names) > 1000L) {
    return(call)
  }
  unknown <- rlang::env_binding_are_lazy(caller, names) | rlang::env_binding_are_active(caller, names)
  for (i in seq_along(call)[-1L]) {
    if (!is_value(call[[i]])) next
    for (name in names[!unknown]) {
      if (identical(caller[[name]], call[[i]])) {
        call[[i]] <- as.name(name)
        break
      }
    }
  }
  call
}

# A recorded call as one line of text, with its place where that is known.
location_text <- function(call) {
  place <- call_place(call)
  paste0("`", call_text(call), "`", if (nzchar(place)) paste0(" at ", place))
}

call_text <- function(call) {
  attr(call, "srcref") <- NULL
  if (is_assignment(call)) call <- assignment_call(call)
  text <- deparse(call, width.cutoff = 80L, nlines = 2L)
  if (length(text) > 1L) paste(text[1L], "...") else text
}

call_place <- function(call) {
  place <- attr(call, "srcref")
  file <- basename(attr(place, "srcfile")$filename %||% "")
  if (nzchar(file)) paste0(file, "#", place[1L]) else ""
}

`%||%` <- function(x, y) if (is.null(x)) y else x

described_class <- function(x) {
  if (!is.object(x) && is.numeric(x)) "numeric" else class(x)[1L]
}

check_integer64 <- function() {
  if (!requireNamespace("bit64", quietly = TRUE)) {
    abort_anvil("dtype", "This tensor holds integers beyond 2^53, which need the package bit64.", "i Install bit64, or use `as_raw()` for the bytes.")
  }
}

inform_without_llvm <- function() {
  rlang::inform(
    c("anvil was built without LLVM: jitted functions are evaluated by Eigen.", i = "`anvil_sitrep()` says more."),
    class = "anvil_message_without_llvm",
    .frequency = "once",
    .frequency_id = "anvil_without_llvm"
  )
}

# Called by the core while it traces: one line has made more calls than `most`.
warn_unrolled <- function(call, most) {
  rlang::warn(
    c(sprintf("One line made more than %s calls of a trace: a loop of R's is unrolled.", format(most, big.mark = ",", scientific = FALSE)),
      x = sprintf("It is %s.", location_text(call)),
      i = "`nv_while()`, `nv_scan()` and `nv_map()` make loops that are traced and compiled once.",
      i = "`options(anvil.unrolled_calls = )` says how many calls a line may make; with `Inf` there is no warning."
    ),
    class = c("anvil_warning_unrolled", "anvil_warning"), call = user_call()
  )
}

# R counts the elements of a matrix with a single index, and so do which.max() and order().
warn_rows <- function() {
  rlang::warn(
    c("A tensor that is the only index of a matrix takes rows.",
      i = "`x[i, ]` says so, without this warning.",
      i = "`nv_flatten(x)[i]` takes elements, as R's `x[i]` and what `which.max()` and `order()` give mean it; `dim<-` restores the shape."
    ),
    class = c("anvil_warning_index", "anvil_warning"), call = user_call(), .frequency = "once", .frequency_id = "anvil_rows"
  )
}

# What is wrong with the folder of machine code, see jit(): once for each thing that is.
warn_cache <- function(problem) {
  rlang::warn(
    c("Machine code was not found in, or not added to, the folder of the option `anvil.cache_dir`.", x = problem),
    class = c("anvil_warning_cache", "anvil_warning"), .frequency = "once", .frequency_id = paste("anvil_cache", problem)
  )
}
