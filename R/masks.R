# Functions of R that are not generic, for tensors: where the package is attached, a function of the same name and formals
# stands before R's, sees whether it is meant, and otherwise calls what the session would call without the package, now:
# whatever was attached before or after. They live in the attached environment only, so that the code of packages, this
# one's as well, keeps R's own; packages call the `nv_*` functions that are named in the table (verbs.R).

.onAttach <- function(libname, pkgname) {
  attached <- as.environment(paste0("package:", pkgname))
  assign(".conflicts.OK", TRUE, envir = attached) # what is masked does what it did: library() need not list it
  assign(".attached", attached, envir = mask_home)
  home <- topenv()
  for (name in names(verb_masks)) eval(bquote(delayedAssign(.(name), verb_masks[[.(name)]], home, attached)))
  for (name in names(shared_masks)) assign(name, shared_masks[[name]], envir = attached)
}

# By their names. Each is made when it is first called, from the function of the R that runs.
verb_masks <- new.env()

load_masks <- function() {
  home <- topenv()
  helpers <- c("as_given", "is_qr", "is_value", "refuse_argument", "truth_of_bool")
  for (name in helpers) assign(name, get(name, home), envir = mask_home)
  # their addresses, which take less time to call than what R keeps with them
  for (name in c("C_anvil_behind", "C_anvil_behind_data")) assign(name, get(name, home)$address, envir = mask_home)
  verbs <- tensor_verbs()
  for (name in names(verbs)) eval(bquote(delayedAssign(.(name), mask(.(name), verbs[[.(name)]]), assign.env = verb_masks)))
}

# What masks see: base, as near as R's own functions do, and of the package and of stats what masks that are made put here;
# what is attached is `.attached`, before that nothing that stands before the session.
mask_home <- new.env(parent = .BaseNamespaceEnv)
mask_home$.attached <- new.env(parent = globalenv())

# verb: the function of tensors, or the name of one of the package's, with those of the formals that it takes. at: which arguments may be tensors;
# NULL: any in `...`. is: what a tensor is there. also: when else it is meant. A list of `mask` alone holds the mask itself.
masked <- function(verb, at = names(formals(own_function(verb)))[1L], is = "AnvilValue", also = NULL) {
  list(verb = verb, at = at, is = is, also = also)
}

own_function <- function(f) if (is.name(f)) get(as.character(f), topenv(), mode = "function") else f

mask <- function(name, spec) {
  mask <- spec$mask %||% mask_of_verb(name, spec)
  environment(mask) <- mask_home
  attr(mask, "srcref") <- NULL
  compiler::cmpfun(mask) # R's own compiler leaves most of them as they are
}

mask_of_verb <- function(name, spec) {
  symbol <- as.name(name)
  base <- function_of_r(name)
  formals <- formals(args(base))
  asked <- asked_arguments(base)
  verb <- own_function(spec$verb)
  of_tensors <- if (is.name(spec$verb)) spec$verb else as.name(paste0("tensor_", name))
  assign(as.character(of_tensors), verb, envir = mask_home)
  taken <- intersect(names(formals), names(formals(verb)))
  may_be_missing <- setdiff(optional_arguments(base), names(formals)[1L])
  # R's defaults are for R data; what R may do without, the other function has a default for
  calls <- names(formals)[vapply(formals, is.call, NA)]
  has_default <- setdiff(may_be_missing, required_arguments(verb))
  ours <- mask_calls(of_tensors, taken, intersect(c(asked, calls, has_default), c(taken, NA)))
  behind <- mask_calls(symbol, names(formals), asked)
  by_default <- if (is.null(spec$at)) body_of_default(name, base)
  own <- by_default %||% body_without_others(base)
  unless_own <- if (is.null(by_default)) !is.null(own) else NA
  if (!is.null(own)) for (seen in seen_of_stats(base)) assign(seen, get(seen, asNamespace("stats")), envir = mask_home)
  unknown <- setdiff(names(formals), c(names(formals(verb)), names(formals)[1L], "...", without_meaning))
  refusals <- lapply(unknown, function(x) bquote(if (!missing(.(as.name(x)))) refuse_argument(.(name), .(x))))
  mask <- function() NULL
  formals(mask) <- formals
  ours <- as.call(c(quote(`{`), refusals, ours))
  otherwise <- if (is.null(own)) behind else bquote(if (is.logical(.(symbol))) .(own) else .(behind))
  body(mask) <- if (is.null(spec$at)) {
    found <- bquote(.External2(C_anvil_behind_data, .attached, quote(.(symbol)), .(unless_own), ...))
    # of one argument R's own compiler makes more
    if (!is.na(unless_own)) {
      found <- bquote(if (...length() == 1L && !is.object(..1)) .Call(C_anvil_behind, .attached, quote(.(symbol)), .(unless_own)) else .(found))
    }
    bquote({
      .(symbol) <- .(found)
      if (is.null(.(symbol))) .(ours) else .(otherwise)
    })
  } else {
    condition <- Reduce(function(a, b) bquote(.(a) || .(b)), c(mask_condition(spec$at, spec$is, may_be_missing), spec$also))
    bquote(if (.(condition)) .(ours) else {
      .(symbol) <- .Call(C_anvil_behind, .attached, quote(.(symbol)), .(!is.null(own)))
      .(otherwise)
    })
  }
  mask
}

# The body of R's function, if all that it sees are its arguments, variables of its own, base, and what of stats the masks'
# home has: its mask does what that says, where nothing stands before R's function. Handing on arguments would take longer
# than many of these functions. The call and the caller of the mask are those that R's function would have.
body_without_others <- function(f) {
  if (is.primitive(f)) {
    return(NULL)
  }
  # Seen anywhere: what is named with its package, and what is internal.
  body <- str2lang(gsub("([[:alnum:].]+::|(?<=\\.Internal\\())[[:alnum:]._]+", "identity", body_text(f), perl = TRUE))
  own <- Filter(function(name) !exists(name, environment(f), inherits = FALSE), all.vars(body))
  seen <- setdiff(all.names(body), c(names(formals(f)), own, seen_of_stats(f)))
  of_function <- c("environment", "Recall", "sys.function", "UseMethod")
  of_base <- function(name) exists(name, baseenv(), inherits = FALSE) || exists(paste0(name, "<-"), baseenv(), inherits = FALSE)
  if (!any(seen %in% of_function) && all(vapply(seen, of_base, NA))) body(f)
}

# That of the default method of a primitive, which such a function takes for arguments that are no objects, with the
# defaults of those that it alone has: it hands them on to a method more slowly than these do their work.
body_of_default <- function(name, f) {
  method <- if (is.primitive(f)) get0(paste0(name, ".default"), baseenv(), mode = "function", inherits = FALSE)
  if (is.null(method)) {
    return(NULL)
  }
  further <- formals(method)[setdiff(names(formals(method)), names(formals(args(f))))]
  do.call(substitute, list(body_without_others(method), as.list(further)))
}

# What the body of a function of stats sees of its package: routines, and other functions.
seen_of_stats <- function(f) {
  stats <- asNamespace("stats")
  if (identical(environment(f), stats)) Filter(function(name) exists(name, stats, inherits = FALSE), all.names(body(f), unique = TRUE))
}

# Of base or stats, whatever is attached.
function_of_r <- function(name) get0(name, baseenv(), mode = "function", inherits = FALSE) %||% getExportedValue("stats", name)

# Arguments of R's functions that change no value.
without_meaning <- c("check.margin", "method", "make.dimnames", "names", "LINPACK", "EISPACK", "tol")

refuse_argument <- function(verb, argument) {
  abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", verb, argument))
}

# The call of f with the arguments of the mask. Of those in `asked`, f asks whether they were given, and those that were
# not are not handed on: by branches where they are few, as a match takes several microseconds.
mask_calls <- function(f, names, asked) {
  if (anyNA(asked) || length(asked) > 3L) {
    return(bquote(if (nargs() == 1L) .(as.call(c(f, arguments_of_call(names[1L])))) else as_given(.(f), match.call())))
  }
  if (length(asked) == 0L) {
    return(as.call(c(f, arguments_of_call(names))))
  }
  without <- mask_calls(f, setdiff(names, asked[1L]), asked[-1L])
  bquote(if (missing(.(as.name(asked[1L])))) .(without) else .(mask_calls(f, names, asked[-1L])))
}

# Of the arguments with a default, those of which a function asks whether they were given, or whose default it makes
# inside; NA where it looks at the whole call.
asked_arguments <- function(f) {
  if (is.primitive(f)) {
    return(character())
  }
  text <- body_text(f)
  if (is_generic_text(text)) {
    return(required_arguments(f)[-1L])
  }
  with_default <- setdiff(names(formals(f)), required_arguments(f))
  if (length(with_default) == 0L) {
    return(character())
  }
  if (looks_at_its_call(text)) {
    return(NA_character_)
  }
  made_inside <- function(x) length(setdiff(all.vars(formals(f)[[x]]), names(formals(f)))) > 0L
  Filter(function(x) asks_for(x, text) || made_inside(x), with_default)
}

# Arguments without a default that a call may do without; of a generic function its methods decide.
optional_arguments <- function(f) {
  required <- required_arguments(f)
  text <- body_text(f)
  if (is.primitive(f) || is_generic_text(text) || looks_at_its_call(text)) required else Filter(function(x) asks_for(x, text), required)
}

body_text <- function(f) paste(deparse(body(f)), collapse = "\n")
is_generic_text <- function(text) grepl("^UseMethod\\(", text)
looks_at_its_call <- function(text) grepl("nargs\\(\\)|(match|sys)\\.call\\(", text)
asks_for <- function(argument, text) grepl(sprintf("missing(%s)", argument), text, fixed = TRUE)

# f(x, na.rm = na.rm, ...): positions before `...`, or up to the first argument; then names.
arguments_of_call <- function(names) {
  arguments <- lapply(names, as.name)
  names(arguments) <- ifelse(seq_along(names) == 1L | names == "...", "", names)
  arguments
}

mask_condition <- function(at, is, may_be_missing) {
  if (identical(is, "qr")) may_be_missing <- at[-1L] # R's function looks at its first argument first
  tests <- lapply(at, function(x) {
    test <- if (identical(is, "qr") && x == "qr") bquote(!is.object(.(as.name(x))) && is_qr(.(as.name(x)))) else bquote(is.object(.(as.name(x))) && inherits(.(as.name(x)), .(if (identical(is, "qr")) "AnvilValue" else is)))
    if (x %in% may_be_missing) bquote(!missing(.(as.name(x))) && .(test)) else test
  })
  Reduce(function(a, b) bquote((.(a)) || (.(b))), tests)
}

as_given <- function(f, call) {
  given <- names(as.list(call))[-1L]
  arguments <- lapply(given, as.name)
  names(arguments) <- given
  do.call(f, arguments, envir = parent.frame())
}
