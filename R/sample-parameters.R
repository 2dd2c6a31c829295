# The parameters of a density: their structure, names and places in the one vector that the samplers work on, and
# where chains start.

# names: those of a vector that has some, else `beta[1]`, `Sigma[1,2]`, `mu`; of nested lists joined by a dot.
parameter_layout <- function(start) {
  leaves <- flatten(start)
  if (length(leaves) == 0L || is.data.frame(start)) wrong_start(start)
  shapes <- lapply(leaves, start_shape, in_list = is_container(start))
  sizes <- vapply(shapes, prod, 0)
  tree <- build_tree(start)
  paths <- vapply(seq_along(leaves), function(i) sub("^x[.]?", "", gsub("$", ".", tree_path(tree, i), fixed = TRUE)), "")
  unnamed <- !grepl("^[^[]", paths)
  paths[unnamed] <- paste0("par", paths[unnamed])
  own <- if (length(leaves) == 1L && !is.object(leaves[[1L]])) names(leaves[[1L]])
  names <- own %||% unlist(Map(element_names, paths, shapes), use.names = FALSE)
  list(tree = tree, shapes = shapes, ends = as.integer(cumsum(sizes)), sizes = as.integer(sizes), names = names)
}

wrong_start <- function(x) {
  wrong_argument("start", "a vector of finite numbers, a type, a nested list of them, or a function that returns one", x)
}

# A single number in a list is a scalar, as a whole start it is a vector.
start_shape <- function(x, in_list) {
  if (inherits(x, "AbstractTensor") || is_tensor(x)) {
    if (!is_float_dtype(dtype(x)) || prod(shape(x)) == 0 || is_tensor(x) && !all(is.finite(as_array(x)))) wrong_start(x)
    return(as.integer(shape(x)))
  }
  if (is.object(x) || !is.numeric(x) || length(x) == 0L || !all(is.finite(x))) wrong_start(x)
  as.integer(dim(x) %||% if (in_list && length(x) == 1L) integer() else length(x))
}

element_names <- function(path, shape) {
  if (!length(shape)) {
    return(path)
  }
  sprintf("%s[%s]", path, apply(arrayInd(seq_len(prod(shape)), shape), 1L, paste, collapse = ","))
}

# The parts of a vector in the structure of the parameters.
structured_parameters <- function(layout, q) {
  part <- function(end, size, shape) {
    x <- if (size == length(layout$names)) q else nv_static_slice(q, end - size + 1L, end)
    if (identical(shape, size)) x else nv_reshape(x, shape)
  }
  unflatten(layout$tree, unname(Map(part, layout$ends, layout$sizes, layout$shapes)))
}

# The layout, and the starts of chains as rows, NaN where only a type is given, which stands for a random number.
chain_starts <- function(start, settings) {
  made <- if (is.function(start)) lapply(seq_len(settings$chains), start) else rep(list(start), settings$chains)
  layout <- parameter_layout(made[[1L]])
  for (other in made[-1L]) {
    if (!identical(parameter_layout(other)[c("tree", "shapes")], layout[c("tree", "shapes")])) {
      abort_anvil("argument", "`start` must give all chains parameters of one structure.")
    }
  }
  rows <- lapply(made, function(start) unlist(lapply(flatten(start), start_numbers)))
  list(layout = layout, starts = do.call(rbind, rows))
}

start_numbers <- function(x) if (is_tensor(x)) as.vector(as_array(x)) else if (is.numeric(x)) as.vector(x) else rep(NaN, prod(shape(x)))

# ---- data --------------------------------------------------------------------------------

# Further arguments of a density: the tensors among their leaves, and how they are put back. Single numbers, strings and functions
# are known when the density is traced.
split_data <- function(data, dtype) {
  leaves <- lapply(flatten(data), function(x) {
    if (is_value(x) || is.function(x) || is.character(x) || is_literal(x)) x else nv_tensor(x, if (is.double(x) && !is.object(x)) dtype)
  })
  is_tensor <- vapply(leaves, is_value, NA)
  list(tree = build_tree(data), leaves = replace(leaves, is_tensor, list(NULL)), is_tensor = is_tensor, tensors = leaves[is_tensor])
}

with_tensors <- function(data, tensors) unflatten(data$tree, replace(data$leaves, data$is_tensor, tensors))
