# Formulas of indices, evaluated by loops over R's arrays, and random ones.

index_reductions <- c("sum", "prod", "max", "min", "mean", "any", "all")
is_index_reduction <- function(e) is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% index_reductions

# The indices in an expression that are not inside of a reduction in it.
plain_indices <- function(e, indices) {
  if (is.name(e)) {
    return(intersect(as.character(e), indices))
  }
  if (!is.call(e) || is_index_reduction(e)) {
    return(character())
  }
  parts <- as.list(e)[-(1:(1L + identical(e[[1L]], quote(`[`))))]
  unique(unlist(lapply(parts, plain_indices, indices)))
}

# Every element by itself, with loops over all values of all indices.
naive_index <- function(formula, data, size, border = "error") {
  value_at <- function(e, at) {
    if (is.name(e) && as.character(e) %in% names(at)) {
      return(at[[as.character(e)]])
    }
    if (!is.call(e)) {
      return(eval(e, data, environment(formula)))
    }
    if (identical(e[[1L]], quote(`[`))) {
      return(naive_read(data[[as.character(e[[2L]])]], vapply(as.list(e)[-(1:2)], value_at, 1, at), border))
    }
    if (is_index_reduction(e)) {
      parts <- lapply(as.list(e)[-1L], function(part) {
        over <- setdiff(plain_indices(part, names(size)), names(at))
        all_of(size[over], function(more) value_at(part, c(at, more)))
      })
      return(do.call(as.character(e[[1L]]), list(unlist(parts))))
    }
    do.call(eval(e[[1L]], environment(formula)), lapply(as.list(e)[-1L], value_at, at))
  }
  all_of <- function(size, f) {
    points <- expand.grid(lapply(size, seq_len))
    if (!length(size)) f(NULL) else vapply(seq_len(nrow(points)), function(r) as.double(f(as.list(points[r, , drop = FALSE]))), 1)
  }
  left <- vapply(as.list(formula[[2L]])[-(1:2)], as.character, "")
  array(all_of(size[left], function(at) value_at(formula[[3L]], at)), unname(c(size[left], if (!length(left)) 1L)))
}

naive_read <- function(x, at, border) {
  n <- dim(x)
  outside <- at < 1 | at > n
  if (any(outside)) {
    if (border == "zero") {
      return(0)
    }
    if (is.numeric(border)) {
      return(border)
    }
    at <- if (border == "clamp") pmin(pmax(at, 1), n) else (at - 1) %% n + 1
  }
  x[matrix(at, 1L)]
}

# list(formula, data, size, border, inferred): with the sizes of all indices, and those that need not be given.
random_formula <- function(seed) {
  withr::with_seed(seed, {
    all <- c("i", "j", "k", "l", "m")
    size <- stats::setNames(sample.int(4L, length(all), replace = TRUE), all)
    data <- list()
    border <- choose_one(list("error", "error", "error", "zero", -0.5, "clamp", "wrap"))
    number <- function(from, to) from + sample.int(to - from + 1L, 1L) - 1L

    subscript <- function(indices, moves) {
      v <- as.name(choose_one(indices))
      w <- as.name(choose_one(c(setdiff(indices, as.character(v)), as.character(v))))
      a <- number(1L, 3L)
      kinds <- list(
        v, v, v, v, number(1L, 3L), bquote(.(a + 1L) * .(v)), bquote(.(v) + .(a)), bquote(.(a + 4L) - .(v)), bquote(.(a) * .(v) + .(w) - .(a)),
        bquote(.(v) + .(w) - 1), if (v != w) bquote((.(v) - .(w)) * .(a) + 13L), bquote(.(v) + 2 * .(w) - 4 * .(as.name(choose_one(indices))) + 16L)
      )
      choose_one(Filter(Negate(is.null), if (moves) kinds[-5L] else kinds))
    }
    read <- function(indices) {
      subscripts <- lapply(seq_len(number(1L, 3L)), function(d) subscript(indices, d == 1L))
      n <- vapply(subscripts, function(e) {
        points <- expand.grid(lapply(size[intersect(all.vars(e), all)], seq_len))
        last <- if (length(points)) max(eval(e, points)) else e
        if (is.name(e)) last else max(1, last + if (border == "error") number(0L, 1L) else number(-3L, 1L))
      }, 1)
      name <- paste0("x", length(data) + 1L)
      data[[name]] <<- array(stats::runif(prod(n), -1, 1), n)
      as.call(c(quote(`[`), as.name(name), subscripts))
    }
    term <- function(indices, depth) {
      part <- function() term(indices, depth - 1L)
      kinds <- list(
        function() read(indices), function() read(indices), function() bquote(.(read(indices)) * .(read(indices))),
        function() if (stats::runif(1) < 0.3) as.name(choose_one(indices)) else read(indices),
        function() call(choose_one(c("+", "-", "*")), part(), part()), function() call("*", part(), part()),
        function() call(choose_one(c("sin", "tanh", "abs", "cos")), part()), function() bquote(.(part()) / (2 + .(part())^2)),
        function() bquote(ifelse(.(part()) > .(part()), .(part()), 0.25)), function() bquote(own(.(part()), 0.5)),
        function() bquote(max(.(read(indices)), 0.1)), function() reduction(indices, depth), function() reduction(indices, depth)
      )
      choose_one(kinds[if (depth < 1L) 1:4 else seq_along(kinds)])()
    }
    reduction <- function(indices, depth) {
      free <- setdiff(all, indices)
      if (!length(free)) {
        return(read(indices))
      }
      own <- sample(free, min(length(free), number(1L, 2L)))
      body <- if (stats::runif(1) < 0.4) product(c(indices, own)) else term(c(indices, own), depth - 1L)
      if (!length(setdiff(plain_indices(body, all), indices))) body <- call("*", body, read(own))
      call(choose_one(c("sum", "sum", "sum", "max", "min", "mean", "prod")), body)
    }
    product <- function(indices) Reduce(function(a, b) call("*", a, b), lapply(seq_len(number(2L, 4L)), function(k) read(indices)))

    left <- sample(all, number(0L, 3L))
    right <- if (length(left)) term(left, 2L) else reduction(left, 2L)
    right <- if (length(left) && stats::runif(1) < 0.5) call("+", right, read(left)) else right
    used <- union(left, intersect(all, all.vars(right)))
    target <- if (length(left)) as.call(c(quote(`[`), quote(y), lapply(left, as.name))) else quote(y)
    formula <- stats::as.formula(call("~", target, right), index_environment())
    list(formula = formula, data = data, size = size[used], border = border)
  })
}

index_environment <- function() {
  env <- new.env(parent = globalenv())
  env$own <- function(x, shift) x * x + shift
  env$ifelse <- function(test, yes, no) if (is.object(test)) nv_ifelse(test, yes, no) else base::ifelse(test, yes, no)
  env
}
