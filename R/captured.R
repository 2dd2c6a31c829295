# What a function reads from around it: the variables of its environment, and of those of the functions that it
# calls, as far as these are the user's and not a package's. Found in the code, so a variable counts though
# its branch was not taken; what is read from environments by other means than its name is not found.

# Names that code reads before it assigns them, apart from those that it calls: list(variables, functions).
free_names <- function(f) {
  found <- list(variables = character(), functions = character())
  note <- function(kind, name, bound) if (!(name %in% bound)) found[[kind]] <<- union(found[[kind]], name)
  # gives what is bound afterwards
  walk <- function(x, bound) {
    if (is.name(x) && nzchar(as.character(x))) note("variables", as.character(x), bound)
    if (!is.call(x)) {
      return(bound)
    }
    head <- if (is.name(x[[1L]])) as.character(x[[1L]]) else ""
    switch(head,
      quote = , `~` = , `::` = , `:::` = bound,
      `function` = walk_function(x[[2L]], x[[3L]], bound),
      `$` = , `@` = walk(x[[2L]], bound),
      `<-` = , `=` = walk_assignment(x[[2L]], walk(x[[3L]], bound)),
      `<<-` = walk(x[[3L]], bound),
      `for` = walk(x[[4L]], c(walk(x[[3L]], bound), as.character(x[[2L]]))),
      {
        if (nzchar(head)) note("functions", head, bound) else bound <- walk(x[[1L]], bound)
        walk_all(as.list(x)[-1L], bound)
      }
    )
  }
  walk_assignment <- function(target, bound) {
    if (is.call(target)) bound <- walk(target, bound)
    while (is.call(target)) target <- target[[2L]]
    c(bound, as.character(target))
  }
  walk_function <- function(formals, body, bound) {
    inside <- c(bound, names(formals))
    walk_all(as.list(formals), inside)
    walk(body, inside)
    bound
  }
  walk_all <- function(parts, bound) {
    for (k in seq_along(parts)) if (!identical(parts[[k]], quote(expr = ))) bound <- walk(parts[[k]], bound)
    bound
  }
  walk_function(formals(f), body(f), character())
  found
}

is_package_frame <- function(env) {
  isNamespace(env) || identical(env, emptyenv()) || identical(env, baseenv()) || isTRUE(startsWith(attr(env, "name") %||% "", "package:"))
}

# The environment that has a variable, or NULL where none of the user's has it, or nobody has asked for its value yet.
frame_with <- function(name, env) {
  while (!is_package_frame(env)) {
    if (exists(name, envir = env, inherits = FALSE)) {
      return(if (!rlang::env_binding_are_lazy(env, name) && !rlang::env_binding_are_active(env, name)) env)
    }
    if (identical(env, globalenv())) break
    env <- parent.env(env)
  }
  NULL
}

# list(names, frames, values) of the variables that `f` reads. What has no value of its own, such as an environment, is
# left out, and so is what functions of this package keep for themselves.
captured_values <- function(f) {
  found <- list(names = character(), frames = list(), values = list())
  seen <- list()
  is_own <- function(frame) !is_package_frame(frame) && identical(parent.env(frame), topenv())
  has_value <- function(x) !is.environment(x) && (typeof(x) != "externalptr" || is_tensor(x))
  visit_all <- function(x) {
    if (is.function(x)) visit(x) else if (is.list(x) && !is.data.frame(x)) for (part in unclass(x)) visit_all(part)
  }
  visit <- function(f) {
    env <- environment(f)
    if (is.primitive(f) || is_package_frame(env) || any(vapply(seen, identical, NA, f))) {
      return()
    }
    seen <<- c(seen, list(f))
    if (is_own(env)) {
      return(visit_all(env$.anvil_spec %||% env$spec %||% env$rules))
    }
    read <- free_names(f)
    for (kind in names(read)) {
      for (name in read[[kind]]) {
        frame <- frame_with(name, env)
        value <- if (!is.null(frame)) get(name, envir = frame, inherits = FALSE)
        if (is.null(frame) || kind == "functions" && !is.function(value)) next
        known <- any(found$names == name & vapply(found$frames, identical, NA, frame))
        if (!known && has_value(value)) found <<- Map(c, found, list(name, list(frame), list(value)))
        visit_all(value)
      }
    }
  }
  visit(f)
  found
}

# The same, where the option wants it noted and there is something.
noted_values <- function(f) {
  found <- if (option_is_on("anvil.check_captured")) captured_values(f)
  if (length(found$names)) found
}

# Which of them are not what they were: list(at, now), with NULL in `now` for what is gone.
changed_values <- function(captured) {
  now <- Map(get0, captured$names, captured$frames, MoreArgs = list(inherits = FALSE))
  same <- vapply(seq_along(now), function(k) identical(now[[k]], captured$values[[k]], ignore.bytecode = TRUE, ignore.srcref = TRUE), NA)
  list(at = which(!same), now = now)
}

# Called by the core at a hit of the cache, where the option was set when the program was traced.
check_captured <- function(captured) {
  changed <- if (option_is_on("anvil.check_captured")) changed_values(captured)
  if (!length(changed$at)) {
    return(NULL)
  }
  said <- vapply(changed$at, function(k) {
    sprintf("`%s` was %s, and is %s now.", captured$names[k], described_capture(captured$values[[k]]), described_change(captured$values[[k]], changed$now[[k]]))
  }, "")
  rlang::warn(
    c("What a compiled function read while it was traced has changed since: it goes on with what it read.",
      stats::setNames(said, rep("x", length(said))),
      i = "Make it an argument, or make the function again by `jit()`."
    ),
    class = c("anvil_warning_captured", "anvil_warning"), call = user_call()
  )
  NULL
}

described_capture <- function(x) {
  if (is_value(x)) type_text(x) else if (is.function(x)) "a function" else describe_value(x)
}

described_change <- function(was, now) {
  text <- described_capture(now)
  if (text == described_capture(was)) paste("another", sub("^a ", "", text)) else text
}
