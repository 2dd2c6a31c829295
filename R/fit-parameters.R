# Parameters and data as fits and samplers hand them to the user's function: where each parameter stands in the one vector
# that the algorithms work on, and which of the further arguments are tensors.

# Where the leaves of `start` stand in the vector. A single number in a list is a scalar, as a whole start it is a vector.
# `found` are the leaves, R arrays or types.
parameter_layout <- function(start, found) {
  tree <- build_tree(start)
  in_list <- !inherits(tree, "LeafNode")
  shapes <- lapply(found, function(x) {
    if (inherits(x, "AbstractTensor")) shape(x) else as.integer(dim(x) %||% if (in_list && length(x) == 1L) integer() else length(x))
  })
  sizes <- vapply(shapes, prod, 0)
  list(tree = tree, shapes = shapes, ends = as.integer(cumsum(sizes)), sizes = as.integer(sizes), size = as.integer(sum(sizes)))
}

# A vector in the structure of the parameters, in a trace.
structured_tensors <- function(layout, par) {
  part <- function(end, size, shape) {
    x <- if (size == layout$size) par else nv_static_slice(par, end - size + 1L, end)
    if (identical(shape, size)) x else nv_reshape(x, shape)
  }
  unflatten(layout$tree, unname(Map(part, layout$ends, layout$sizes, layout$shapes)))
}

# An R array of a tensor of floats; anything that is no parameter is an error that says what `start` can be.
parameter_leaf <- function(x, expected = "a vector of finite numbers, a float tensor, or a nested list of them") {
  if (is_tensor(x) && is_float_dtype(dtype(x))) x <- as_array(x)
  if (is.object(x) || !is.numeric(x) || length(x) == 0L || !all(is.finite(x))) wrong_argument("start", expected, x)
  x
}

# ---- data --------------------------------------------------------------------------------

# Further arguments: the tensors among their leaves, and how to put them back. Single numbers, strings and functions are
# known when the user's function is traced.
data_of <- function(data, dtype) {
  leaves <- unlist(Map(data_leaves, data, names(data) %||% rep("", length(data)), dtype), recursive = FALSE, use.names = FALSE)
  is_data <- vapply(leaves, is_value, NA)
  list(tree = build_tree(data), leaves = replace(leaves, is_data, list(NULL)), is_data = is_data, tensors = leaves[is_data])
}

data_leaves <- function(x, name, dtype) {
  leaves <- tryCatch(lapply(flatten(x), data_leaf, dtype), anvil_error_argument = identity)
  if (inherits(leaves, "condition")) {
    what <- if (nzchar(name)) sprintf("`%s`", name) else "What has no name"
    abort_anvil("argument", paste(what, "is handed on to the function, and neither data nor a number."), c(got_value(x), paste("i", conditionMessage(leaves))))
  }
  leaves
}

data_leaf <- function(x, dtype) {
  if (is_sparse_matrix(x)) {
    nv_sparse(x, dtype = dtype)
  } else if (is_value(x) || is.function(x) || is.character(x)) {
    x
  } else if (is.object(x) || (is.atomic(x) && (length(x) != 1L || !is.null(dim(x))))) {
    data_tensor(x, dtype)
  } else {
    x
  }
}

# Doubles become tensors of `dtype`, data frames matrices.
data_tensor <- function(x, dtype) {
  local_default_dtypes(float = dtype) # of objects that say none
  if (is.data.frame(x)) x <- as_tensor_data(x)
  nv_tensor(x, if (is.double(x) && !is.object(x)) dtype)
}

data_with <- function(data, tensors) unflatten(data$tree, replace(data$leaves, data$is_data, tensors))
