# What is left of a training: its checkpoints, its history as a plot, and predictions.

# Tensors as bytes, exactly; the file is replaced as a whole, so that there is always one that can be read.
write_checkpoint <- function(now, file) {
  bytes <- function(x) {
    if (is_tensor(x)) structure(list(as_raw(x), as.character(dtype(x)), shape(x)), class = "anvil_checkpoint_tensor") else x
  }
  kept <- c("params", "optimiser", "random", "best_params")
  now[kept] <- lapply(now[kept], function(x) map_tree(bytes, x))
  unfinished <- paste0(file, ".part")
  saveRDS(now, unfinished)
  if (!file.rename(unfinished, file)) abort_anvil("argument", "`checkpoint` could not be written.", sprintf("x The file is %s.", file))
}

# like: the state before the first step, whose parameters and optimiser those of the file must be like.
read_checkpoint <- function(file, like, patience) {
  now <- tryCatch(readRDS(file), error = function(e) NULL)
  tensor <- function(x) if (inherits(x, "anvil_checkpoint_tensor")) nv_from_raw(x[[1L]], x[[2L]], x[[3L]]) else x
  kept <- c("params", "optimiser", "random", "best_params")
  types <- function(x) map_tree(type_text, x)
  ok <- is.list(now) && all(names(like) %in% c(names(now), "best_params"))
  if (ok) {
    now[kept] <- lapply(now[kept], function(x) map_tree(tensor, x))
    ok <- identical(types(now[c("params", "optimiser")]), types(like[c("params", "optimiser")]))
  }
  if (!ok) {
    got <- sprintf("x %s holds other parameters, or something else.", file)
    abort_anvil("argument", "`checkpoint` is not a file of such a training.", got)
  }
  # a training without patience kept no parameters but the last ones
  if (is.finite(patience) && is.null(now$best_params)) best_now(now, now$best_loss, patience) else now
}

warn_lost <- function(losses) {
  lost <- which(!is.finite(losses))
  if (length(lost) == 0L) {
    return(invisible())
  }
  rlang::warn(
    c(sprintf("The loss was not finite in %d of %d epochs, at first in epoch %d.", length(lost), length(losses), lost[1L]),
      x = sprintf("It was %s.", format(losses[lost[1L]])),
      i = "So it goes with missing values among the data, classes that do not count from 1, or too large a rate.",
      i = "`options(anvil.check_nan = TRUE)` stops at the call that makes the first NaN."
    ),
    class = c("anvil_warning_loss", "anvil_warning"), call = user_call()
  )
}

#' @rdname nv_fit
#' @param x,object What `nv_fit()` returned, or its history.
#' @export
print.anvil_trained <- function(x, ...) {
  history <- x$history
  last <- history[nrow(history), ]
  cli::cat_line(cli::pluralize("<trained in {nrow(history)} epoch{?s}>"))
  losses <- vapply(last[c("loss", "validation")], format, "", digits = 4L)
  cli::cat_line("loss ", losses[["loss"]], if (!is.na(last$validation)) paste(", validation", losses[["validation"]]))
  if (x$best != last$epoch) cli::cat_line("parameters of epoch ", x$best)
  invisible(x)
}

#' @rdname nv_fit
#' @export
predict.anvil_trained <- function(object, ...) {
  if (is.null(object$model$predict)) abort_anvil("argument", "`predict()` needs a model with a function `predict`.")
  given <- list(...)
  check_taken(object$model$predict, given, "There is an argument", "the function `predict` of the model does not take")
  given <- data_of(lapply(given, function(x) if (is.data.frame(x)) data_tensor(x, object$dtype) else x), object$dtype)
  run <- jit(function(params, tensors) {
    local_default_dtypes(float = object$dtype)
    do.call(object$model$predict, c(list(params), data_with(given, tensors)), quote = TRUE)
  })
  map_tree(as_array, run(object$params, given$tensors))
}

#' @rdname nv_fit
#' @export
plot.anvil_trained <- function(x, ...) {
  plot.anvil_history(x$history, ...)
  invisible(x)
}

#' @rdname nv_fit
#' @export
plot.anvil_history <- function(x, ...) {
  has_validation <- !all(is.na(x$validation))
  values <- c(x$loss, x$validation)
  values <- values[is.finite(values)]
  log <- if (length(values) && min(values) > 0) "y" else ""
  graphics::plot(
    x$epoch, x$loss, type = "l", log = log, ylim = range(values), lwd = 2, col = "#1b6ca8", xlab = "epoch", ylab = "loss",
    las = 1, bty = "l", ...
  )
  if (has_validation) graphics::lines(x$epoch, x$validation, lwd = 2, col = "#d1495b")
  labels <- c("training", if (has_validation) "validation")
  graphics::legend("topright", labels, col = c("#1b6ca8", "#d1495b")[seq_along(labels)], lwd = 2, bty = "n")
  invisible(x)
}
