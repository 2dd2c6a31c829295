# Which random effects meet in a second derivative: the places of the matrix's elements, from few of its products with vectors.
# Columns are taken together in ranges, which are halved again and again. A range that shows no element in a row has none there,
# so that at each step ranges whose halves can have no row in common share a product: for a band that is a fixed number
# of products each time, and never more than there are ranges.

# Pairs of effects, as a matrix of two columns: at two points in the neighbourhood of the start, where no derivative vanishes by
# chance. NaN counts as meeting.
meeting_effects <- function(joint, u0, problem) {
  n <- length(u0)
  shown <- problem
  shown$f <- with_data_as_list(function(par, given) function(u, seeds) across_columns(curvature_along(joint, u, par, given), seeds))
  columns <- compiled(shown, function(f, par, u, seeds) f(par)(u, seeds), identity)
  near <- function(x, k) x + 0.01 * (1 + abs(x)) * sin(seq_along(x) * k)
  products <- function(seeds) {
    seeds <- nv_tensor(seeds, problem$dtype)
    Reduce(`|`, lapply(c(1.1, 2.3), function(k) {
      found <- as_array(columns(near(problem$par, k), nv_tensor(near(u0, k), problem$dtype), seeds))
      is.na(found) | found != 0
    }))
  }
  list(n = n, pairs = places_by_halving(n, products))
}

# `products(seeds)` says where those with the columns of a matrix are not zero.
places_by_halving <- function(n, products) {
  weight <- 1.5 + cos(0.7 * seq_len(n)^2) # nothing cancels
  range <- rep(1L, n) # of each column
  row <- seq_len(n) # and where the ranges may have elements
  of <- rep(1L, n)
  repeat {
    count <- max(range)
    colour <- apart_colours(count, row, of)
    hit <- in_portions(products, cbind(seq_len(n), colour[range], weight), n, max(colour))
    keep <- hit[cbind(row, colour[of])]
    row <- row[keep]
    of <- of[keep]
    if (count == n) {
      return(cbind(row, of))
    }
    size <- tabulate(range, count)
    second <- sequence(size) > (size[range] + 1L) %/% 2L
    before <- cumsum(1L + (size > 1L)) - (1L + (size > 1L))
    range <- before[range] + 1L + second
    both <- size[of] > 1L
    row <- c(row, row[both])
    of <- c(before[of] + 1L, before[of[both]] + 2L)
  }
}

# Colours such that no two ranges of one colour share a row.
apart_colours <- function(count, row, of) {
  if (max(tabulate(row), 0L) > count / 2) {
    return(seq_len(count))
  }
  rows <- split(row, factor(of, seq_len(count)))
  taken <- matrix(FALSE, max(row, 1L), 8L)
  colour <- integer(count)
  for (v in seq_len(count)) {
    free <- colSums(taken[rows[[v]], , drop = FALSE]) == 0
    colour[v] <- match(TRUE, free, nomatch = ncol(taken) + 1L)
    if (colour[v] > ncol(taken)) taken <- cbind(taken, matrix(FALSE, nrow(taken), ncol(taken)))
    taken[rows[[v]], colour[v]] <- TRUE
  }
  colour
}

# Seeds are given as rows (row, column, weight), and made some columns at a time, of few different numbers: each is a program.
in_portions <- function(products, seeds, n, k) {
  hit <- matrix(FALSE, n, k)
  for (first in seq(1L, k, by = 256L)) {
    at <- first - 1L + seq_len(min(256L, k - first + 1L))
    portion <- matrix(0, n, c(8L, 64L, 256L)[findInterval(length(at), c(0L, 9L, 65L))])
    some <- seeds[seeds[, 2L] %in% at, , drop = FALSE]
    portion[cbind(some[, 1L], some[, 2L] - first + 1L)] <- some[, 3L]
    hit[, at] <- products(portion)[, seq_along(at)]
  }
  hit
}
