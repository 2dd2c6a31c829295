# Generic functions of R that have no meaning for tensors here. Their default methods would take
# the data out, or fail deep inside of R: say at once what to do.

refused <- function(generic, hint = character()) {
  force(generic)
  function(...) unsupported(generic, hint)
}

take_out <- "i Take the data out as an R array with `as_array()`; inside of `jit()` there is no such function."

#' @rawNamespace
#' S3method(xtfrm, AnvilTensor, xtfrm_tensor)
#' S3method(xtfrm, AnvilBox, xtfrm_tensor)
#' importFrom(stats, median, quantile)
#' S3method(median, AnvilTensor, median_tensor)
#' S3method(median, AnvilBox, median_tensor)
#' S3method(quantile, AnvilTensor, quantile_tensor)
#' S3method(quantile, AnvilBox, quantile_tensor)
#' S3method(unique, AnvilTensor, unique_tensor)
#' S3method(unique, AnvilBox, unique_tensor)
#' S3method(duplicated, AnvilTensor, duplicated_tensor)
#' S3method(duplicated, AnvilBox, duplicated_tensor)
xtfrm_tensor <- refused("order", c("i Use `nv_argsort()`.", take_out))
median_tensor <- refused("median", take_out)
quantile_tensor <- refused("quantile", take_out)
unique_tensor <- refused("unique", take_out)
duplicated_tensor <- refused("duplicated", take_out)

#' @rawNamespace
#' S3method(solve, AnvilTensor, solve_tensor)
#' S3method(solve, AnvilBox, solve_tensor)
#' S3method(qr, AnvilTensor, qr_tensor)
#' S3method(qr, AnvilBox, qr_tensor)
#' S3method(determinant, AnvilTensor, determinant_tensor)
#' S3method(determinant, AnvilBox, determinant_tensor)
solve_tensor <- refused("solve", c("i Use `nv_triangular_solve()`, for a positive definite matrix after `nv_chol()`.", take_out))
qr_tensor <- refused("qr", c("i `nv_chol()` is there for positive definite matrices.", take_out))
determinant_tensor <- refused("det", c("i That of a positive definite `x` is `prod(nv_extract_diag(chol(x)))^2`.", take_out))

#' @rawNamespace
#' S3method(rep, AnvilTensor, rep_tensor)
#' S3method(rep, AnvilBox, rep_tensor)
#' S3method(diff, AnvilTensor, diff_tensor)
#' S3method(diff, AnvilBox, diff_tensor)
#' S3method(scale, AnvilTensor, scale_tensor)
#' S3method(scale, AnvilBox, scale_tensor)
#' importFrom(utils, head, tail)
#' S3method(head, AnvilTensor, head_tensor)
#' S3method(head, AnvilBox, head_tensor)
#' S3method(tail, AnvilTensor, tail_tensor)
#' S3method(tail, AnvilBox, tail_tensor)
#' S3method(split, AnvilTensor, split_tensor)
#' S3method(split, AnvilBox, split_tensor)
#' S3method(summary, AnvilTensor, summarize_tensor)
#' S3method(summary, AnvilBox, summarize_tensor)
rep_tensor <- refused("rep", "i Use `nv_broadcast_to()` or `nv_concatenate()`, and `nv_ifelse()` instead of `ifelse()`.")
diff_tensor <- refused("diff", "i Subtract parts: `n <- length(x); x[2:n] - x[1:(n - 1)]`.")
scale_tensor <- refused("scale", "i Use `nv_mean()` and `nv_sd()` with `dims` and `drop = FALSE`, and `nv_broadcast_tensors()`.")
head_tensor <- refused("head", "i Take parts with `[`: `x[1:6]`, or `x[1:6, ]` of a matrix.")
tail_tensor <- refused("tail", "i Take parts with `[`: `n <- length(x); x[(n - 5):n]`.")
split_tensor <- refused("split", "i Take parts with `[`.")
summarize_tensor <- refused("summary", c("i Use `mean()`, `range()` or `nv_sd()`.", take_out))

#' @rawNamespace
#' S3method("[[<-", AnvilTensor, set_element_tensor)
#' S3method("[[<-", AnvilBox, set_element_tensor)
#' S3method("$<-", AnvilTensor, set_field_tensor)
#' S3method("$<-", AnvilBox, set_field_tensor)
#' S3method("names<-", AnvilTensor, set_names_tensor)
#' S3method("names<-", AnvilBox, set_names_tensor)
#' S3method("dimnames<-", AnvilTensor, set_names_tensor)
#' S3method("dimnames<-", AnvilBox, set_names_tensor)
#' S3method("length<-", AnvilTensor, set_length_tensor)
#' S3method("length<-", AnvilBox, set_length_tensor)
set_element_tensor <- function(x, ..., value) abort_anvil("argument", "`[[<-` is not defined for tensors.", "i Use `x[i] <- value`.")
set_field_tensor <- function(x, name, value) abort_anvil("argument", "A tensor has no fields to assign to.", "i Use `x[i] <- value` for its elements.")
set_names_tensor <- function(x, value) {
  if (is.null(value)) {
    return(x)
  }
  abort_anvil("argument", "Tensors have no names.", "i Keep them in a list of tensors, or beside the tensor.")
}
set_length_tensor <- function(x, value) abort_anvil("argument", "The length of a tensor cannot change.", "i Use `x[1:n]` or `nv_pad()`.")

# R's ifelse() takes its test as an R array and fills that with values.
refuse_ifelse <- function(frame = sys.parent(2L)) {
  if (frame > 0L && identical(sys.function(frame), base::ifelse)) {
    abort_anvil("argument", "`ifelse()` is not defined for tensors.", "i Use `nv_ifelse()`.", call = sys.call(frame))
  }
}
