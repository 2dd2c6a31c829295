# Elements at places that a tensor lists, read and written: gathers and scatters with the dimension
# numbers of R's indices.

# The elements of dimension d, in the order of the integer vector `index`.
take_gathered <- function(x, d, index) {
  sizes <- sizes_of(x)
  record("gather", list(x, index), list(
    slice_sizes = replace(sizes, d, 1L), offset_dims = setdiff(seq_along(sizes), d), collapsed_slice_dims = d,
    operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = d,
    index_vector_dim = 2L, indices_are_sorted = FALSE, unique_indices = FALSE
  ))
}

# x with `update` at these elements of dimension d, or by `combine` joined to what is there.
put_gathered <- function(x, d, index, update, combine = NULL) {
  nvl_scatter(x, index, update,
    update_window_dims = setdiff(seq_len(rank_of(x)), d), inserted_window_dims = d, input_batching_dims = integer(),
    scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = d, index_vector_dim = 2L,
    update_computation = combine
  )
}

# Single elements: `points` has a row for each, and a column for each dimension of x.
take_points <- function(x, points) {
  dims <- seq_len(rank_of(x))
  record("gather", list(x, points), list(
    slice_sizes = rep(1L, length(dims)), offset_dims = integer(), collapsed_slice_dims = dims,
    operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = dims,
    index_vector_dim = 2L, indices_are_sorted = FALSE, unique_indices = FALSE
  ))
}

put_points <- function(x, points, update) {
  dims <- seq_len(rank_of(x))
  nvl_scatter(x, points, update,
    update_window_dims = integer(), inserted_window_dims = dims, input_batching_dims = integer(),
    scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = dims, index_vector_dim = 2L
  )
}
