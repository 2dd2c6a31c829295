# Sums of products of terms, by products of two at a time in the order that costs least.

# The product of terms of one dtype, summed over these indices.
contracted <- function(terms, over, ctx) {
  terms <- lapply(terms, function(term) without_lonely(term, terms, over))
  # more than eight are no one's to plan
  while (length(terms) > 8L) terms <- c(terms[-(1:2)], list(product_of_two(terms[[1L]], terms[[2L]], unlist(lapply(terms[-(1:2)], `[[`, "indices")), over, ctx)))
  indices <- lapply(terms, `[[`, "indices")
  keep <- setdiff(unlist(indices), over)
  multiply <- function(plan) {
    if (length(plan$members) == 1L) {
      return(terms[[plan$members]])
    }
    product_of_two(multiply(plan$left), multiply(plan$right), unlist(indices[-plan$members]), over, ctx)
  }
  multiply(best_plan(indices, keep, ctx$sizes))
}

# A term summed over what no other term has.
without_lonely <- function(term, terms, over) {
  counts <- table(unlist(lapply(terms, `[[`, "indices")))
  lonely <- intersect(term$indices, intersect(over, names(counts)[counts == 1L]))
  if (!length(lonely)) {
    return(term)
  }
  list(value = nv_reduce_sum(term$value, match(lonely, term$indices)), indices = setdiff(term$indices, lonely))
}

# How to split the factors, and these in turn, with the fewest multiplications: by the best plans of all subsets.
best_plan <- function(indices, keep, sizes) {
  n <- length(indices)
  plans <- vector("list", 2^n - 1)
  left_of <- function(set) intersect(unlist(indices[set]), c(keep, unlist(indices[-set])))
  for (code in seq_along(plans)) {
    set <- which(bitwAnd(code, 2^(seq_len(n) - 1L)) > 0L)
    plan <- list(members = set, cost = 0, result = if (length(set) == 1L) indices[[set]] else left_of(set))
    if (length(set) > 1L) {
      parts <- seq_len(code - 1L)
      parts <- parts[bitwAnd(parts, code) == parts & parts < code - parts]
      costs <- vapply(parts, function(part) {
        a <- plans[[part]]
        b <- plans[[code - part]]
        a$cost + b$cost + prod(as.double(sizes[union(a$result, b$result)]))
      }, 1)
      best <- parts[which.min(costs)]
      plan <- c(plan[c("members", "result")], list(cost = min(costs), left = plans[[best]], right = plans[[code - best]]))
    }
    plans[[code]] <- plan
  }
  plans[[length(plans)]]
}

# The product of two terms, summed over those of the indices `over` that no one else has.
product_of_two <- function(a, b, others, over, ctx) {
  summed <- setdiff(over, others)
  own <- function(term, other) setdiff(intersect(term$indices, summed), other$indices)
  shared <- intersect(intersect(a$indices, b$indices), summed)
  if (!length(shared)) {
    return(joined(nv_mul, a, b, ctx))
  }
  if (length(b$indices) && identical(indices_of(list(a, b), ctx)[1L], b$indices[1L])) {
    swap <- a
    a <- b
    b <- swap
  }
  both <- intersect(setdiff(a$indices, shared), b$indices)
  value <- nvl_dot_general(a$value, b$value,
    contracting_dims = list(match(shared, a$indices), match(shared, b$indices)), batching_dims = list(match(both, a$indices), match(both, b$indices))
  )
  list(value = value, indices = c(both, setdiff(a$indices, c(both, shared)), setdiff(b$indices, c(both, shared))))
}

# --- convolutions ---------------------------------------------------------------------------------

# The product of two views as a convolution, whose derivatives are convolutions too, or NULL where it is none.
convolved <- function(views, over, ctx) {
  convolution_of(views[[1L]], views[[2L]], over, ctx) %||% convolution_of(views[[2L]], views[[1L]], over, ctx)
}

# Of an input of which some dimensions are read at multiples of an index of the result and one of the kernel.
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
  none <- rep(0L, length(roles$at))
  y <- nvl_convolution(x$value, w$value,
    window_strides = roles$strides, padding_low = none, padding_high = none, lhs_dilation = none + 1L, rhs_dilation = abs(roles$dilations),
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
  if (!length(windows) || any(lengths(by) > 2L) || any(lengths(kept) != 1L | lengths(summed) != 1L) || any(unlist(kept) < 0) || anyDuplicated(c(at, within, plain))) {
    return(NULL)
  }
  feature <- intersect(plain, intersect(over, kernel))
  batch <- setdiff(plain, c(over, kernel))
  filter <- setdiff(kernel, c(over, plain))
  if (any(lengths(list(feature, batch, filter)) > 1L) || !setequal(plain, c(feature, batch)) || !setequal(kernel, c(within, feature, filter))) {
    return(NULL)
  }
  places <- vapply(by, function(b) if (length(b) == 1L) names(b) else names(b)[!(names(b) %in% over)], "")
  one <- function(x) if (length(x)) x else NA_character_
  list(
    places = places, at = at, within = within, strides = unname(unlist(kept)), dilations = unname(unlist(summed)),
    batch = one(batch), feature = one(feature), filter = one(filter)
  )
}
