#' Attention, embeddings and classes as vectors
#'
#' * `nv_attention()`: each query takes the mean of the values, weighted by the softmax of its products with the keys:
#'   `nv_softmax(scale * query %*% t(key)) %*% value`, for every example and head.
#' * `nv_embedding()`: the row of `weight` for each number in `x`.
#' * `nv_one_hot()`: for each number in `x` a vector with 1 at its place and else 0.
#'
#' `query`, `key` and `value` have the dimensions (batch, head, position, feature), where the first ones may be missing, or be more.
#' Where `query` has a multiple of the heads of `key` and `value`, each of these serves as many neighbouring heads of `query` (grouped
#' heads; where there is one of them, multi-query attention).
#'
#' A query that may see no key gives zeros, and has derivative zero.
#'
#' @param query,key,value Float tensors with at least two dimensions. `key` and `value` have the same number of positions, `query`
#'   and `key` the same number of features.
#' @param mask A `bool` tensor, true where a query may see a key, or a float tensor that is added to the products. Its dimensions
#'   are (batch, head, position of the query, position of the key), or the last ones of these; sizes of 1 are repeated.
#' @param causal Whether query `i` sees the keys 1 to `i` only, besides `mask`.
#' @param scale A number; by default one over the square root of the number of features.
#' @param x An integer tensor of numbers that count from 1, of any shape.
#' @param weight A tensor with a row for each number, or any slices of its first dimension.
#' @param n How many numbers there are; for a factor, which `nv_one_hot()` takes as `x`, by default the number of its levels.
#' @param dims Where the new dimension goes, by default behind the last one.
#' @param dtype The dtype of the result; by default that of R doubles.
#' @return `nv_attention()`: a float tensor of the sizes of `query`, with the features of `value`. `nv_embedding()`: a tensor with
#'   the dimensions of `x`, then those of a row. `nv_one_hot()`: a tensor with one dimension more than `x`.
#' @section Errors:
#' `anvil_error_shape` where shapes do not fit; `anvil_error_dtype` where `x` holds no integers; `anvil_error_index` where in debug
#' mode `nv_embedding()` gets a number that has no row. Compiled, it takes the nearest one, see [nv_subset()]. In `nv_one_hot()` it has
#' zeros only.
#' @references Vaswani et al. (2017), arXiv 1706.03762; Ainslie et al. (2023), arXiv 2305.13245.
#' @family functions of models
#' @export
#' @examples
#' q <- nv_tensor(matrix(c(1, 0, 2, 0, 1, 1), 3))
#' nv_attention(q, q, q, causal = TRUE)
#' words <- nv_tensor(matrix(1:6, 3), dtype = "f32")
#' nv_embedding(nv_tensor(c(3L, 1L, 3L)), words)
#' nv_one_hot(nv_tensor(c(2L, 1L)), n = 3)
#' nv_one_hot(factor(c("b", "a")))
nv_attention <- function(query, key, value, mask = NULL, causal = FALSE, scale = NULL) {
  given <- as_floats(query = as_operand(query, "query"), key = as_operand(key, "key"), value = as_operand(value, "value"))
  share <- heads_shared(lapply(given, sizes_of))
  check_flag(causal)
  scale <- if (is.null(scale)) 1 / sqrt(max(1L, last_size(given$query))) else check_number(scale)
  rank <- rank_of(given$key)
  scores <- head_product(nv_mul(split_heads(given$query, share), scale), given$key, rank)
  if (!is.null(mask)) scores <- masked_scores(scores, as_operand(mask, "mask"), share)
  if (causal) scores <- nv_ifelse(in_matrices(sizes_of(scores), nv_ge), scores, -Inf)
  join_heads(head_product(nv_softmax(scores), given$value, rank - 1L), share)
}

last_size <- function(x) utils::tail(sizes_of(x), 1L)

# Of every head of y, summed over the last dimension of x and dimension d of y.
head_product <- function(x, y, d) {
  heads <- seq_len(rank_of(y) - 2L)
  record("dot_general", list(x, y), list(contracting_dims = list(rank_of(x), d), batching_dims = list(heads, heads)))
}

# How many heads of the query each head of key and value serves.
heads_shared <- function(sizes) {
  ranks <- lengths(sizes)
  refuse <- function(message) wrong_shape(message, sizes)
  if (any(ranks < 2L) || any(ranks != ranks[1L])) refuse("`query`, `key` and `value` must have the same number of dimensions, at least 2.")
  rank <- ranks[[1L]]
  if (sizes$query[rank] != sizes$key[rank]) refuse("`query` and `key` must have the same number of features, their last dimension.")
  if (sizes$key[rank - 1L] != sizes$value[rank - 1L]) {
    refuse("`key` and `value` must have the same number of positions, their last dimension but one.")
  }
  batch <- lapply(sizes, utils::head, -2L)
  heads <- vapply(batch, function(b) if (rank > 2L) b[rank - 2L] else 1L, 1L)
  examples <- lapply(batch, utils::head, -1L)
  multiple <- if (heads[["key"]] == 0L) heads[["query"]] == 0L else heads[["query"]] %% heads[["key"]] == 0L
  if (!identical(batch$key, batch$value) || !identical(examples$query, examples$key) || !multiple) {
    refuse("`query`, `key` and `value` must agree in batch and heads; `query` may have a multiple of the heads.")
  }
  heads[["query"]] %/% max(1L, heads[["key"]])
}

# Heads that share one of the keys in a dimension of their own, behind that of the heads of the keys.
split_heads <- function(x, share) {
  if (share <= 1L) {
    return(x)
  }
  sizes <- sizes_of(x)
  d <- length(sizes) - 2L
  swap_dims(nv_reshape(x, c(sizes[seq_len(d - 1L)], share, sizes[d] %/% share, utils::tail(sizes, 2L))), d)
}

join_heads <- function(x, share) {
  if (share <= 1L) {
    return(x)
  }
  sizes <- sizes_of(x)
  d <- length(sizes) - 3L
  nv_reshape(swap_dims(x, d), c(sizes[seq_len(d - 1L)], sizes[d] * share, utils::tail(sizes, 2L)))
}

# Dimension d and the next one exchanged.
swap_dims <- function(x, d) nv_transpose(x, replace(seq_len(rank_of(x)), c(d, d + 1L), c(d + 1L, d)))

masked_scores <- function(scores, mask, share) {
  sizes <- sizes_of(scores)
  if (share > 1L) sizes <- c(utils::head(sizes, -4L), prod(utils::tail(sizes, 4L)[1:2]), utils::tail(sizes, 2L))
  given <- sizes_of(mask)
  fit <- length(given) <= length(sizes) && all(given == 1L | given == utils::tail(sizes, length(given)))
  if (!fit) wrong_shape("`mask` must have the last dimensions of the products of queries and keys, or sizes of 1.", list(given, sizes))
  flags <- type_tag(mask)[1L] == dtype_codes[["bool"]]
  if (!flags) check_dtype(mask, is_float_code, "`bool` or a float dtype")
  all <- c(rep(1L, length(sizes) - length(given)), given)
  if (share > 1L && all[length(all) - 2L] == 1L) all <- append(all, 1L, length(all) - 2L)
  mask <- nv_reshape(mask, all)
  if (length(all) < rank_of(scores)) mask <- split_heads(mask, share)
  if (flags) nv_ifelse(mask, scores, -Inf) else nv_add(scores, mask)
}

#' @rdname nv_attention
#' @export
nv_embedding <- function(x, weight) {
  x <- as_vector(x)
  weight <- as_operand(weight, "weight")
  rows <- sizes_of(weight)
  if (length(rows) == 0L || rows[1L] == 0L) wrong_shape("`weight` must have at least 1 dimension and 1 row.", rows)
  slices_at(weight, check_counted(x, rows[1L]))
}

#' @rdname nv_attention
#' @export
nv_one_hot <- function(x, n = NULL, dims = NULL, dtype = NULL) {
  if (is.factor(x)) {
    n <- n %||% nlevels(x)
    x <- level_numbers(x, "x")
  }
  if (is.null(n)) abort_anvil("argument", "`n` must say how many numbers there are.", "i They count from 1; a factor as `x` says it.")
  x <- check_integers(as_vector(x), "x")
  n <- check_whole_number(n, "n", 0L)
  dim <- if (is.null(dims)) rank_of(x) + 1L else check_whole_number(dims, "dims", 1L, rank_of(x) + 1L)
  nv_convert(is_number_of(x, n, dim), if (is.null(dtype)) default_dtypes()[["float"]] else dtype)
}

level_numbers <- function(x, name) {
  if (anyNA(x)) abort_anvil("missing", sprintf("`%s` has missing values, which are no level.", name), "i `addNA()` makes them one.")
  as.integer(x)
}

# Whether x is the number 1, 2, ..., n, along a new dimension.
is_number_of <- function(x, n, dim) {
  places <- replace(rep(1L, rank_of(x) + 1L), dim, n)
  nv_eq(nvl_iota(dim, "i32", places), nv_unsqueeze(x, dim))
}
