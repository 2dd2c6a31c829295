#' What was compiled for a jitted function
#'
#' Each combination of types and static arguments that a jitted function is called with is compiled once. The
#' report says for each of these versions which argument made it necessary, how long each stage of compiling took,
#' how often the version ran, what memory a run takes, and what the compiled program does.
#'
#' A program is a sequence of nests of loops, calls of the runtime (factorisations, sorts) and contractions (products
#' over packed blocks), each of which may compute many of the R calls that were traced. The numbers of a nest are
#' estimates from the program, for one run of it: an elementary function such as `exp` counts for 14 floating-point
#' operations, and each element of memory that is read or written counts once. The file and line of an R call are known
#' where R keeps them (`options(keep.source = TRUE)`).
#'
#' @param f What [jit()] returned.
#' @return A list of class `anvil_jit_report` of data frames, and `made`, the number of versions compiled so far (the
#'   cache of [jit()] may have dropped some):
#'
#'   * `versions`: `version`, `cause`, `runs`, `seconds` (to compile), and in bytes `arena` (temporaries; what is
#'     recorded of loops of unknown length comes on top), `results`,
#'     `constants` and `code`;
#'   * `arguments`: `version`, `argument`, `type` (of a static argument: its value);
#'   * `stages`: `version`, `stage`, `seconds`. `trace` runs the R function, `transform` works on the graph, `lower` to
#'     `buffers` make the loop program, `emit` makes LLVM IR, `find` looks whether its code is there already (see [jit()]),
#'     `generate` makes machine code, and `link` places that in memory;
#'   * `nests`: `version`, `nest`, `from` (R calls), `what`, `steps` (of its loops, the outermost first), `schedule`
#'     (`vector 16 x 4`: vectors of 16 numbers, 4 at a time), `flops` and `bytes`.
#'
#'   An error of class `anvil_error_argument` if `f` is not a jitted function.
#' @seealso [anvil_profile()] for where the time of a run goes, [nv_inspect()] for the programs themselves.
#' @family compilation
#' @export
#' @examples
#' f <- jit(function(x, y) sum(exp(x) * y) + 1)
#' f(nv_tensor(c(1, 2, 3)), nv_tensor(c(1, 2, 3)))
#' f(nv_tensor(c(1, 2)), nv_tensor(c(1, 2)))
#' jit_report(f)
#' jit_report(f)$versions
jit_report <- function(f) {
  report <- .Call(C_anvil_jit_report, jit_cache(f))
  versions <- lapply(report$versions, version_tables)
  bound <- function(name) do.call(rbind, c(list(empty_tables[[name]]), lapply(versions, `[[`, name)))
  arguments <- bound("arguments")
  summary <- bound("versions")
  summary$cause <- vapply(seq_len(nrow(summary)), function(k) cause_of(k, summary$version, arguments), "")
  structure(
    list(versions = summary, arguments = arguments, stages = bound("stages"), nests = bound("nests"), made = report$made),
    class = "anvil_jit_report"
  )
}

jit_cache <- function(f, name = "f") {
  cache <- if (is.function(f) && !is.primitive(f)) environment(f)$.anvil_cache
  if (!inherits(cache, "AnvilCache")) wrong_argument(name, "a jitted function", f, "i `jit()` makes one.")
  cache
}

# Called by the core when a function was compiled for its tenth combination of shapes.
inform_shapes <- function(cache) {
  tables <- lapply(.Call(C_anvil_jit_report, cache)$versions, function(v) version_tables(v)$arguments)
  types <- split(unlist(lapply(tables, `[[`, "type")), unlist(lapply(tables, `[[`, "argument")))
  types <- Filter(function(x) length(unique(sub("^[^[]*", "", x))) > 1L, lapply(types, unique))
  changing <- sprintf("`%s` was %s.", names(types), vapply(types, shortened, "", most = 3L, between = ", "))
  rlang::inform(
    c(sprintf("`%s`: this function has been compiled for 10 combinations of shapes.", call_text(user_call() %||% quote(f(...)))),
      stats::setNames(changing, rep("x", length(changing))),
      i = "Fewer shapes compile less often: pad to some sizes, and mask what was added (`nv_ifelse()`, `nv_iota()`).",
      i = "A size that only says how often to do something can be a tensor that `nv_while()` counts to.",
      i = "What is no tensor at all belongs into `static`. `jit_report()` shows what was compiled."
    ),
    class = c("anvil_message_shapes", "anvil_message")
  )
}

empty_tables <- list(
  versions = data.frame(
    version = integer(), cause = character(), runs = numeric(), seconds = numeric(), arena = numeric(),
    results = numeric(), constants = numeric(), code = numeric()
  ),
  arguments = data.frame(version = integer(), argument = character(), type = character()),
  stages = data.frame(version = integer(), stage = character(), seconds = numeric()),
  nests = data.frame(
    version = integer(), nest = integer(), from = character(), what = character(), steps = character(),
    schedule = character(), flops = numeric(), bytes = numeric()
  )
)

# The data frames of one version, which the core describes.
version_tables <- function(v) {
  static <- !nzchar(v$types)
  types <- v$types
  types[static] <- vapply(v$values[static], function(x) call_text(x), "")
  of_version <- function(...) {
    table <- data.frame(...)
    cbind(version = rep(v$number, nrow(table)), table)
  }
  list(
    versions = of_version(
      cause = "", runs = v$runs, seconds = sum(v$seconds), arena = v$arena, results = v$results,
      constants = v$constants, code = v$code
    ),
    arguments = of_version(argument = v$arguments, type = types),
    stages = of_version(stage = v$stages, seconds = v$seconds),
    nests = of_version(nest_table(v$nests))
  )
}

# Why version k was compiled: what differs from the one before that differs least.
cause_of <- function(k, numbers, arguments) {
  if (k == 1L) {
    return("the first call")
  }
  of <- function(j) {
    own <- arguments[arguments$version == numbers[j], ]
    stats::setNames(own$type, own$argument)
  }
  now <- of(k)
  differences <- lapply(seq_len(k - 1L), function(j) {
    before <- of(j)
    if (!identical(names(now), names(before))) {
      return(NULL)
    }
    changed <- now != before
    sprintf("`%s` is %s, not %s", names(now)[changed], now[changed], before[changed])
  })
  differences <- Filter(length, differences)
  if (!length(differences)) {
    return("other arguments were given, in another structure, or under other options")
  }
  paste(differences[[which.min(lengths(differences))]], collapse = "; ")
}

# The stages as they are printed: the passes over loops together.
stage_groups <- c(trace = "trace", transform = "graph", load = "loading LLVM", emit = "code", find = "code", generate = "code", link = "link")

#' @export
format.anvil_jit_report <- function(x, ...) {
  versions <- x$versions
  n <- nrow(versions)
  dropped <- x$made - n
  head <- cli::pluralize("{n} version{?s}")
  if (dropped > 0) head <- paste0(head, sprintf(", and %.0f that the cache has dropped", dropped))
  c(head, unlist(lapply(seq_len(n), function(k) c("", format_version(x, versions[k, ])))))
}

format_version <- function(x, v) {
  own <- function(table) table[table$version == v$version, ]
  arguments <- own(x$arguments)
  stages <- own(x$stages)
  groups <- stage_groups[stages$stage]
  groups <- factor(ifelse(is.na(groups), "loops", groups), c("trace", "graph", "loading LLVM", "loops", "code", "link"))
  times <- tapply(stages$seconds, groups, sum, default = 0)
  if (times[["loading LLVM"]] < 1e-3) times <- times[names(times) != "loading LLVM"] # it was loaded before
  size <- function(bytes) format_amount(bytes, c("bytes", "kB", "MB", "GB", "TB", "PB"))
  nests <- own(x$nests)
  c(
    sprintf("Version %d: %s", v$version, paste0(arguments$argument, " = ", arguments$type, collapse = ", ")),
    paste("  cause:         ", v$cause),
    sprintf("  compiled in:    %s (%s)", format_seconds(v$seconds), paste(names(times), vapply(times, format_seconds, ""), collapse = ", ")),
    sprintf("  ran:            %s", if (v$runs == 1) "once" else sprintf("%.0f times", v$runs)),
    sprintf(
      "  takes:          %s at its peak (%s of temporaries, %s of results), %s of code",
      size(v$arena + v$results), size(v$arena), size(v$results), size(v$code)
    ),
    if (nrow(nests)) {
      paste0("  ", nest_lines(list(
        nest = as.character(nests$nest), flops = vapply(nests$flops, format_amount, ""),
        bytes = vapply(nests$bytes, format_amount, ""), what = described_nest(nests)
      ), c("nest", "flops", "bytes"), nests$from))
    }
  )
}

format_seconds <- function(x) {
  if (x >= 1) sprintf("%.2f s", x) else if (x >= 1e-3) sprintf("%.1f ms", 1e3 * x) else if (x >= 1e-6) sprintf("%.1f us", 1e6 * x) else sprintf("%.0f ns", 1e9 * x)
}

#' @export
print.anvil_jit_report <- function(x, ...) {
  cli::cat_line(format(x))
  invisible(x)
}
