# Products of two views as convolutions: of an input of which some dimensions are read at a multiple of an index of the result and
# one of the kernel. The derivatives of a convolution are convolutions, too, which those of a product of windows are not.

# The product of two views, or NULL where it is no convolution.
convolved <- function(views, over, ctx) {
  convolution_of(views[[1L]], views[[2L]], over, ctx) %||% convolution_of(views[[2L]], views[[1L]], over, ctx)
}

convolution_of <- function(input, kernel, over, ctx) {
  roles <- if (!is_term(input)) convolution_roles(input$forms, term_indices(kernel), over)
  if (is.null(roles)) {
    return(NULL)
  }
  kernel <- term_of_view(kernel, ctx)
  # missing ones become dimensions of size 1
  arrange <- function(value, indices, wanted) {
    missing <- is.na(match(wanted, indices))
    at <- match(wanted, indices)
    at[missing] <- length(indices) + seq_len(sum(missing))
    if (any(missing)) value <- record("reshape", list(value), list(shape = c(sizes_of(value), rep(1L, sum(missing)))))
    list(value = value, dims = at)
  }
  x <- arrange(input$value, roles$places, c(roles$batch, roles$feature, roles$at))
  w <- arrange(kernel$value, kernel$indices, c(roles$filter, roles$feature, roles$within))
  result <- c(roles$batch, roles$filter, roles$at)
  order <- c(ordered(result, ctx), result[is.na(result)])
  output <- match(result, order)
  output[is.na(result)] <- which(is.na(order))
  window <- match(roles$at, roles$places)
  ones <- rep(1L, length(window))
  y <- nvl_convolution(x$value, w$value,
    window_strides = roles$strides, padding_low = input$low[window], padding_high = input$high[window],
    lhs_dilation = ones, rhs_dilation = abs(roles$dilations),
    reversed = which(roles$dilations < 0), input_dims = x$dims, kernel_dims = w$dims, output_dims = output
  )
  kept <- order[!is.na(order)]
  list(value = if (length(kept) == length(order)) y else record("reshape", list(y), list(shape = unname(ctx$sizes[kept]))), indices = kept)
}

term_indices <- function(view) view$indices %||% unique(unlist(lapply(view$forms, function(form) names(form$by))))

# What the indices are for: of the input's dimensions `places`, where the windows are (`at`, in steps of `strides`) and what is in them
# (`within`, `dilations` apart); the batch, the features and the filters, NA where there are none. NULL where the
# product has indices of other kinds.
convolution_roles <- function(forms, kernel, over) {
  by <- lapply(forms, `[[`, "by")
  windows <- which(lengths(by) > 1L)
  plain <- as.character(unlist(lapply(by[lengths(by) == 1L], names)))
  kept <- lapply(by[windows], function(b) b[!(names(b) %in% c(over, kernel))])
  summed <- lapply(by[windows], function(b) b[names(b) %in% intersect(over, kernel)])
  at <- unlist(lapply(kept, names))
  within <- unlist(lapply(summed, names))
  in_pairs <- all(lengths(by) <= 2L) && all(lengths(kept) == 1L & lengths(summed) == 1L)
  if (!length(windows) || !in_pairs || any(unlist(kept) < 0) || anyDuplicated(c(at, within, plain))) {
    return(NULL)
  }
  feature <- intersect(plain, intersect(over, kernel))
  batch <- setdiff(plain, c(over, kernel))
  filter <- setdiff(kernel, c(over, plain))
  known <- setequal(plain, c(feature, batch)) && setequal(kernel, c(within, feature, filter))
  if (!known || any(lengths(list(feature, batch, filter)) > 1L)) {
    return(NULL)
  }
  places <- vapply(by, function(b) if (length(b) == 1L) names(b) else names(b)[!(names(b) %in% over)], "")
  one <- function(x) if (length(x)) x else NA_character_
  list(
    places = places, at = at, within = within, strides = unname(unlist(kept)), dilations = unname(unlist(summed)),
    batch = one(batch), feature = one(feature), filter = one(filter)
  )
}
