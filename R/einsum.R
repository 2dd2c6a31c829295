#' Sums of products in Einstein's notation
#'
#' `nv_einsum("ij,jk->ik", a, b)` multiplies tensors and sums over the indices that the result does not have: a letter for each
#' dimension of each operand, and after `->` those of the result in order. Without `->` the result has the letters
#' that occur once, in alphabetical order. A letter twice in one operand takes the diagonal. `...` stands for any
#' dimensions in the place of letters: they are lined up at the last one, those of size 1 are repeated, and without `->` they
#' come first in the result. [nv_index()] says more than products.
#'
#' @param spec The letters of the operands, separated by commas. Blanks do not count.
#' @param ... Tensors or R arrays, which are promoted to a common dtype.
#' @return A tensor of that dtype; `bool` is counted in `i32`.
#' @section Errors:
#' `anvil_error_argument` where `spec` can't be read or names more or fewer operands; `anvil_error_shape` where an operand has
#' another number of dimensions, or a letter two sizes.
#' @export
#' @examples
#' a <- nv_tensor(matrix(1:6, 2))
#' nv_einsum("ij,kj->ik", a, a)
#' nv_einsum("ii", a %*% t(a))
#' nv_einsum("i,j->ij", nv_tensor(1:2), nv_tensor(1:3))
#' stack <- nv_tensor(array(1:12, c(3, 2, 2)))
#' nv_einsum("...ij,...jk->...ik", stack, a[, 1:2])
nv_einsum <- function(spec, ...) {
  if (is_tensor(spec) || is_value(spec)) wrong_argument("spec", "a string", spec, "i `spec` comes first, then the tensors.")
  operands <- unname(lapply(list(...), as_vector, "..."))
  labels <- einsum_labels(check_string(spec), lapply(operands, sizes_of))
  reads <- Map(function(x, indices, k) einsum_read(x, indices, k), operands, labels$operands, seq_along(operands))
  sizes <- infer_sizes(read_places(reads), integer(), setdiff(unlist(labels$operands), NA))
  over <- setdiff(names(sizes), labels$result)
  ctx <- list(sizes = sizes, order = c(labels$result, over), border = "error")
  spread_term(sum_of_product(reads, over, ctx), labels$result, ctx)
}

# Dimensions of size 1 that `...` repeats have no index: the first element is read.
einsum_read <- function(x, indices, k) {
  form <- function(index) if (is.na(index)) list(by = integer(), constant = 1) else list(by = stats::setNames(1, index), constant = 0)
  list(kind = "read", expr = as.name(paste("operand", k)), x = x, forms = lapply(unname(indices), form))
}

# list(operands, result): the letters of each, with "...1", "...2" and so on, counted from the last one, for the dots.
einsum_labels <- function(spec, shapes) {
  refuse <- function(why) abort_anvil("argument", "`spec` can't be read.", c(sprintf("x %s", why), sprintf("x Got \"%s\".", spec)))
  sides <- strsplit(paste0(gsub(" ", "", spec, fixed = TRUE), "->?"), "->", fixed = TRUE)[[1L]]
  if (!length(sides) %in% 2:3) refuse("There is one `->` at most.")
  inputs <- strsplit(paste0(sides[1L], ","), ",", fixed = TRUE)[[1L]]
  split <- function(text) regmatches(text, gregexpr("[.]{3}|.", text))[[1L]]
  inputs <- lapply(inputs, split)
  result <- if (length(sides) == 3L) split(sides[2L])
  for (part in c(inputs, list(result))) {
    if (!all(grepl("^([A-Za-z]|[.]{3})$", part)) || sum(part == "...") > 1L) refuse("Indices are letters, and `...` once in each operand.")
  }
  if (length(inputs) != length(shapes)) refuse(sprintf("It names %d operands, and there are %d.", length(inputs), length(shapes)))
  dots <- Map(length_of_dots, inputs, lengths(shapes), seq_along(shapes))
  most <- max(0L, unlist(dots))
  dot_names <- function(n) sprintf("...%d", rev(seq_len(n)))
  expand <- function(part, n) unlist(lapply(part, function(x) if (x == "...") dot_names(n) else x))
  operands <- Map(expand, inputs, dots)
  size_of_dots <- function(name) max(unlist(Map(function(part, shape) shape[part == name], operands, shapes)))
  wide <- vapply(dot_names(most), size_of_dots, 1L)
  operands <- Map(function(part, shape) replace(part, part %in% names(wide) & shape == 1L & wide[part] != 1L, NA), operands, shapes)
  all <- unlist(operands)
  once <- names(which(table(all[!(all %in% names(wide))]) == 1L))
  result <- if (length(sides) == 3L) as.character(expand(result, most)) else c(dot_names(most), sort(once))
  if (anyDuplicated(result)) refuse(sprintf("`%s` is twice in the result.", result[anyDuplicated(result)]))
  unknown <- setdiff(result, all)
  if (length(unknown)) refuse(sprintf("`%s` of the result is in no operand.", unknown[1L]))
  list(operands = operands, result = result)
}

# How many dimensions the dots of an operand stand for.
length_of_dots <- function(part, rank, k) {
  letters <- sum(part != "...")
  open <- "..." %in% part
  if (rank < letters || !open && rank > letters) {
    message <- sprintf("Operand %d must have %s%d dimensions.", k, if (open) "at least " else "", letters)
    abort_anvil("shape", message, sprintf("x It has %d.", rank))
  }
  rank - letters
}
