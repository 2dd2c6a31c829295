# The parameters of a density: the names of their elements, and where chains start.

# The layout of the parameters with the names of their elements: those of a vector that has some, else `beta[1]`, `Sigma[1,2]`,
# `mu`; of nested lists joined by a dot.
sampled_layout <- function(start) {
  expected <- "a vector of finite numbers, a type, a nested list of them, or a function that returns one"
  leaves <- flatten(start)
  if (length(leaves) == 0L || is.data.frame(start)) wrong_argument("start", expected, start)
  found <- lapply(leaves, function(x) {
    is_type <- inherits(x, "AbstractTensor") && is_float_dtype(dtype(x)) && prod(shape(x)) > 0
    if (is_type) x else parameter_leaf(x, expected)
  })
  layout <- parameter_layout(start, found)
  paths <- vapply(seq_along(leaves), function(i) sub("^x[.]?", "", gsub("$", ".", tree_path(layout$tree, i), fixed = TRUE)), "")
  unnamed <- !grepl("^[^[]", paths)
  paths[unnamed] <- paste0("par", paths[unnamed])
  own <- if (length(leaves) == 1L && !is.object(leaves[[1L]])) names(leaves[[1L]])
  layout$names <- own %||% unlist(Map(element_names, paths, layout$shapes), use.names = FALSE)
  layout
}

element_names <- function(path, shape) {
  if (!length(shape)) {
    return(path)
  }
  sprintf("%s[%s]", path, apply(arrayInd(seq_len(prod(shape)), shape), 1L, paste, collapse = ","))
}

# The layout, and the starts of chains as rows, NaN where only a type is given, which stands for a random number.
chain_starts <- function(start, settings) {
  made <- if (is.function(start)) lapply(seq_len(settings$chains), start) else rep(list(start), settings$chains)
  layout <- sampled_layout(made[[1L]])
  for (other in made[-1L]) {
    if (!identical(sampled_layout(other)[c("tree", "shapes")], layout[c("tree", "shapes")])) {
      abort_anvil("argument", "`start` must give all chains parameters of one structure.")
    }
  }
  rows <- lapply(made, function(start) unlist(lapply(flatten(start), start_numbers)))
  list(layout = layout, starts = do.call(rbind, rows))
}

start_numbers <- function(x) if (is_tensor(x)) as.vector(as_array(x)) else if (is.numeric(x)) as.vector(x) else rep(NaN, prod(shape(x)))
