masks <- function() mget(names(tensor_verbs()), envir = as.environment("package:anvil"))

test_that("masks have R's formals, and each is in the table", {
  for (name in names(masks())) {
    own <- get(name, mode = "function", envir = parent.env(asNamespace("anvil")))
    expect_identical(formals(masks()[[name]]), formals(args(own)), label = name)
  }
  table <- verb_rows()
  expect_identical(setdiff(names(masks()), table$verb), character())
  expect_identical(setdiff(table$verb[table$how == "mask"], names(masks())), character())
  linked <- setdiff(table$instead, c("", "nv_logic", "nv_math"))
  expect_identical(setdiff(linked, getNamespaceExports("anvil")), character())
})

test_that("methods in the table are there", {
  table <- verb_rows()
  methods <- sub("[.]AnvilValue$", "", grep("[.]AnvilValue$", ls(asNamespace("anvil"), all.names = TRUE), value = TRUE))
  groups <- c(getGroupMembers("Ops"), getGroupMembers("Math"), getGroupMembers("Summary"), "%/%", "%%", "!", "Arith", "Compare")
  operators <- c("+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&", "|")
  by_others <- c("det", "nrow", "ncol", "identical", "%*%", "crossprod", "tcrossprod", "[", "[<-", "print", "sd", "round")
  expect_identical(setdiff(table$verb[table$how == "method"], c(methods, groups, operators, by_others)), character())
})

test_that("without a tensor R's functions are called as they would be", {
  expect_identical(in_session(quote(svd(m, nu = 0)), list(m = diag(2))), base::svd(diag(2), nu = 0))
  expect_identical(in_session(quote(diag(2, nrow = 3)), list()), base::diag(2, nrow = 3))
  expect_identical(in_session(quote(diag(m, names = FALSE)), list(m = diag(2))), c(1, 1))
  expect_identical(in_session(quote(c(a = 1, b = "x")), list()), base::c(a = 1, b = "x"))
  expect_identical(in_session(quote(max(c(1, NA), 3, na.rm = TRUE)), list()), 3)
  expect_identical(in_session(quote(order(c(2, 1), method = "radix")), list()), 2:1)
  expect_identical(in_session(quote(range(c(NA, 3, 1), 2, na.rm = TRUE)), list()), c(1, 3))
  expect_identical(in_session(quote(range(a = c(3, Inf), 1, finite = TRUE)), list()), c(1, 3))
  expect_identical(in_session(quote(range(list(2, 1L))), list()), base::range(list(2, 1L)))
  expect_identical(in_session(quote(range(x)), list(x = as.Date(c("2020-02-01", "2020-01-01")))), as.Date(c("2020-01-01", "2020-02-01")))
  expect_identical(suppressWarnings(in_session(quote(range(finite = TRUE)), list())), c(Inf, -Inf))
  expect_identical(in_session(quote(tabulate(c(1L, 3L))), list()), c(1L, 0L, 1L))
  expect_identical(in_session(quote(cor(1:4, c(1, 3, 2, 4), method = "kendall")), list()), stats::cor(1:4, c(1, 3, 2, 4), method = "kendall"))
  expect_identical(in_session(quote(var(c(1, NA, 3), na.rm = TRUE)), list()), 2)
  expect_identical(in_session(quote(qr.X(qr(m))), list(m = diag(2))), base::qr.X(base::qr(diag(2))))
  expect_identical(in_session(quote({ diag(m) <- 5; m }), list(m = diag(2))), diag(5, 2))
  expect_identical(in_session(quote(ifelse(c(TRUE, FALSE), 1, 2)), list()), c(1, 2))
  expect_identical(conditionCall(tryCatch(in_session(quote(rowSums("a")), list()), error = identity))[[1]], quote(rowSums))
})

test_that("what stands behind an attached package is found, in whatever order", {
  found <- in_child(c(
    "attach(list(rowSums = function(x, ...) 'before'), name = 'before', pos = match('package:anvil', search()) + 1L)",
    "first <- rowSums(matrix(1))",
    "x <- rowSums(nv_tensor(matrix(1:4, 2)))",
    "attach(list(rowSums = function(x, ...) 'after'), name = 'after')",
    "second <- rowSums(matrix(1))",
    "detach('before'); detach('after')",
    "list(first, as.vector(as_array(x)), second, rowSums(matrix(1)))"
  ))
  expect_identical(found, list("before", c(4L, 6L), "after", 1))
})

test_that("packages that share generic functions, as Matrix does, may be attached before and after", {
  skip_if_not_installed("Matrix")
  code <- c(
    "x <- nv_tensor(matrix(1:4, 2))",
    "M <- Matrix::Matrix(diag(2))",
    "list(as.vector(as_array(rowSums(x))), as.vector(as_array(diag(x))), dim(kronecker(x, x)), dim(kronecker(matrix(1, 2, 2), x)), unname(rowSums(M)), diag(M), class(kronecker(M, M))[1] != 'matrix')"
  )
  expected <- list(c(4L, 6L), c(1L, 4L), c(4L, 4L), c(4L, 4L), c(1, 1), c(1, 1), TRUE)
  expect_identical(in_child(c("suppressMessages(library(Matrix))", code)), expected)
  expect_identical(in_child(c("library(methods); detach('package:anvil'); suppressMessages(library(Matrix)); suppressMessages(library(anvil))", code)), expected)
})

test_that("an R profile, which runs before R attaches stats, may attach anvil", {
  profile <- tempfile("profile")
  code <- sprintf(".libPaths(c(%s, .libPaths()))", deparse(dirname(find.package("anvil"))))
  writeLines(c(code, "suppressMessages(library(anvil))"), profile)
  call <- shQuote('cat(class(cor(nv_tensor(1:3), nv_tensor(3:1)))[2], class(median(nv_tensor(1:3)))[2])')
  said <- system2(file.path(R.home("bin"), "Rscript"), c("-e", call), env = paste0("R_PROFILE_USER=", profile), stdout = TRUE)
  expect_identical(utils::tail(said, 1L), "AnvilValue AnvilValue")
})

test_that("R's verbs take stacks of matrices", {
  x <- array(sin((1:45)^2), c(5, 3, 3))
  f64 <- function(x) nv_tensor(x, "f64")
  upper <- nv_chol(nv_crossprod(f64(x)), lower = FALSE)
  verbs <- masks()
  found <- lapply(verbs$eigen(nv_crossprod(f64(x)), symmetric = TRUE), as_array)
  parts <- lapply(verbs$svd(f64(x), nv = 2), as_array)
  inverse <- as_array(verbs$chol2inv(upper))
  solved <- as_array(verbs$backsolve(upper, f64(x), transpose = TRUE))
  first <- as_array(verbs$backsolve(upper, f64(x), k = 2))
  for (k in 1:5) {
    square <- crossprod(x[k, , ])
    expect_equal(found$values[k, ], eigen(square)$values)
    expect_equal(found$vectors[k, , ] %*% (found$values[k, ] * t(found$vectors[k, , ])), square)
    expect_equal(abs(parts$v[k, , ]), abs(svd(x[k, , ])$v[, 1:2]))
    expect_equal(inverse[k, , ], chol2inv(chol(square)))
    expect_equal(solved[k, , ], backsolve(chol(square), x[k, , ], transpose = TRUE))
    expect_equal(first[k, , ], backsolve(chol(square), x[k, , ], k = 2))
  }
  expect_snapshot(error = TRUE, {
    in_session(quote(chol2inv(x)), list(x = f64(1:2)))
    in_session(quote(chol2inv(x, size = 5)), list(x = f64(diag(2))))
    in_session(quote(backsolve(x, 1:2, k = 9)), list(x = f64(diag(2))))
  })
})

test_that("what only Matrix makes generic functions of knows tensors, whichever was loaded first", {
  skip_if_not_installed("Matrix")
  code <- c(
    "x <- nv_tensor(diag(c(2, 4)), 'f64')",
    "failure <- tryCatch(which(x > 1), anvil_error_argument = conditionMessage)",
    "list(as_array(norm(x, 'F')), as_array(norm(x)), as_array(chol2inv(x)), dim(drop(nv_tensor(matrix(1:3)))), grepl('not defined for tensors', failure),",
    "  norm(Matrix::Matrix(diag(2))), which(c(FALSE, TRUE)), drop(matrix(1:3)), environmentName(environment(get('norm'))) != 'anvil')"
  )
  expected <- list(sqrt(20), 4, diag(c(1 / 4, 1 / 16)), 3L, TRUE, 1, 2L, 1:3, TRUE)
  expect_equal(in_child(c("suppressMessages(library(Matrix))", code)), expected)
  expect_equal(in_child(c("detach('package:anvil'); unloadNamespace('anvil'); suppressMessages(library(Matrix)); suppressMessages(library(anvil))", code)), expected)
})

test_that("factors of tensors are known by Matrix's generic functions, R's and Matrix's own stay theirs", {
  skip_if_not_installed("Matrix")
  code <- c(
    "X <- matrix(c(2, 1, 0, 1, 3, 1), 3); y <- c(1, 2, 4); A <- crossprod(X)",
    "x <- nv_tensor(X, 'f64'); v <- nv_tensor(y, 'f64'); a <- nv_tensor(A, 'f64'); M <- Matrix::Matrix(A)",
    "q <- qr(x); r <- qr(X); s <- qr(Matrix::Matrix(X, sparse = TRUE))",
    "near <- function(found, wanted) inherits(found, 'AnvilValue') && isTRUE(all.equal(c(as_array(found)), c(wanted)))",
    "c(near(qr.coef(q, v), qr.coef(r, y)), near(qr.coef(r, v), qr.coef(r, y)), near(qr.coef(q, y), qr.coef(r, y)), near(qr.fitted(q, v), qr.fitted(r, y)),",
    "  near(qr.resid(q, v), qr.resid(r, y)), near(qr.Q(q) %*% qr.R(q), X), near(qr.X(q), X), near(qr.qy(q, qr.qty(q, v)), y),",
    "  near(solve(A, v[1:2]), solve(A, y[1:2])), near(solve(M, v[1:2]), solve(A, y[1:2])), near(solve(a, M), diag(2)), near(toeplitz(v), toeplitz(y)),",
    "  near(kronecker(M, a), kronecker(A, A)), isTRUE(all.equal(as.vector(qr.coef(s, y)), qr.coef(r, y))), isTRUE(all.equal(qr.resid(r, y), base::qr.resid(r, y))),",
    "  identical(tryCatch(qr.Q(list(1)), error = conditionMessage), 'argument is not a QR decomposition'))"
  )
  expected <- rep(TRUE, 16)
  expect_identical(in_child(c("suppressMessages(library(Matrix))", code)), expected)
  expect_identical(in_child(c("detach('package:anvil'); unloadNamespace('anvil'); suppressMessages(library(Matrix)); suppressMessages(library(anvil))", code)), expected)
})

test_that("densities and kin take tensors in any of their places", {
  x <- c(0.2, 0.5, 0.7)
  as_in_r <- function(code) expect_identical(differences_from_r(code, list(x = x)), character())
  as_in_r(quote(dnorm(x, 1, 2, log = TRUE)))
  as_in_r(quote(dnorm(1, x)))
  as_in_r(quote(pgamma(2, x, scale = 3, lower.tail = FALSE)))
  as_in_r(quote(dgamma(x, 2)))
  as_in_r(quote(qbeta(x, 2, 3)))
  as_in_r(quote(dnbinom(2, size = 3, mu = x)))
  as_in_r(quote(dnbinom(2, 3, x)))
  as_in_r(quote(plogis(x)))
  expect_identical(in_session(quote(dnbinom(2, 3, 0.1)), list()), stats::dnbinom(2, 3, 0.1))
  expect_identical(in_session(quote(dgamma(2, 3)), list()), stats::dgamma(2, 3))
  expect_identical(conditionMessage(tryCatch(in_session(quote(dnorm()), list()), error = identity)), 'argument "x" is missing, with no default')
  tensor <- list(v = nv_tensor(x))
  expect_error(in_session(quote(dt(v, 3, ncp = 1)), tensor), "no argument `ncp`", class = "anvil_error_argument")
  expect_error(in_session(quote(rnorm(3, mean = v)), tensor), "nv_rnorm", class = "anvil_error")
  expect_error(in_session(quote(choose(5, v)), tensor), "nv_lgamma", class = "anvil_error")
  expect_error(in_session(quote(beta(v, v)), tensor), "not defined", class = "anvil_error")
})

test_that("library() does not list what still does what it did", {
  expect_identical(in_child("length(capture.output(type = 'message', { detach('package:anvil'); library(anvil) }))"), 0L)
})

test_that("what R's functions say and do is the same where masks hold their bodies", {
  held <- Filter(function(name) !is.null(body_without_others(function_of_r(name))), names(tensor_verbs()))
  expect_true(all(c("pnorm", "dgamma", "qbeta", "dhyper", "%in%", "rowSums", "order", "ifelse", "choose", "pmin") %in% held))
  expect_true(all(c("sd", "rt", "cov", "diag", "convolve") %in% held)) # which see others of stats, or ask for their call
  expect_false("max" %in% held) # a primitive
  for (name in setdiff(held, "diag<-")) { # which is never called without a value
    arguments <- rep(list(0.5), length(required_arguments(function_of_r(name))))
    for (given in list(arguments, arguments[-1L], lapply(arguments, function(x) "a"))) {
      said <- lapply(list(masks()[[name]], function_of_r(name)), function(f) {
        set.seed(1)
        tryCatch(do.call(f, given), error = conditionMessage, warning = conditionMessage)
      })
      expect_identical(said[[1L]], said[[2L]], label = name)
    }
  }
  expect_error(dgamma(1, 1, rate = 1, scale = 2), "not both")
  expect_identical(dgamma(1, 1, scale = 2), stats::dgamma(1, 1, scale = 2))
  expect_identical(conditionCall(tryCatch(in_session(quote(pnorm("a")), list()), error = identity)), quote(pnorm("a")))
})

test_that("functions that are attached before stand before the bodies that masks hold", {
  found <- in_child(c(
    "attach(list(pnorm = function(...) 'before'), name = 'before', pos = match('package:anvil', search()) + 1L)",
    "first <- pnorm(0)",
    "detach('before')",
    "list(first, pnorm(0), class(pnorm(nv_tensor(0)))[1] == class(nv_tensor(0))[1])"
  ))
  expect_identical(found, list("before", 0.5, TRUE))
})

test_that("a mask is made when it is first called", {
  found <- in_child(c(
    "home <- environment(pnorm)",
    "before <- exists('nv_dnorm', home, inherits = FALSE)",
    "dnorm(nv_tensor(0))",
    "c(before, exists('nv_dnorm', home, inherits = FALSE))"
  ))
  expect_identical(found, c(FALSE, TRUE))
})

test_that("places of extremes are those of numbers", {
  which.max <- masks()$which.max
  which.min <- masks()$which.min
  expect_identical(as.integer(which.min(f64(c(NaN, NaN, Inf)))), 3L)
  expect_identical(as.integer(jit(function(x) which.max(x))(f64(c(NaN, -Inf, NaN)))), 2L)
  expect_identical(as.integer(which.max(f64(c(NaN, 2, 2)))), 2L)
  expect_identical(as.integer(which.max(f64(c(NaN, NaN)))), 1L)
  expect_identical(as.integer(which.min(nv_tensor(c(3L, 1L, 1L)))), 2L)
})
