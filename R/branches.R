# What a branch of nv_if() and nv_case() may not do in a trace, where all branches run, whatever the condition is: leave the
# function around it, and give variables of it values that later code reads.

# The graphs of branches; `value(k)` is the value of one, as `code[[k]]` in `frame` says, `names[k]` what it is called. Each begins with
# the variables that there were before, and what it assigns is gone afterwards.
trace_branches <- function(value, code, names, frame, call) {
  assigned <- lapply(code, assigned_names)
  before <- lapply(stats::setNames(nm = unique(unlist(assigned))), known_value, frame)
  withheld <- character()
  graphs <- lapply(seq_along(code), function(k) {
    graph <- trace_graph(function() stay_inside(value(k), call), list(), mode = "state", what = names[k])
    for (name in assigned[[k]]) {
      now <- known_value(name, frame)
      # a tensor knows by itself when it is used too late
      if (is.null(now) || is_value(now[[1L]]) || identical(now, before[[name]])) next
      withheld[name] <<- names[k]
      if (is.null(before[[name]])) rm(list = name, envir = frame) else assign(name, before[[name]][[1L]], envir = frame)
    }
    graph
  })
  for (name in names(withheld)) withhold(name, withheld[[name]], frame)
  graphs
}

# `return()` and kin in the code of a branch would leave the trace, too.
stay_inside <- function(branch, call) {
  left <- TRUE
  failed <- FALSE
  fails <- function(e) failed <<- TRUE
  on.exit(if (left && !failed) {
    abort_anvil("trace", "A branch must not leave the function that it stands in, as `return()`, `break` and `next` do.", c(
      "x A trace takes all branches, whatever the condition is.",
      "i Let the branch give a value, and go on with that; `nv_while()` repeats what may end early."
    ), call)
  })
  value <- withCallingHandlers(branch, error = fails, interrupt = fails)
  left <- FALSE
  value
}

# The names that code gives values to where it stands, not in functions.
assigned_names <- function(code) {
  if (!is.call(code) || identical(code[[1L]], quote(`function`))) {
    return(character())
  }
  parts <- as.list(code)
  to <- if (is.name(code[[1L]]) && as.character(code[[1L]]) %in% c("<-", "=") && length(parts) == 3L) parts[[2L]]
  while (is.call(to) && length(to) > 1L) to <- to[[2L]] # x[i] <- value
  inside <- unlist(lapply(parts, function(part) if (!missing(part)) assigned_names(part)))
  unique(c(if (is.name(to) || is.character(to)) as.character(to), inside))
}

# In a list; NULL where a variable has none, as an argument that was not given, or one that nobody may read.
known_value <- function(name, frame) {
  if (!exists(name, frame, inherits = FALSE)) {
    return(NULL)
  }
  code <- list(eval(call("substitute", as.name(name), frame)))
  withheld <- is.call(code[[1L]]) && identical(code[[1L]][[1L]], quote(assigned_in_branch))
  if (!withheld) tryCatch(list(get(name, frame, inherits = FALSE)), error = function(e) NULL)
}

withhold <- function(name, branch, frame) {
  eval(bquote(delayedAssign(.(name), assigned_in_branch(.(name), .(branch)), topenv(), frame)))
}

assigned_in_branch <- function(name, branch) {
  abort_anvil("trace", sprintf("`%s` was assigned in %s of `nv_if()` or `nv_case()`, which a trace takes whatever the condition is.", name, branch), c(
    "i Let the branches give the value, as in `y <- nv_if(pred, 1, 2)`, or a list of several."
  ), sys.call(-1L))
}
