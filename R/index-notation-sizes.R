# The sizes of the indices of a formula: given, or from what is read. A place is one dimension of a read: its affine form,
# the size `n` of the dimension, and the words to name it by.

reads_in <- function(node) if (node$kind == "read") list(node) else unlist(lapply(node$args, reads_in), recursive = FALSE)

read_places <- function(reads) {
  of_read <- function(read) {
    n <- sizes_of(read$x)
    lapply(seq_along(n), function(d) c(read$forms[[d]], list(n = n[d], dim = d, expr = read$expr)))
  }
  unlist(lapply(reads, of_read), recursive = FALSE)
}

check_given_sizes <- function(size) {
  given <- as.list(size)
  labels <- names(given) %||% character()
  whole <- vapply(given, function(n) length(n) == 1L && is_whole(n) && n >= 0 && n <= .Machine$integer.max, NA)
  if (is.object(size) || length(labels) != length(given) || !all(nzchar(labels)) || anyDuplicated(labels) || !all(whole)) {
    wrong_argument("size", "a list or vector of whole numbers with the names of indices", size)
  }
  vapply(given, as.integer, 1L)
}

# `size` with the sizes of all `indices`: of one that stands alone that of the dimension, of others
# the largest with which every read is inside.
infer_sizes <- function(places, size, indices) {
  alone <- Filter(function(p) p$constant == 0 && identical(unname(p$by), 1), places)
  alone <- Filter(function(p) !(names(p$by) %in% names(size)), alone)
  for (p in alone) {
    first <- Filter(function(q) names(q$by) == names(p$by), alone)[[1L]]
    if (first$n != p$n) {
      abort_anvil("shape", sprintf("`%s` has two sizes.", names(p$by)), c(
        sprintf("x Dimension %d of `%s` has size %d.", first$dim, code_text(first$expr), first$n),
        sprintf("x Dimension %d of `%s` has size %d.", p$dim, code_text(p$expr), p$n)
      ))
    }
    size[names(p$by)] <- p$n
  }
  repeat {
    unknown <- setdiff(indices, names(size))
    bounds_of <- function(index) Filter(function(p) index %in% names(p$by) && all(names(p$by) %in% c(index, names(size))), places)
    bounds <- lapply(unknown, bounds_of)
    solvable <- which(lengths(bounds) > 0L)
    if (!length(solvable)) break
    index <- unknown[solvable[1L]]
    size[index] <- min(vapply(bounds[[solvable[1L]]], largest_inside, 1L, index, size))
  }
  if (length(unknown)) {
    abort_anvil("index", sprintf("The size of `%s` is not known.", unknown[1L]), c(
      "x Nothing is read that bounds it.", sprintf("i Give it, as by `size = c(%s = 3)`.", unknown[1L])
    ))
  }
  size
}

# The first and the last position that a form takes.
range_of_form <- function(form, size) {
  ends <- vapply(names(form$by), function(index) range(form$by[[index]] * c(1, size[[index]])), numeric(2L))
  form$constant + if (length(ends)) rowSums(ends) else c(0, 0)
}

largest_inside <- function(place, index, size) {
  times <- place$by[[index]]
  others <- range_of_form(list(by = place$by[names(place$by) != index], constant = place$constant), size)
  n <- floor(if (times > 0) (place$n - others[2L]) / times else (others[1L] - 1) / -times)
  if (n < 1 && place$n > 0L) {
    abort_anvil("index", sprintf("No `%s` from 1 on lies inside of `%s`.", index, code_text(place$expr)), c(
      sprintf("x Dimension %d has size %d.", place$dim, place$n), sprintf("i Give the size of `%s`, and a `border`.", index)
    ))
  }
  as.integer(max(n, 0))
}

check_inside <- function(places, size) {
  for (p in places) {
    if (any(size[names(p$by)] == 0L)) next
    ends <- range_of_form(p, size)
    if (ends[1L] < 1 || ends[2L] > p$n) {
      with <- if (length(p$by)) paste0(", with ", paste(sprintf("`%s` to %d", names(p$by), size[names(p$by)]), collapse = ", "))
      positions <- sprintf("and the positions go from %.0f to %.0f%s.", ends[1L], ends[2L], with %||% "")
      abort_anvil("index", sprintf("`%s` reads outside of the tensor.", code_text(p$expr)), c(
        sprintf("x Dimension %d has size %d, %s", p$dim, p$n, positions),
        if (length(p$by)) "i Give a smaller `size`, or a `border`." else "i Positions count from 1."
      ))
    }
  }
}
