# How the matrix of second derivatives by the effects is kept: by groups, or as a sparse one of few colours. A layout has the
# matrix from its products with vectors, its product with one, the logarithm of its determinant, and solves systems with it.

# Sparse where that is far less than the blocks. Of few effects one block is faster than anything else.
curvature_layout <- function(meeting, dtype) {
  sizes <- lengths(meeting_groups(meeting))
  by_group <- meeting$n <= 32L || length(sizes) * max(sizes)^2 <= 4 * nrow(meeting$pairs) || !rlang::is_installed("Matrix")
  if (by_group) layout_by_group(effect_groups(meeting, dtype)) else sparse_layout(meeting, dtype)
}

sparse_layout <- function(meeting, dtype) {
  n <- meeting$n
  row <- c(meeting$pairs[, 1L], seq_len(n))
  column <- c(meeting$pairs[, 2L], seq_len(n))
  place <- sort(unique((pmin(row, column) - 1) * n + pmax(row, column) - 1)) # in the lower triangle, from 0
  i <- as.integer(place %% n) + 1L
  j <- as.integer(place %/% n) + 1L
  s <- analysed(list(size = n, i = i, j = j))
  colour <- star_colours(n, i, j)
  seeds <- matrix(0, n, max(colour))
  seeds[cbind(seq_len(n), colour)] <- 1
  swap <- colour[i] < colour[j]
  read <- cbind(ifelse(swap, j, i), colour[ifelse(swap, i, j)])
  in_double <- function(f) function(values, ...) nv_convert(f(nv_convert(values, "f64"), ...), dtype)
  list(
    n = n, dtype = dtype, longest = max(tabulate(c(i, j), n)),
    curvature = function(along) take_points(across_columns(along, nv_tensor(seeds, dtype)), nv_tensor(read, "i32")),
    times = function(values, v) nv_squeeze(nv_matmul(mirrored(values, i, j, c(n, n)), v), 2L),
    log_det = in_double(function(values) log_determinant(s, values)),
    solve = in_double(function(values, ridge, b) {
      if (!is.null(ridge)) values <- nv_add(values, nv_convert(nv_mul(ridge, nv_tensor(as.numeric(i == j), dtype)), "f64"))
      solution(s, values, nv_convert(b, "f64"))
    })
  )
}

across_columns <- function(f, seeds) vectorize(f, axis = -1L)(seeds)

# Colours of effects such that the products of a symmetric matrix with the sums of unit vectors of a colour show all of its
# elements ("restricted star colouring"): effects that meet differ, and of one colour are two that meet a third one only if its
# colour is lower. Then (i, j) stands in row i of the product for the colour of j where that is the lower one: no other
# effect of this colour meets i. Effects that meet many come first, and get low colours.
star_colours <- function(n, i, j) {
  off <- i != j
  meets <- split(c(j[off], i[off]), factor(c(i[off], j[off]), seq_len(n)))
  colour <- integer(n)
  around <- matrix(FALSE, n, 8L) # which colours the effects have that each one meets
  k <- 0L
  for (v in order(-lengths(meets))) {
    near <- meets[[v]]
    own <- colour[near]
    shown <- around[near, seq_len(k), drop = FALSE]
    barred <- colSums(shown & (own == 0L | col(shown) < own)) > 0
    barred[own] <- TRUE
    colour[v] <- match(FALSE, barred, nomatch = k + 1L)
    k <- max(k, colour[v])
    if (k > ncol(around)) around <- cbind(around, matrix(FALSE, n, ncol(around)))
    around[near, colour[v]] <- TRUE
  }
  colour
}
