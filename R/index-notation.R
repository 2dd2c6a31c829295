#' Formulas with indices
#'
#' `nv_index(c[i, j] ~ sum(a[i, k] * b[k, j]))` computes a tensor from what each of its elements is: the left side names the indices of the
#' result in order, the right side is the value at these indices. The name on the left is only a label; a left side
#' without indices, `s ~ sum(x[i])`, is a scalar.
#'
#' # The right side
#'
#' * `x[e1, e2]` reads a tensor or an R array. There is one subscript for each dimension: a sum of indices times whole numbers,
#'   such as `i`, `2 * i + d - 1`, `n + 1 - i` or `1`. What stands before the bracket is R code without indices.
#' * An index by itself is a number, which counts from 1: in `f64` if the formula reads such a tensor, else `i32`.
#' * `sum()`, `prod()`, `max()`, `min()`, `mean()`, `any()` and `all()` go over all indices inside of them that are neither on the left
#'   nor in a reduction around them; those inside of an inner reduction are that one's own. `over = "k"` or
#'   `over = c("k", "d")` says it otherwise. With several arguments, as in `max(x[i], 0)`, each is reduced, and what they give is joined.
#' * Other functions are called for the numbers at one place: operators, `exp()`, `ifelse()`, `nv_*` functions and functions
#'   of your own, which get scalars ([vectorize()]). Arguments without indices are handed on as they are.
#' * Code without indices is R code: `x[i] / sum(x)` divides by the sum of the whole tensor, `n` is a number of yours.
#'
#' Indices are the names on the left side, those in `size` and in `over`, and those that stand alone in a subscript inside of a
#' reduction; `x[i, (n)]` reads at a number `n` there. An index is the same in the whole formula, with one size.
#'
#' # Sizes and borders
#'
#' Where an index stands alone, it has the size of the dimension. Where it does not, as `i` in `x[i + d - 1] * w[d]`, its size is
#' the largest with which every read is inside of its tensor. `size` overrules both; a read outside is then an error,
#' unless `border` says what lies there: `"zero"`, or a number; `"clamp"`, the nearest element; `"wrap"`, the elements again
#' from the other end.
#'
#' # How it is computed
#'
#' A formula becomes primitives, so it can be compiled, differentiated and batched as any other code. A sum of a product becomes
#' products of matrices, or a convolution where an index of the result and one of the sum meet in a subscript; factors without
#' an index of the sum stand before it, and more than two factors are multiplied in the order that costs least. Everything else
#' is an elementwise function of all indices that is reduced: compiled it is one nest of loops that stores nothing
#' in between, in debug mode every step is a tensor.
#'
#' @param formula A formula with two sides.
#' @param data A list with names, where variables are looked up before the environment of the formula.
#' @param size Sizes of indices, as `c(i = 5, d = 3)`.
#' @param border What lies outside of the tensors.
#' @return A tensor with one dimension for each index on the left side. Its dtype is that of the same operations on whole tensors.
#' @section Errors:
#' `anvil_error_index` for subscripts that are no sum of multiples of indices, too few or many of them, reads outside, indices that nothing
#' bounds or that are reduced by nothing; `anvil_error_shape` where an index has two sizes; `anvil_error_argument` for
#' names without a value. All name the term.
#' @seealso [nv_einsum()]
#' @export
#' @examples
#' a <- nv_tensor(matrix(1:6, 2), "f32")
#' b <- nv_tensor(matrix(1:6, 3), "f32")
#' nv_index(c[i, j] ~ sum(a[i, k] * b[k, j]))
#' nv_index(c[i, j] ~ sum(a[k, i] * a[k, j])) # crossprod(a)
#' nv_index(c[i, j, k, l] ~ a[i, j] * b[k, l]) |> shape() # outer product
#' m <- a %*% b
#' nv_index(d[i] ~ m[i, i]) # diagonal
#' nv_index(s ~ sum(m[i, i])) # trace
#' nv_index(p[i, j] ~ exp(a[i, j]) / sum(exp(a[i, l]))) # softmax of the rows
#' nv_index(d[i, j] ~ sqrt(sum((a[i, k] - b[k, j])^2))) # distances
#'
#' # sums of three neighbours, first differences, the sums so far
#' x <- nv_tensor(c(1, 4, 9, 16, 25))
#' nv_index(y[i] ~ sum(x[i + d - 1]), size = c(d = 3))
#' nv_index(y[i] ~ x[i + 1] - x[i], size = c(i = 4))
#' nv_index(y[i] ~ sum(ifelse(k <= i, x[k], 0)), size = c(i = 5))
#'
#' # a convolution of images with stride 2, and the largest of each 2 x 2 block
#' image <- nv_tensor(array(sin(1:49), c(7, 7, 1)))
#' w <- nv_tensor(array(cos(1:18), c(3, 3, 1, 2)))
#' y <- nv_index(y[i, j, o] ~ sum(image[2 * i + d - 2, 2 * j + e - 2, c] * w[d, e, c, o]))
#' shape(y)
#' nv_index(z[i, j, c] ~ max(image[2 * i + d - 2, 2 * j + e - 2, c]), size = c(d = 2, e = 2))
#' nv_index(
#'   y[i, j, c] ~ mean(image[i + d - 2, j + e - 2, c]),
#'   size = c(i = 7, j = 7, d = 3, e = 3), border = "clamp"
#' )
#'
#' # compiled and differentiated
#' loss <- function(a, b) nv_index(s ~ sum(tanh(a[i, k] * b[k, j])))
#' jit(gradient(loss))(a, b)$a
nv_index <- function(formula, data = NULL, size = NULL, border = "error") {
  if (length(data) && (!is_container(data) || is.null(names(data)))) wrong_argument("data", "a list with names", data)
  if (is.object(border) || !(is.numeric(border) && length(border) == 1L)) check_choice(border, c("error", "zero", "clamp", "wrap"))
  size <- check_given_sizes(size)
  parsed <- parse_formula(formula, data, size)
  if (parsed$right$kind == "constant") scalar_constant(parsed$right)
  reads <- reads_in(parsed$right)
  places <- read_places(reads)
  used <- union(parsed$left, indices_in(parsed$right))
  sizes <- infer_sizes(places, size, used)
  if (identical(border, "error")) check_inside(places, sizes)
  double <- any(vapply(reads, function(read) identical(as.character(dtype(read$x)), "f64"), NA))
  ctx <- list(sizes = sizes, order = used, border = border, index_dtype = if (double) "f64" else "i32")
  as_operand(spread_term(term_of(parsed$right, ctx), parsed$left, ctx), "formula")
}

# All indices below a node, bound or not.
indices_in <- function(node) {
  if (node$kind %in% c("call", "reduction")) unique(unlist(lapply(node$args, indices_in))) else open_indices(node)
}
