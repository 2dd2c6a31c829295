# Matrices of second derivatives that fall into groups of effects: dense blocks side by side, or one block of all.

layout_by_group <- function(groups) {
  list(
    n = groups$n, dtype = groups$dtype, longest = groups$size,
    curvature = function(along) group_blocks(groups, along),
    times = function(blocks, v) from_groups(groups, vectorize(function(block, v) nv_matmul(block, v), axis = -1L)(blocks, grouped(groups, v))),
    log_det = function(blocks) log_det_of(group_roots(blocks)),
    solve = function(blocks, ridge, b) solve_by_group(groups, group_roots(blocks, ridge), b)
  )
}

# Effects that meet, directly or through others, are a group.
meeting_groups <- function(meeting) {
  n <- meeting$n
  label <- seq_len(n)
  repeat {
    new <- pmin(label, as.vector(tapply(label[meeting$pairs[, 2L]], factor(meeting$pairs[, 1L], seq_len(n)), min, default = n)))
    new <- new[new]
    if (identical(new, label)) break
    label <- new
  }
  split(seq_len(n), label)
}

# Groups are columns of `members`, the places of effects, and n + 1 where a group has less than the largest; one group where
# that would be more than the whole matrix.
effect_groups <- function(meeting, dtype) {
  n <- meeting$n
  of <- meeting_groups(meeting)
  if (length(of) * max(lengths(of))^2 > n^2) of <- list(seq_len(n))
  largest <- max(lengths(of))
  members <- vapply(of, function(places) c(places, rep(n + 1L, largest - length(places))), integer(largest))
  members <- matrix(as.integer(members), largest)
  seeds <- matrix(0, n + 1L, largest)
  seeds[cbind(c(members), c(row(members)))] <- 1
  list(
    n = n, dtype = dtype, size = largest, count = ncol(members), members = c(members), place = match(seq_len(n), members),
    seeds = seeds[seq_len(n), , drop = FALSE],
    fill = array(apply(members > n, 2L, function(free) diag(as.numeric(free), largest)), c(largest, largest, ncol(members)))
  )
}

# ---- matrices of second derivatives by group -------------------------------------------------------

# Column q holds those by the effects that are the q-th of their groups: no two of them meet the same effect.
# What fills up groups has ones on the diagonal. [size, size, count].
group_blocks <- function(groups, along) {
  compressed <- across_columns(along, nv_tensor(groups$seeds, groups$dtype))
  rows <- nv_reshape(by_group(groups, compressed), c(groups$size, groups$count, groups$size))
  nv_transpose(rows, c(1L, 3L, 2L)) + nv_tensor(groups$fill, groups$dtype)
}

grouped <- function(groups, x) nv_reshape(by_group(groups, x), c(groups$size, groups$count))
from_groups <- function(groups, x) slices_at(nv_flatten(x), nv_tensor(groups$place))
by_group <- function(groups, x) {
  zero <- nv_fill(0, replace(sizes_of(x), 1L, 1L), dtype(x))
  slices_at(nv_concatenate(x, zero, dimension = 1L), nv_tensor(groups$members))
}

# Cholesky factors, upper triangular; `ridge` is added to the diagonals.
group_roots <- function(blocks, ridge = NULL) {
  vectorize(function(block) chol(if (is.null(ridge)) block else block + ridge * nv_eye(shape(block)[1L], dtype = dtype(block))), axis = -1L)(blocks)
}

log_det_of <- function(root) 2 * sum(vectorize(function(r) sum(log(nv_extract_diag(r))), axis = -1L)(root))

solve_by_group <- function(groups, root, b) {
  solved <- vectorize(function(r, b) {
    half <- nv_triangular_solve(r, nv_unsqueeze(b, 2L), lower = FALSE, transpose_a = TRUE)
    nv_squeeze(nv_triangular_solve(r, half, lower = FALSE), 2L)
  }, axis = -1L)(root, grouped(groups, b))
  from_groups(groups, solved)
}
