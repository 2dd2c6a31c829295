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
#' `Sigma[1,2]` for an element of a matrix. [utils::relist()] with the objective as the skeleton puts a vector back.
#'
#' @param f A function of the parameters, and of data. It returns one float, or a vector of what each observation contributes,
#'   which is summed up.
#' @param start Parameters: a numeric vector or array, a float tensor, or a nested list of them.
#' @param ... Further arguments of `f`, made tensors once: vectors (doubles of `dtype`), arrays, tensors, lists of them and
#'   data frames. Single numbers, strings, functions and `NULL` are passed on as they are.
#' @param dtype The dtype of the computation, `"f64"` or `"f32"`.
#' @return A list of class `anvil_objective`: `par`, the numeric vector of `start`; `fn`, `gr` and `he`, functions of such a
#'   vector that give a number, a vector and a matrix; and `nlm`, which gives the value with attributes `gradient` and
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
    par <- as.double(par)
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
  check_function(f)
  dtype <- as.character(as_dtype_argument(dtype, "dtype"))
  if (!(dtype %in% c("f32", "f64"))) wrong_argument("dtype", "\"f32\" or \"f64\"", dtype)
  leaves <- lapply(flatten(start), parameter_leaf)
  if (length(leaves) == 0L) wrong_argument("start", "a numeric vector, a float tensor, or a nested list of them", start)
  tree <- build_tree(start)
  in_list <- !inherits(tree, "LeafNode")
  shapes <- lapply(leaves, function(x) dim(x) %||% if (length(x) != 1L || !in_list) length(x) else integer())
  data <- data_of(data, dtype)
  list(
    f = f, dtype = dtype, tree = tree, leaves = leaves, shapes = shapes, ends = cumsum(lengths(leaves)),
    par = stats::setNames(as.double(unlist(leaves)), parameter_names(unflatten(tree, leaves))), data = data,
    programs = new.env(parent = emptyenv())
  )
}

# A tensor among the parameters as an R array, anything that is no parameters as an error.
parameter_leaf <- function(x) {
  if (is_tensor(x) && is_float_dtype(dtype(x))) x <- as_array(x)
  if (is.object(x) || !is.numeric(x) || length(x) == 0L || !all(is.finite(x))) {
    wrong_argument("start", "a vector of finite numbers, a float tensor, or a nested list of them", x)
  }
  x
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
  labels <- names(unlist(map_tree(by_index, if (is.list(start)) start else list(par = start))))
  if (!is.list(start) && !is.null(names(start))) labels <- names(start)
  labels <- sub(".[", "[", labels, fixed = TRUE)
  blank <- is.na(labels) | !nzchar(labels)
  make.unique(replace(labels, blank, paste0("par", which(blank))))
}

# Further arguments: the tensors among their leaves, and how to put them back.
data_of <- function(data, dtype) {
  leaves <- unlist(Map(data_leaves, data, names(data) %||% rep("", length(data)), dtype), recursive = FALSE, use.names = FALSE)
  is_data <- vapply(leaves, is_tensor, NA)
  list(tree = build_tree(data), leaves = replace(leaves, is_data, list(NULL)), is_data = is_data, tensors = leaves[is_data])
}

data_leaves <- function(x, name, dtype) {
  leaves <- tryCatch(lapply(flatten(x), data_leaf, dtype), anvil_error_argument = identity)
  if (inherits(leaves, "condition")) {
    what <- if (nzchar(name)) sprintf("`%s`", name) else "What has no name"
    abort_anvil("argument", paste(what, "is handed on to the function, and neither data nor a number."), got_value(x))
  }
  leaves
}

data_leaf <- function(x, dtype) {
  if (is_tensor(x) || is.function(x) || is.character(x)) {
    x
  } else if (is.object(x) || (is.atomic(x) && (length(x) != 1L || !is.null(dim(x))))) {
    nv_tensor(x, if (is.double(x) && !is.object(x)) dtype)
  } else {
    x
  }
}

data_with <- function(data, tensors) unflatten(data$tree, replace(data$leaves, data$is_data, tensors))

total_of <- function(x) {
  if (!is_value(x) || !is_float_dtype(dtype(x))) {
    got <- if (is_value(x)) type_text(x) else describe_value(x)
    abort_anvil("gradient", "`f` must return a float, or a float for each observation.", sprintf("x Got %s.", got))
  }
  if (ndims(x) == 0L) x else nv_reduce_sum(x)
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

par_tensor <- function(problem, par) nv_tensor(as.double(check_par(par, problem, "par")), problem$dtype)

check_par <- function(par, problem, name) {
  if (is.object(par) || !is.numeric(par) || length(par) != length(problem$par)) {
    wrong_argument(name, cli::pluralize("a numeric vector with {length(problem$par)} element{?s}"), par)
  }
  par
}

named_par <- function(problem, x) stats::setNames(as.double(x), names(problem$par))

# The vector in the structure of the parameters: tensors in a trace, R's arrays with the attributes that they had.
structured_tensors <- function(problem, par) {
  if (inherits(problem$tree, "LeafNode") && length(problem$shapes[[1L]]) == 1L) {
    return(par)
  }
  sizes <- lengths(problem$leaves)
  part <- function(end, size, shape) nv_reshape(nv_static_slice(par, end - size + 1L, end), shape)
  unflatten(problem$tree, unname(Map(part, problem$ends, sizes, problem$shapes)))
}
structured <- function(problem, par) {
  part <- function(end, leaf) replace(leaf, seq_along(leaf), as.double(par)[end - length(leaf) + seq_along(leaf)])
  unflatten(problem$tree, unname(Map(part, problem$ends, problem$leaves)))
}
