#' Train a network
#'
#' Minimises the mean of a loss over examples by steps along gradients of batches. An epoch is one call of a compiled program: it
#' draws the batches from the data, differentiates the loss, and updates the parameters where they are.
#'
#' The loss is called as `loss(params, <data>, ...)` with a batch of each element of `data`, by its name if it has one. It
#' returns a float scalar, the mean over the examples of the batch. Where it has an argument `training`, that is `TRUE` in steps and
#' `FALSE` for validation; where it has an argument `initial_state`, it gets a state for the samplers ([nv_runif()]), another one at
#' each step. The last batch of an epoch has the examples that are left.
#'
#' Everything that is random follows from `seed`: two runs give the same bits, and so does one that was interrupted and goes on
#' from its checkpoint. The file holds parameters, the optimiser's state, the generator's and the history, and is
#' replaced as a whole after each epoch. With `resume`, training goes on from the file, if there is one, up to `epochs`. All else is
#' that of the call: another `batch_size`, another rate, or another optimiser with a state of the same kind are taken as they are.
#'
#' @param model A loss, or a list with functions `loss` and `predict`, of which the latter is for `predict()`, and `params`.
#' @param data A list of tensors, R arrays or vectors, or a data frame, for whose elements the first dimension counts the examples.
#' @param params The parameters to begin with: float tensors or R arrays, in nested lists. They stay as they are.
#' @param optimiser One of the [optimisers][nv_sgd].
#' @param epochs How often to go through the data.
#' @param batch_size How many examples there are in a batch.
#' @param ... Further arguments of the loss: tensors, or whatever else, which is passed on.
#' @param validation Data like `data` of which the loss is computed after each epoch, or `NULL`.
#' @param patience After how many epochs without a better loss to stop; `Inf` for never. It is the loss of `validation`, if
#'   there is any. The parameters of the best epoch are returned.
#' @param shuffle Whether to go through the examples in another order in each epoch.
#' @param seed A whole number.
#' @param checkpoint The name of a file, or `NULL` for none.
#' @param resume Whether to go on from `checkpoint`.
#' @param progress Whether to show a progress bar.
#' @param dtype The dtype of R's doubles among data and parameters, and of what the loss makes itself; by default
#'   the default float.
#' @return A list of class `anvil_trained`: `params`, tensors; `history`, a data frame of class `anvil_history` with the
#'   columns `epoch`, `loss` (the mean over the examples of the epoch), `validation` and `rate`, which `plot()` draws; and `best`,
#'   the epoch of `params`.
#'
#'   Errors: of class `anvil_error_argument` where elements of `data` have different numbers of examples, an argument is none of the
#'   loss, or a checkpoint is not that of such a training. Where the loss is not finite, a warning of class `anvil_warning_loss`
#'   says from which epoch on; `options(anvil.check_nan = TRUE)` stops at the call that makes a NaN.
#' @export
#' @examples
#' x <- matrix(seq(-1, 1, length.out = 64))
#' net <- list(
#'   params = list(w1 = matrix(sin(1:8), 1), b1 = matrix(cos(1:8), 1), w2 = matrix(sin(9:16), 8)),
#'   predict = function(params, x) tanh(x %*% params$w1 + params$b1) %*% params$w2
#' )
#' net$loss <- function(params, x, y) nv_mean((net$predict(params, x) - y)^2)
#' fit <- nv_fit(net, list(x = x, y = x^2), optimiser = nv_adam(0.05), epochs = 50, batch_size = 8)
#' fit
#' predict(fit, x = matrix(0.5))
#' plot(fit$history)
nv_fit <- function(model, data, params = NULL, optimiser = nv_adam(), epochs = 10L, batch_size = 32L, ..., validation = NULL,
                   patience = Inf, shuffle = TRUE, seed = 1L, checkpoint = NULL, resume = FALSE, progress = interactive(), dtype = NULL) {
  check_full_names(sys.call(), c("model", "data", "params", "optimiser", "epochs", "batch_size"))
  check_class(optimiser, "anvil_optimiser", "i `nv_adam()` and others make one.")
  check_whole_number(epochs, lower = 1L)
  check_whole_number(batch_size, lower = 1L)
  if (!identical(patience, Inf)) check_whole_number(patience, lower = 1L)
  for (flag in c("shuffle", "resume", "progress")) check_flag(get(flag), flag)
  if (!is.null(checkpoint)) check_file_to_write(checkpoint)
  model <- model_of(model, params)
  check_taken(model$loss, list(...), "There is an argument", "neither `nv_fit()` nor the loss takes")
  dtype <- float_dtype(dtype)
  batches <- batches_of(data, model, batch_size, dtype, "data", names(list(...)))
  held_out <- if (!is.null(validation)) batches_of(validation, model, batch_size, dtype, "validation", names(list(...)))
  programs <- training_programs(model, optimiser, data_of(list(...), dtype), dtype)
  now <- first_state(model$params, optimiser, seed, dtype)
  if (resume && !is.null(checkpoint) && file.exists(checkpoint)) now <- read_checkpoint(checkpoint, now, patience)
  while (now$epoch < epochs && now$epoch - now$best < patience) {
    now <- train_epoch(now, programs, batches, shuffle, if (progress) epochs)
    now <- note_epoch(now, if (!is.null(held_out)) mean_loss(programs, now$params, held_out), patience)
    if (!is.null(checkpoint)) write_checkpoint(now, checkpoint)
  }
  warn_lost(now$losses[1L, ])
  has_best <- is.finite(patience) && !is.null(now$best_params)
  params <- if (has_best) now$best_params else now$params
  best <- if (has_best) now$best else now$epoch
  history <- history_of(now, optimiser, batches$full + (batches$rest > 0L))
  structure(list(params = params, history = history, best = best, model = model, dtype = dtype), class = "anvil_trained")
}

model_of <- function(model, params) {
  if (is.function(model)) model <- list(loss = model)
  if (!is_container(model) || !is.function(model$loss)) {
    wrong_argument("model", "a loss function, or a list with a function `loss`", model)
  }
  params <- params %||% model$params
  if (is.null(params)) {
    abort_anvil("argument", "`params` is missing: the parameters to begin with.", "i They can be an element of `model`, too.")
  }
  if (length(flatten(params)) == 0L) wrong_argument("params", "a nested list of float tensors or R arrays", params)
  list(loss = model$loss, predict = model$predict, params = params)
}

# Whether f takes arguments of these names.
check_taken <- function(f, args, what, whose) {
  taken <- names(formals(args(f)))
  if (!("..." %in% taken) && length(unknown <- setdiff(names(args), c("", taken)))) {
    message <- sprintf("%s `%s`, which %s.", what, unknown[1L], whose)
    abort_anvil("argument", message, sprintf("i It takes %s.", paste0("`", taken, "`", collapse = ", ")))
  }
}

# Whether the arguments of f after the first one are there, where they are given by names.
check_all_given <- function(f, args, others, what, whose) {
  lacking <- setdiff(required_arguments(args(f))[-1L], c(names(args), others, step_arguments))
  if (length(lacking) && !is.null(names(args))) {
    abort_anvil("argument", sprintf("%s `%s`, which %s.", what, lacking[1L], whose), sprintf("x It has %s.", listed_names(names(args))))
  }
}

# What a loss gets besides data, if it has such arguments.
step_arguments <- c("training", "initial_state")

check_file_to_write <- function(file, name = rlang::caller_arg(file)) {
  check_string(file, name)
  if (!dir.exists(dirname(file)) || dir.exists(file)) wrong_argument(name, "the name of a file in a folder that exists", file)
}

# The data with the examples along the last dimension, where those of a batch lie side by side in memory.
# others: the names of what else the loss gets.
batches_of <- function(data, model, batch_size, dtype, name, others) {
  refuse <- function() wrong_argument(name, "a list of tensors or R arrays with at least one dimension", data)
  if (!is_container(data) || length(data) == 0L) refuse()
  check_taken(model$loss, data, sprintf("`%s` has an element", name), "the loss does not take")
  check_all_given(model$loss, data, others, sprintf("`%s` lacks an element", name), "the loss takes and has no default for")
  tensors <- Map(function(x, place) {
    x <- tryCatch(data_tensor(x, dtype), anvil_error = function(e) {
      abort_anvil("argument", sprintf("`%s[[%s]]` is no data.", name, place), paste("x", conditionMessage(e)))
    })
    if (ndims(x) == 0L) refuse() else x
  }, data, if (is.null(names(data))) seq_along(data) else dQuote(names(data), FALSE))
  sizes <- vapply(tensors, function(x) shape(x)[1L], 1)
  if (any(sizes != sizes[1L]) || sizes[1L] == 0) {
    message <- sprintf("All elements of `%s` must have the same number of examples, at least one.", name)
    abort_anvil("argument", message, sprintf("x Got %s.", paste(sizes, collapse = ", ")))
  }
  n <- as.integer(sizes[1L])
  size <- min(as.integer(batch_size), n)
  list(examples = lapply(tensors, examples_last), n = n, size = size, full = n %/% size, rest = n %% size)
}

examples_last <- function(x) if (ndims(x) < 2L) x else nv_transpose(x, c(seq_len(ndims(x))[-1L], 1L))
examples_at <- function(x, places) {
  batch <- take_gathered(x, rank_of(x), places)
  if (rank_of(x) < 2L) batch else nv_transpose(batch, c(rank_of(x), seq_len(rank_of(x) - 1L)))
}

# --- one epoch -----------------------------------------------------------------------------------

first_state <- function(params, optimiser, seed, dtype) {
  params <- map_tree(function(x) copied(parameter_tensor(x, dtype)), params)
  list(
    params = params, optimiser = optimiser$init(params), random = nv_rng_state(seed), epoch = 0L, best = 0L, best_loss = Inf,
    best_params = NULL, losses = matrix(numeric(), 2L, 0L)
  )
}

parameter_tensor <- function(x, dtype) {
  if (!is_tensor(x) && !is.object(x) && is.numeric(x)) x <- nv_tensor(x, dtype, shape = if (length(x) == 1L && is.null(dim(x))) integer())
  if (!is_tensor(x)) wrong_argument("params", "a nested list of float tensors or R arrays", x)
  if (!is_float_dtype(dtype(x))) {
    abort_anvil("argument", "`params` must be a nested list of float tensors or R arrays.", c(
      sprintf("x Got %s.", type_text(x)),
      if (dtype(x) == "ui64") "i Samplers return the next state, and the values as the second element."
    ))
  }
  x
}

# A tensor with memory of its own: training gives away that of its parameters at each call.
copied <- function(x) nv_from_raw(as_raw(x), dtype(x), shape(x))

# What is compiled for a training: the order of
# an epoch, the steps from one batch to another, whose states are given away, and the loss of batches.
training_programs <- function(model, optimiser, more, dtype) {
  with_batch <- function(params, batch, tensors, training, random) {
    known <- names(formals(args(model$loss)))
    own <- list(training = training, initial_state = random)
    do.call(model$loss, c(list(params), batch, data_with(more, tensors), own[intersect(names(own), known)]), quote = TRUE)
  }
  batch_at <- function(examples, order, i, size) {
    places <- nvl_dynamic_slice(order, (i - 1L) * size + 1L, slice_sizes = size)
    lapply(examples, examples_at, places)
  }
  steps <- jit(function(params, optimised, random, loss, order, from, to, examples, tensors, size) {
    local_default_dtypes(float = dtype)
    body <- function(i, now) {
      keys <- nv_rng_split(now$random)
      of_params <- function(params) with_batch(params, batch_at(examples, order, i, size), tensors, TRUE, keys[[2L]])
      found <- value_and_gradient(of_params)(now$params)
      after <- optimiser$update(found$grad[[1L]], now$optimised, now$params)
      list(params = after$params, optimised = after$state, random = keys[[1L]], loss = now$loss + size * nv_convert(found$value, "f64"))
    }
    nv_fori(from, to, list(params = params, optimised = optimised, random = random, loss = loss), body)
  }, static = "size", donate = c("params", "optimised", "random", "loss"))
  losses <- jit(function(params, order, from, to, examples, tensors, size) {
    local_default_dtypes(float = dtype)
    nv_fori(from, to, nv_scalar(0, "f64"), function(i, loss) {
      loss + size * nv_convert(with_batch(params, batch_at(examples, order, i, size), tensors, FALSE, nv_rng_state(1L)), "f64")
    })
  }, static = "size")
  begin <- jit(function(random, n, shuffle) {
    keys <- nv_rng_split(random)
    list(random = keys[[1L]], order = if (shuffle) nv_sample_int(n, n, keys[[2L]], dtype = "i32")[[2L]] else nv_iota(1L, "i32", n))
  }, static = c("n", "shuffle"))
  list(begin = begin, steps = steps, losses = losses, more = more$tensors, rate = function(step) optimiser$lr(as.double(step) - 1))
}

# epochs: how many there will be, where a bar is shown.
train_epoch <- function(now, programs, batches, shuffle, epochs = NULL) {
  drawn <- programs$begin(now$random, batches$n, shuffle)
  order <- drawn$order
  state <- list(params = now$params, optimised = now$optimiser, random = drawn$random, loss = nv_scalar(0, "f64"))
  run <- function(from, to, order, size) {
    state <<- programs$steps(
      state$params, state$optimised, state$random, state$loss, order, nv_scalar(from), nv_scalar(to), batches$examples, programs$more, size
    )
  }
  ends <- unique(round(seq(0, batches$full, length.out = if (is.null(epochs)) 2L else 21L)))
  bar <- if (!is.null(epochs)) epoch_bar(now, epochs, batches$full)
  for (k in seq_along(ends)[-1L]) {
    run(as.integer(ends[k - 1L]) + 1L, as.integer(ends[k]), order, batches$size)
    if (!is.null(bar)) bar(ends[k], as.double(state$loss) / (ends[k] * batches$size), programs$rate(state$optimised$step))
  }
  if (batches$rest > 0L) run(1L, 1L, nv_static_slice(order, batches$full * batches$size + 1L, batches$n), batches$rest)
  now[c("params", "optimiser", "random")] <- state[c("params", "optimised", "random")]
  now$loss <- as.double(state$loss) / batches$n
  now$epoch <- now$epoch + 1L
  now
}

epoch_bar <- function(now, epochs, steps) {
  text <- sprintf("Epoch %d/%d", now$epoch + 1L, epochs)
  state <- ""
  id <- cli::cli_progress_bar(
    format = "{text} {cli::pb_bar} {cli::pb_percent} {cli::pb_eta_str} {state}", total = steps, clear = TRUE, .auto_close = FALSE
  )
  function(done, mean, rate) {
    state <<- sprintf("loss %.4g, rate %.3g", mean, as.double(rate))
    if (done < steps) cli::cli_progress_update(set = done, id = id) else cli::cli_progress_done(id = id)
  }
}

mean_loss <- function(programs, params, batches) {
  order <- nv_tensor(seq_len(batches$n))
  run <- function(from, to, size) {
    as.double(programs$losses(params, order, nv_scalar(from), nv_scalar(to), batches$examples, programs$more, size))
  }
  total <- run(1L, batches$full, batches$size)
  if (batches$rest > 0L) {
    order <- nv_static_slice(order, batches$full * batches$size + 1L, batches$n)
    total <- total + run(1L, 1L, batches$rest)
  }
  total / batches$n
}

# The epoch's losses; where it is the best so far, and could be the last one that counts, its parameters are kept.
note_epoch <- function(now, validation, patience) {
  now$losses <- cbind(now$losses, c(now$loss, validation %||% NA_real_))
  loss <- validation %||% now$loss
  if (!is.nan(loss) && loss < now$best_loss) best_now(now, loss, patience) else now
}

best_now <- function(now, loss, patience) {
  now[c("best", "best_loss")] <- list(now$epoch, loss)
  if (is.finite(patience)) now$best_params <- map_tree(copied, now$params)
  now
}

# The rates are those of the last steps of the epochs.
history_of <- function(now, optimiser, steps) {
  epochs <- seq_len(now$epoch)
  rates <- vapply(epochs * steps - 1, function(step) as.double(optimiser$lr(step)), 1)
  history <- data.frame(epoch = epochs, loss = now$losses[1L, ], validation = now$losses[2L, ], rate = rates)
  structure(history, class = c("anvil_history", "data.frame"))
}
