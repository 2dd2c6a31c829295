data <- withr::with_seed(1, data.frame(
  y = rnorm(24), x = runif(24), g = rep(letters[1:3], 8), h = factor(rep(1:6, 4)), w = 1:24, n = rep(1:4, each = 6)
))
matrix_of <- function(formula, ...) unname(stats::model.matrix(formula, ...))

test_that("the model matrix, weights and offset are R's", {
  frame <- nv_model_frame(y ~ poly(x, 2) * g + offset(log(w)), data, weights = w / 2, subset = x > 0.3)
  fit <- stats::lm(y ~ poly(x, 2) * g + offset(log(w)), data, weights = w / 2, subset = x > 0.3)
  expect_equal(value(frame$x), matrix_of(fit), ignore_attr = TRUE)
  expect_identical(frame$names, names(stats::coef(fit)))
  expect_equal(flat(frame$weights), fit$weights, ignore_attr = TRUE)
  expect_equal(flat(frame$offset), stats::model.offset(fit$model))
  expect_equal(flat(frame$y), fit$model$y)
  expect_identical(as.character(dtype(frame$x)), "f64")
  # what poly() found stays for new data
  new <- data.frame(x = c(0.1, 2), g = c("c", "a"), w = c(1, 2))
  again <- nv_model_frame(frame, new)
  expect_equal(flat(again$x %*% stats::coef(fit) + nv_reshape(again$offset, c(2, 1))), unname(stats::predict(fit, new)))
  expect_null(again$y)
})

test_that("contrasts, levels and missing values are kept", {
  frame <- nv_model_frame(y ~ g, data, contrasts = list(g = "contr.sum"))
  expect_equal(value(frame$x), matrix_of(y ~ g, data, contrasts.arg = list(g = "contr.sum")), ignore_attr = TRUE)
  expect_equal(value(nv_model_frame(frame, data.frame(g = "b"))$x), matrix(c(1, 0, 1), 1L))
  expect_identical(frame$factors$g$levels, letters[1:3])
  expect_identical(as.integer(frame$factors$g$index), rep(1:3, 8))
  holes <- data
  holes$x[3] <- NA
  frame <- nv_model_frame(y ~ x, holes)
  expect_identical(dim(frame$x), c(23L, 2L))
  expect_identical(as.integer(frame$na.action), 3L)
  expect_error(nv_model_frame(y ~ x, holes, na.action = stats::na.fail), "missing values")
})

test_that("responses are numbers, flags, factors and matrices", {
  expect_equal(flat(nv_model_frame(x > 0.5 ~ 1, data)$y), as.numeric(data$x > 0.5))
  expect_equal(flat(nv_model_frame(factor(x > 0.5) ~ 1, data)$y), as.numeric(data$x > 0.5))
  expect_identical(as.integer(nv_model_frame(g ~ x, data)$y), rep(1:3, 8))
  expect_length(nv_model_frame(g ~ x, data)$factors, 0L)
  expect_equal(value(nv_model_frame(cbind(w, 25 - w) ~ 1, data)$y), cbind(1:24, 24:1), ignore_attr = TRUE)
  expect_null(nv_model_frame(~x, data)$y)
})

test_that("random terms are those of lme4", {
  skip_if_not_installed("lme4")
  for (formula in list(y ~ x + (x | h), y ~ (1 | g / h), y ~ x + (1 | h) + (0 + x | g), y ~ (x || h), y ~ 1 + (1 | n))) {
    frame <- nv_model_frame(formula, data)
    peer <- lme4::lFormula(formula, data, control = lme4::lmerControl(check.nobs.vs.nRE = "ignore"))
    expect_equal(value(frame$x), unname(peer$X), ignore_attr = TRUE)
    # lme4 puts terms with more groups first; its Z' has a row by group and effect
    sets <- lapply(frame$random, function(term) {
      z <- value(term$z)
      index <- as.integer(term$index)
      sparse <- matrix(0, length(term$levels) * ncol(z), nrow(z))
      for (i in seq_len(nrow(z))) sparse[(index[i] - 1L) * ncol(z) + seq_len(ncol(z)), i] <- z[i, ]
      sparse
    })
    rows <- function(m) m[do.call(order, as.data.frame(m)), ]
    expect_equal(rows(do.call(rbind, sets)), rows(unname(as.matrix(peer$reTrms$Zt))), ignore_attr = TRUE)
  }
})

test_that("new data are looked up in the groups that there were", {
  frame <- nv_model_frame(y ~ (x | n), data)
  expect_identical(as.integer(nv_model_frame(frame, data.frame(x = 1, n = 3))$random$n$index), 3L)
  expect_error(nv_model_frame(frame, data.frame(x = 1, n = 7)), "`n` has groups", class = "anvil_error_argument")
  frame <- nv_model_frame(y ~ (1 | h), data)
  expect_error(nv_model_frame(frame, data.frame(h = "z")), "new level")
})

test_that("an offset of the call is one of new data, too", {
  d <- data.frame(y = c(1, 3, 2, 5), x = 1:4, o = c(2, 1, 4, 3))
  new <- data.frame(x = 1:2, o = c(5, 6))
  expect_identical(flat(nv_model_frame(nv_model_frame(y ~ x, d, offset = o), new)$offset), c(5, 6))
  expect_identical(flat(nv_model_frame(nv_model_frame(y ~ x + offset(x), d, offset = o), new)$offset), c(6, 8))
  expect_error(nv_model_frame(nv_model_frame(y ~ x, d, offset = d$o), new), "lengths differ", class = "anvil_error_argument")
})

test_that("a frame of one row has vectors of one element", {
  d <- data.frame(y = 1, x = 2, w = 3)
  frame <- nv_model_frame(y ~ x, d, weights = w, offset = w)
  expect_identical(shape(frame$weights), 1L)
  expect_identical(shape(frame$offset), 1L)
  expect_identical(shape(nv_model_frame(y ~ x, d)$weights), integer())
})

test_that("what is missing in new data is NaN", {
  d <- data.frame(y = c(1, 3, 2, 5), x = 1:4, g = c("a", "b", "a", "b"), i = 1:4)
  frame <- nv_model_frame(y ~ x + g, d)
  new <- nv_model_frame(frame, data.frame(x = 1:2, g = c("a", NA)))
  expect_equal(value(new$x), rbind(c(1, 1, 0), c(1, 2, NaN)))
  expect_identical(flat(new$factors$g$index), c(1L, 0L))
  gone <- transform(d, g = replace(g, 1, NA), i = replace(i, 2, NA))
  passed <- nv_model_frame(i ~ x + g, gone, na.action = na.pass)
  expect_equal(value(passed$x)[1, ], c(1, 1, NaN))
  expect_equal(flat(passed$y), c(1, NaN, 3, 4))
  expect_snapshot(error = TRUE, {
    nv_model_frame(nv_model_frame(y ~ x + (1 | g), d), data.frame(x = 1, g = NA_character_))
    nv_model_frame(factor(i) ~ x, gone, na.action = na.pass)
  })
})

test_that("a generalised linear model is glm()'s", {
  frame <- nv_model_frame(am ~ wt + hp, mtcars)
  loss <- function(beta) -sum(nv_dbinom(frame$y, 1, nv_logistic(nv_squeeze(frame$x %*% beta)), log = TRUE))
  fit <- stats::glm(am ~ wt + hp, stats::binomial(), mtcars)
  beta <- nv_tensor(stats::coef(fit), "f64")
  expect_equal(-as.double(loss(beta)), as.numeric(stats::logLik(fit)))
  expect_lt(max(abs(as.double(gradient(loss)(beta)$beta))), 1e-4)
})

test_that("frames are shown, and mistakes explained", {
  expect_snapshot(error = TRUE, {
    nv_model_frame(y ~ x + g + (x | h), data)
    nv_model_frame("y ~ x", data)
    nv_model_frame(I(list(1)) ~ 1, list())
    nv_model_frame(y ~ nothing, data)
    nv_model_frame(y ~ x * (1 | g), data)
    nv_model_frame(nv_model_frame(y ~ x, data))
    nv_model_frame(nv_model_frame(y ~ x, data), data, offset = x)
  })
})
