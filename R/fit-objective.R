#' Objectives for R's optimisers
#'
#' `as_objective()` makes of a function of tensors what R's optimisers want: functions of one numeric vector for the
#' value, the gradient and the Hessian matrix, compiled at their first call. Value and gradient come from one run of the
#' program, which is kept for the same parameters, so that `fn(p)` and then `gr(p)` cost one run.
#'
#' `f` is called as `f(par, ...)`. `par` has the structure of `start`: a vector becomes a tensor of one dimension, and in a list
#' arrays keep their shapes, vectors have one dimension, and single numbers none. Whatever the default dtypes are
#' ([default_dtypes()]), parameters, data and what `f` makes itself are `f64`, unless `dtype` says something else.
#'
#' The names of the numeric vector are those that [unlist()] gives: `beta1`, `beta2` for a vector `beta`,
#' `Sigma[1,2]` for an element of a matrix; what has no name is `par1`, `par2` by its place. [utils::relist()] with the objective as the skeleton puts a vector back.
#'
#' @param f A function of the parameters, and of data. It returns one float, or a vector of what each observation contributes,
#'   which is summed up.
#' @param start Parameters: a numeric vector or array, a float tensor, or a nested list of them.
#' @param ... Further arguments of `f`, made tensors once: vectors (doubles of `dtype`), arrays, time series, tensors, lists of them
#'   and data frames, which become the list of their columns; sparse matrices of package Matrix become sparse tensors ([nv_sparse()]). Single numbers, strings, functions
#'   and `NULL` are passed on as they are.
#' @param dtype The dtype of the computation, `"f64"` or `"f32"`.
#' @return A list of class `anvil_objective`: `par`, the numeric vector of `start`; `fn`, `gr` and `he`, functions of such a
#'   vector, or of a list like `start`, that give a number, a vector and a matrix; and `nlm`, which gives the value with attributes `gradient` and
#'   `hessian`, as [nlm()] wants it.
#'
#'   Errors: of class `anvil_error_argument` where `start` holds something else than finite numbers, and of class
#'   `anvil_error_gradient` where `f` returns no floats.
#' @seealso [nv_minimize()], whose loops are compiled as well.
#' @export
#' @examples
#' x <- c(1.2, 0.4, 2.2, 1.9)
#' nll <- function(par, x) -sum(nv_dnorm(x, par$mu, exp(par$log_sigma), log = TRUE))
#' o <- as_objective(nll, list(mu = 0, log_sigma = 0), x = x)
#' fit <- optim(o$par, o$fn, o$gr, method = "BFGS")
#' utils::relist(fit$par, o)
#' nlminb(o$par, o$fn, o$gr, o$he)$par
#' nlm(o$nlm, o$par)$estimate
as_objective <- function(f, start, ..., dtype = "f64") {
  check_full_names(sys.call(), c("f", "start"))
  objective_of(fitting_problem(f, start, list(...), dtype))
}

objective_of <- function(problem) {
  both <- compiled(problem, function(f, par) value_and_gradient(f)(par))
  second <- compiled(problem, function(f, par) hessian(f)(par)[[1L]][[1L]])
  last <- list()
  at <- function(par) {
    par <- as.double(check_par(par, problem, "par"))
    if (!identical(par, last$par)) {
      found <- both(par)
      last <<- list(par = par, value = as.double(found$value), gradient = named_par(problem, found$grad[[1L]]))
    }
    last
  }
  fn <- function(par) at(par)$value
  gr <- function(par) at(par)$gradient
  he <- function(par) {
    labels <- names(problem$par)
    matrix(as.double(second(par)), length(labels), dimnames = list(labels, labels))
  }
  nlm <- function(par) structure(fn(par), gradient = unname(gr(par)), hessian = unname(he(par)))
  structure(list(par = problem$par, fn = fn, gr = gr, he = he, nlm = nlm, problem = problem), class = "anvil_objective")
}

#' @export
print.anvil_objective <- function(x, ...) {
  n <- length(x$par)
  cli::cat_line(cli::pluralize("<objective of {n} parameter{?s}, "), x$problem$dtype, ">")
  print(x$par, ...)
  invisible(x)
}

#' @importFrom utils relist
#' @export
relist.anvil_objective <- function(flesh, skeleton = attr(flesh, "skeleton")) {
  structured(skeleton$problem, check_par(flesh, skeleton$problem, "flesh"))
}

# --- problems: a function of one vector of parameters -----------------------------------------

# What is known of a function to fit: the structure and names of its parameters, and its data. `programs` keeps what
# was compiled for it.
fitting_problem <- function(f, start, data, dtype) {
  if (!is.function(f)) wrong_argument("f", "a function", f, if (is.function(start)) "i The function comes first, then `start`.")
  check_taken(f, data, "There is an argument", "`f` does not take")
  dtype <- as.character(as_dtype_argument(dtype, "dtype"))
  if (!(dtype %in% c("f32", "f64"))) wrong_argument("dtype", "\"f32\" or \"f64\"", dtype)
  leaves <- lapply(flatten(start), parameter_leaf)
  if (length(leaves) == 0L) wrong_argument("start", "a numeric vector, a float tensor, or a nested list of them", start)
  layout <- parameter_layout(start, leaves)
  c(layout, list(
    f = f, dtype = dtype, leaves = leaves, data = data_of(data, dtype),
    par = stats::setNames(as.double(unlist(leaves)), parameter_names(unflatten(layout$tree, leaves))),
    programs = new.env(parent = emptyenv())
  ))
}

# As unlist() names them, elements of arrays by their indices.
parameter_names <- function(start) {
  by_index <- function(x) {
    if (is.null(dim(x))) {
      return(x)
    }
    places <- arrayInd(seq_along(x), dim(x))
    stats::setNames(as.vector(x), sprintf("[%s]", apply(places, 1L, paste, collapse = ",")))
  }
  flat <- unlist(map_tree(by_index, if (is.list(start)) start else list(par = start)))
  labels <- names(flat) %||% rep("", length(flat))
  if (!is.list(start) && !is.null(names(start))) labels <- names(start)
  labels <- sub("^[[]", "par[", sub(".[", "[", labels, fixed = TRUE))
  blank <- is.na(labels) | !nzchar(labels)
  make.unique(replace(labels, blank, paste0("par", which(blank))))
}

total_of <- function(x) {
  if (!is_value(x) || !is_float_dtype(dtype(x))) {
    got <- if (is_value(x)) type_text(x) else describe_value(x)
    abort_anvil("gradient", "`f` must return a float, or a float for each observation.", c(sprintf("x Got %s.", got), hint_of_constant(x)))
  }
  if (ndims(x) == 0L) x else nv_reduce_sum(x)
}
# What is misspelled in a list is NULL, of which a sum is 0.
hint_of_constant <- function(x) {
  if (is.numeric(x) && !is_value(x)) {
    "i A number of R's does not depend on the parameters: do they and the data have the names that `f` asks for?"
  }
}

total_of_squares <- function(x) total_of(x * x)

# `compute(f, par, ...)` compiled, where `f` is the problem's function of one vector, which it gets as a tensor; `...`
# are further tensors, or nested lists of them. `total`: what makes one number of the results, or identity.
compiled <- function(problem, compute, total = total_of) {
  run <- jit(function(par, tensors, more) {
    local_default_dtypes(float = problem$dtype)
    given <- data_with(problem$data, tensors)
    f <- function(par) total(do.call(problem$f, c(list(structured_tensors(problem, par)), given), quote = TRUE))
    do.call(compute, c(list(f, par), more), quote = TRUE)
  })
  function(par, ...) run(par_tensor(problem, par), problem$data$tensors, list(...))
}

# What was compiled for a problem stays with it. make: what to compile where it is not there yet.
program_of <- function(problem, key, make) {
  programs <- problem$programs
  if (is.null(programs[[key]])) programs[[key]] <- make
  programs[[key]]
}

par_tensor <- function(problem, par) nv_tensor(as.double(check_par(par, problem, "par")), problem$dtype)

check_par <- function(par, problem, name) {
  if (is_container(par)) {
    return(for_each_parameter(problem, par, name))
  }
  if (is.object(par) || !is.numeric(par) || length(par) != length(problem$par)) {
    wrong_argument(name, cli::pluralize("a numeric vector with {length(problem$par)} element{?s}"), par)
  }
  by_name <- match(names(problem$par), names(par))
  if (anyNA(by_name)) par else par[by_name]
}

named_par <- function(problem, x) stats::setNames(as.double(x), names(problem$par))

# The vector in the structure of the parameters, R's arrays with the attributes that they had.
structured <- function(problem, par) {
  part <- function(end, leaf) replace(leaf, seq_along(leaf), as.double(par)[end - length(leaf) + seq_along(leaf)])
  unflatten(problem$tree, unname(Map(part, problem$ends, problem$leaves)))
}
