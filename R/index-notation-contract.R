# Sums of products of terms, by products of two at a time in the order that costs least.

# The product of terms of one dtype, summed over these indices.
contracted <- function(terms, over, ctx) {
  terms <- lapply(terms, function(term) without_lonely(term, terms, over))
  while (length(terms) > 8L) { # the plans of all subsets would be too many
    rest <- terms[-(1:2)]
    terms <- c(rest, list(product_of_two(terms[[1L]], terms[[2L]], unlist(lapply(rest, `[[`, "indices")), over, ctx)))
  }
  indices <- lapply(terms, `[[`, "indices")
  keep <- setdiff(unlist(indices), over)
  multiply <- function(plan) {
    if (length(plan$members) == 1L) {
      return(terms[[plan$members]])
    }
    product_of_two(multiply(plan$left), multiply(plan$right), unlist(indices[-plan$members]), over, ctx)
  }
  multiply(best_plan(indices, keep, ctx$sizes))
}

# A term summed over what no other term has.
without_lonely <- function(term, terms, over) {
  counts <- table(unlist(lapply(terms, `[[`, "indices")))
  lonely <- intersect(term$indices, intersect(over, names(counts)[counts == 1L]))
  if (!length(lonely)) {
    return(term)
  }
  list(value = nv_reduce_sum(term$value, match(lonely, term$indices)), indices = setdiff(term$indices, lonely))
}

# How to split the factors, and these in turn, with the fewest multiplications: by the best plans of all subsets.
best_plan <- function(indices, keep, sizes) {
  n <- length(indices)
  plans <- vector("list", 2^n - 1)
  left_of <- function(set) intersect(unlist(indices[set]), c(keep, unlist(indices[-set])))
  for (code in seq_along(plans)) {
    set <- which(bitwAnd(code, 2^(seq_len(n) - 1L)) > 0L)
    plan <- list(members = set, cost = 0, result = if (length(set) == 1L) indices[[set]] else left_of(set))
    if (length(set) > 1L) {
      parts <- seq_len(code - 1L)
      parts <- parts[bitwAnd(parts, code) == parts & parts < code - parts]
      costs <- vapply(parts, function(part) {
        a <- plans[[part]]
        b <- plans[[code - part]]
        a$cost + b$cost + prod(as.double(sizes[union(a$result, b$result)]))
      }, 1)
      best <- parts[which.min(costs)]
      plan <- c(plan[c("members", "result")], list(cost = min(costs), left = plans[[best]], right = plans[[code - best]]))
    }
    plans[[code]] <- plan
  }
  plans[[length(plans)]]
}

# The product of two terms, summed over those of the indices `over` that no one else has.
product_of_two <- function(a, b, others, over, ctx) {
  summed <- setdiff(over, others)
  own <- function(term, other) setdiff(intersect(term$indices, summed), other$indices)
  shared <- intersect(intersect(a$indices, b$indices), summed)
  if (!length(shared)) {
    return(joined(nv_mul, a, b, ctx))
  }
  if (length(b$indices) && identical(indices_of(list(a, b), ctx)[1L], b$indices[1L])) {
    swap <- a
    a <- b
    b <- swap
  }
  both <- intersect(setdiff(a$indices, shared), b$indices)
  dims <- function(indices) list(match(indices, a$indices), match(indices, b$indices))
  value <- nvl_dot_general(a$value, b$value, contracting_dims = dims(shared), batching_dims = dims(both))
  list(value = value, indices = c(both, setdiff(a$indices, c(both, shared)), setdiff(b$indices, c(both, shared))))
}
