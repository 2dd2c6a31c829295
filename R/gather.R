# Elements at places that a tensor lists, read and written: gathers and scatters with the dimension
# numbers of R's indices.

# What lies at these places of the dimensions `dims`: whole slices of the others, which become the dimensions `window` of
# the result. `along` is the dimension of `places` that holds one place, if there is one; else one behind the last.
gather_at <- function(x, places, dims, window, along = rank_of(places) + 1L) {
  sizes <- sizes_of(places)
  if (any(sizes == 0L) && any(sizes_of(x)[dims] == 0L)) { # a slice has one element, which is not there
    shape <- integer(length(window) + length(sizes[-along]))
    shape[window] <- sizes_of(x)[-dims]
    shape[setdiff(seq_along(shape), window)] <- sizes[-along]
    return(nv_reshape(x, shape))
  }
  record("gather", list(x, places), list(
    slice_sizes = replace(sizes_of(x), dims, 1L), offset_dims = window, collapsed_slice_dims = dims,
    operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = dims,
    index_vector_dim = along, indices_are_sorted = FALSE, unique_indices = FALSE
  ))
}

# The elements of dimension d, in the order of the integer vector `index`.
take_gathered <- function(x, d, index) gather_at(x, index, d, setdiff(seq_len(rank_of(x)), d))

# The slices of the first dimension, of a vector the elements, at places in a tensor of any shape.
slices_at <- function(x, places) gather_at(x, places, 1L, rank_of(places) + seq_len(rank_of(x) - 1L))

# Single elements: `points` has a row for each, and a column for each dimension of x.
take_points <- function(x, points) gather_at(x, points, seq_len(rank_of(x)), integer(), 2L)

# x with `update` at these places, one in a row, of the dimensions `dims`, or by `combine` joined to what is there.
scatter_at <- function(x, places, update, dims, combine = NULL) {
  nvl_scatter(x, places, update,
    update_window_dims = setdiff(seq_len(rank_of(x)), dims), inserted_window_dims = dims, input_batching_dims = integer(),
    scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = dims, index_vector_dim = 2L,
    update_computation = combine
  )
}

put_gathered <- function(x, d, index, update, combine = NULL) scatter_at(x, index, update, d, combine)
put_points <- function(x, points, update) scatter_at(x, points, update, seq_len(rank_of(x)))
