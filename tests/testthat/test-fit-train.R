x <- matrix(seq(-1, 1, length.out = 70))
net <- list(
  params = list(w1 = matrix(sin(1:8), 1), b1 = matrix(cos(1:8), 1), w2 = matrix(sin(9:16), 8)),
  predict = function(params, x) tanh(x %*% params$w1 + params$b1) %*% params$w2
)
net$loss <- function(params, x, y) nv_mean((net$predict(params, x) - y)^2)
data <- list(x = x, y = x^2)
bytes <- function(fit) lapply(flatten(fit$params), as_raw)
same <- function(a, b) identical(bytes(a), bytes(b)) && identical(a$history, b$history)

test_that("training without shuffling is gradient descent by hand", {
  withr::local_options(anvil.default_dtypes = "f64")
  fit <- nv_fit(function(params, x, y) nv_mean((x * params$a + params$b - y)^2), list(x = c(1, 2, 3, 4, 5), y = c(2, 4, 5, 4, 5)),
    list(a = 0, b = 0), nv_sgd(0.05), epochs = 3, batch_size = 2, shuffle = FALSE
  )
  a <- b <- 0
  losses <- numeric()
  for (epoch in 1:3) {
    total <- 0
    for (rows in list(1:2, 3:4, 5)) {
      xs <- c(1, 2, 3, 4, 5)[rows]
      r <- xs * a + b - c(2, 4, 5, 4, 5)[rows]
      total <- total + sum(r^2)
      a <- a - 0.05 * mean(2 * r * xs)
      b <- b - 0.05 * mean(2 * r)
    }
    losses[epoch] <- total / 5
  }
  expect_equal(c(as.double(fit$params$a), as.double(fit$params$b)), c(a, b))
  expect_equal(fit$history$loss, losses)
  expect_identical(as.character(dtype(fit$params$a)), "f64")
})

test_that("each epoch goes through all examples once, in another order", {
  fit <- nv_fit(function(params, x) nv_mean(x) + 0 * params, list(x = as.double(1:70)), 0, nv_sgd(), epochs = 3)
  expect_equal(fit$history$loss, rep(35.5, 3))
  last_batch <- function(seed, epochs) {
    params <- nv_fit(function(params, x) nv_mean(x * params), list(x = as.double(1:10)), 0, nv_sgd(1), epochs = epochs, batch_size = 3, seed = seed)$params
    as.double(params)
  }
  # the mean of three of the batches, and of the one that is left over
  expect_false(isTRUE(all.equal(last_batch(1, 1), last_batch(2, 1))))
  expect_false(isTRUE(all.equal(last_batch(1, 2), 2 * last_batch(1, 1))))
})

test_that("a network learns, predicts, and shows its history", {
  fit <- nv_fit(net, data, optimiser = nv_adam(0.05), epochs = 60, validation = list(x = x + 0.01, y = (x + 0.01)^2))
  expect_lt(tail(fit$history$validation, 1), 0.1)
  expect_identical(names(fit$history), c("epoch", "loss", "validation", "rate"))
  expect_equal(fit$history$rate, rep(0.05, 60))
  w <- lapply(fit$params, as_array)
  expect_equal(predict(fit, x = x), tanh(x %*% w$w1 + w$b1[rep(1, 70), ]) %*% w$w2, tolerance = 1e-5)
  expect_equal(fit$history$validation[60], mean((predict(fit, x = x + 0.01) - (x + 0.01)^2)^2), tolerance = 1e-5)
  file <- withr::local_tempfile()
  grDevices::png(file)
  plot(fit$history)
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
})

test_that("the same seed gives the same bits, with and without a progress bar", {
  a <- nv_fit(net, data, epochs = 4)
  expect_true(same(a, nv_fit(net, data, epochs = 4)))
  expect_true(same(a, nv_fit(net, data, epochs = 4, progress = TRUE)))
  expect_false(same(a, nv_fit(net, data, epochs = 4, seed = 2)))
})

test_that("an interrupted training goes on with the same bits", {
  file <- withr::local_tempfile()
  noisy <- net
  noisy$loss <- function(params, x, y, initial_state, training) {
    if (training) x <- x + 0.1 * nv_rnorm(shape(x), initial_state)[[2]]
    net$loss(params, x, y)
  }
  run <- function(epochs, ...) nv_fit(noisy, data, optimiser = nv_adam(nv_lr_cosine(0.01, 20)), epochs = epochs, validation = data, patience = 5, ...)
  run(2, checkpoint = file)
  resumed <- run(5, checkpoint = file, resume = TRUE)
  expect_true(same(resumed, run(5)))
  # to the end: nothing is left to do
  expect_true(same(resumed, run(5, checkpoint = file, resume = TRUE)))
  # patience that comes later counts from there
  nv_fit(net, data, epochs = 2, checkpoint = file)
  expect_identical(nv_fit(net, data, epochs = 4, patience = 5, checkpoint = file, resume = TRUE)$history, nv_fit(net, data, epochs = 4)$history)
  expect_error(nv_fit(net, data, optimiser = nv_sgd(), checkpoint = file, resume = TRUE), class = "anvil_error_argument")
})

test_that("training stops early, with the best parameters", {
  # the loss of validation is least when the parameter passes 1
  walk <- function(params, x, training) if (training) -nv_mean(x) * params else (params - 1)^2
  fit <- nv_fit(walk, list(x = rep(1, 4)), 0, nv_sgd(0.25), epochs = 100, batch_size = 4, validation = list(x = 1), patience = 3)
  expect_identical(c(nrow(fit$history), fit$best), c(7L, 4L))
  expect_equal(as.double(fit$params), 1)
  expect_warning(lost <- nv_fit(function(params, x) params * NaN, list(x = 1), 0, nv_sgd(), epochs = 9, patience = 2), class = "anvil_warning_loss")
  expect_identical(c(nrow(lost$history), lost$best), c(2L, 2L))
})

test_that("tensors of several dimensions are cut along the first one, and parameters of the caller stay", {
  images <- array(as.double(1:120), c(5, 4, 6))
  params <- list(nv_tensor(array(0, c(1, 4, 6)), "f32"))
  fit <- nv_fit(function(params, image, scale) nv_mean((image - params[[1]])^2) * scale, list(image = images), params, nv_sgd(12), epochs = 1, batch_size = 1, shuffle = FALSE, scale = 1)
  expect_equal(as_array(fit$params[[1]])[1, , ], images[5, , ], tolerance = 1e-6)
  expect_equal(as.double(sum(params[[1]])), 0)
})

test_that("errors say what is wrong", {
  expect_snapshot(nv_fit(net, data, epochs = 2))
  expect_snapshot(error = TRUE, {
    nv_fit(1, data)
    nv_fit(net$loss, data)
    nv_fit(net, list(x = x, y = 1:3))
    nv_fit(net, list(x = 1))
    nv_fit(net, list(x = x, z = x))
    nv_fit(net, data, validation = list(x, x, z = x))
    nv_fit(net, data, params = list())
    nv_fit(net, list())
    nv_fit(net, list(x = x, y = factor(x)))
    nv_fit(net, list(x, iris[rep(1, 70), ]))
    nv_fit(net, data, lr = 0.1)
    nv_fit(net, data, params = nv_rnorm(2, nv_rng_state(1)))
    predict(nv_fit(net, data, epochs = 1), newdata = x)
    nv_fit(net, data, params = list("a"))
    nv_fit(net, data, optimiser = "adam")
    nv_fit(net, data, patience = 0)
    predict(nv_fit(net$loss, data, net$params, epochs = 1), x = x)
  })
})

test_that("an argument that nothing takes is named", {
  loss <- function(params, x) mean((x - params)^2)
  expect_error(nv_fit(loss, list(x = 1:3), 0, optimizer = nv_sgd(0.1)), "`optimizer`, which neither", class = "anvil_error_argument")
  formals(loss) <- alist(params = , x = , ... = )
  expect_error(nv_fit(loss, list(x = 1:3), 0, optimizer = nv_sgd(0.1)), "`optimizer` is handed on", class = "anvil_error_argument")
})

test_that("data frames are matrices of the dtype, in training and in predictions", {
  frame <- data.frame(a = c(1 / 3, 2, 5), b = c(1, 0, 1))
  model <- list(params = list(w = matrix(c(1, 2))), predict = function(params, x) x %*% params$w)
  model$loss <- function(params, x, y) nv_mse(model$predict(params, x), y)
  run <- function(x) nv_fit(model, list(x = x, y = matrix(c(1, 2, 3))), epochs = 2, dtype = "f64")
  fit <- run(frame)
  expect_true(same(fit, run(unname(as.matrix(frame)))))
  expect_identical(predict(fit, x = frame), predict(fit, x = as.matrix(frame)))
  expect_identical(predict(fit, frame), predict(fit, x = frame))
})

test_that("a loss that is lost is told", {
  expect_warning(nv_fit(net, list(x = x, y = replace(x^2, 3, NA)), epochs = 2), "in 2 of 2 epochs", class = "anvil_warning_loss")
  expect_warning(nv_fit(net, data, optimiser = nv_sgd(1e30), epochs = 1), class = "anvil_warning_loss")
  withr::local_options(anvil.check_nan = TRUE)
  expect_error(nv_fit(function(params, x) nv_mean(log(x - params)), list(x = c(1, 2)), 3, epochs = 1), class = "anvil_error_nan")
})

test_that("data that are objects have the dtype of the training", {
  for (x in list(ts(c(0.1, 0.2)), data.frame(a = c(0.1, 0.2)), c(0.1, 0.2))) expect_equal(as.character(dtype(data_tensor(x, "f64"))), "f64")
})

test_that("what is missing, misspelled or cannot be written is said before the first epoch", {
  expect_snapshot(error = TRUE, {
    nv_fit(net, list(x = x))
    nv_fit(net, data, validation = list(x = x))
    nv_fit(function(params, x, b) sum(x * params * b), list(x = 1:3), params = 0, b = 2)
    nv_fit(net, data, checkpoint = "no such folder/a.rds")
    nv_fit(net, data, checkpoint = ".")
  })
  # other arguments of the loss come from elsewhere
  loss <- function(params, x, training, scale) nv_mse(x, params * scale)
  expect_no_error(nv_fit(loss, list(x = 1:3), 0, scale = 2, epochs = 1))
})

test_that("a fit is drawn as its history", {
  fit <- nv_fit(net, data, epochs = 2)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_identical(plot(fit), fit)
})
