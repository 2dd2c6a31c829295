# Tests that run over the registry of primitives, so that a new one is tested when it is there.

# Without those that are defined in R, and the two that only differentiation makes.
keys <- names(Filter(function(p) is.null(p[["forward"]]), prim()))
keys <- setdiff(keys, c("while_record", "tape_scan"))
nvl <- function(key) getExportedValue("anvil", paste0("nvl_", key))
is_unary <- function(key) identical(names(formals(nvl(key)))[1L], "operand") && is_elementwise(key)
is_binary <- function(key) identical(names(formals(nvl(key))), c("lhs", "rhs"))
# Elementwise primitives share a help page.
is_elementwise <- function(key) identical(help_topic(paste0("nvl_", key)), "nvl_elementwise")
help_topic <- function(name) {
  index <- readRDS(system.file("help", "aliases.rds", package = "anvil"))
  unname(index[name])
}
with_parameters <- c("convert", "bitcast_convert", "reduce_precision", "clamp", "polygamma", "zeta", "select", "ifelse")
elementwise <- Filter(function(key) is_elementwise(key) && !(key %in% with_parameters), keys)
unary <- Filter(is_unary, elementwise)
binary <- Filter(is_binary, elementwise)

range_of <- function(dtype) {
  bits <- as.integer(sub("^u?i", "", dtype))
  if (startsWith(dtype, "u")) c(0, 2^bits - 1) else c(-2^(bits - 1), 2^(bits - 1) - 1)
}

# Values at the edges of a dtype.
samples <- function(dtype) {
  if (dtype == "bool") {
    return(nv_tensor(c(TRUE, FALSE), dtype))
  }
  if (dtype %in% float_dtypes) {
    return(nv_tensor(c(-Inf, -1e30, -2.5, -1, -0.5, -0, 0, 1e-30, 0.5, 1, 1.5, 40, 1e30, Inf, NaN), dtype))
  }
  ends <- range_of(dtype)
  small <- Filter(function(x) x >= ends[1L], c(-7, -1, 0, 1, 2, 5, 100))
  if (ends[2L] < 2^53) {
    return(nv_tensor(c(ends[1L], small, ends[2L]), dtype))
  }
  # the ends of 64 bits, from their bytes
  bytes <- function(dtype) if (dtype == "i64") as.raw(c(rep(0L, 7), 128L, rep(255L, 7), 127L)) else as.raw(c(rep(0L, 8), rep(255L, 8)))
  as_tensor(nv_concatenate(nv_from_raw(bytes(dtype), dtype, 2), nv_tensor(small, dtype)))
}
as_tensor <- function(box) jit(function() box)()

# A list of operands: every value, or every pair of values.
operands_of <- function(key, dtype) {
  x <- samples(dtype)
  if (key %in% unary) {
    return(list(x))
  }
  n <- length(x)
  spread <- function(dim) as_tensor(nv_flatten(nvl_broadcast_in_dim(x, c(n, n), dim)))
  list(spread(1L), spread(2L))
}

# The dtypes that a primitive takes.
dtypes_of <- function(key) {
  takes <- function(dtype) {
    operand <- debug_box(dtype, 2)
    operands <- if (key %in% unary) list(operand) else list(operand, operand)
    tryCatch(
      {
        do.call(nvl(key), operands)
        TRUE
      },
      anvil_error_dtype = function(e) FALSE
    )
  }
  Filter(takes, all_dtypes)
}

test_that("every primitive has its strict function, with its operands", {
  exports <- getNamespaceExports("anvil")
  expect_identical(Filter(function(key) !(paste0("nvl_", key) %in% exports), keys), character())
  for (key in elementwise) {
    operands <- .Call(anvil:::C_anvil_primitive_info, key)$operands
    expect_identical(names(formals(nvl(key)))[seq_along(operands)], operands, label = key)
  }
})

test_that("the groups of elementwise primitives", {
  integers <- setdiff(number_dtypes, float_dtypes)
  signed <- setdiff(number_dtypes, c("ui8", "ui16", "ui32", "ui64"))
  groups <- list(and = c("bool", integers), add = all_dtypes, sqrt = float_dtypes, abs = signed, popcnt = integers, sub = number_dtypes)
  for (key in names(groups)) expect_identical(dtypes_of(key), groups[[key]], label = key)
  for (key in elementwise) expect_true(list(dtypes_of(key)) %in% groups, label = key)
})

test_that("compiled elementwise primitives equal debug mode, for every dtype", {
  expect_setequal(c(unary, binary), elementwise)
  for (key in elementwise) {
    for (dtype in dtypes_of(key)) {
      operands <- operands_of(key, dtype)
      at_once <- do.call(nvl(key), operands)
      compiled <- do.call(jit(nvl(key)), operands)
      expect_identical(type_of(compiled), type_of(at_once), label = paste(key, dtype))
      if (dtype %in% float_dtypes) {
        expect_equal(as_array(compiled), as_array(at_once), tolerance = if (dtype == "f32") 1e-6 else 1e-14, label = paste(key, dtype))
      } else {
        expect_identical(as_raw(compiled), as_raw(at_once), label = paste(key, dtype))
      }
    }
  }
})

truncated_remainder <- function(x, y) sign(x) * (abs(x) %% abs(y))
base_unary <- list(
  negate = `-`, abs = abs, sign = sign, sqrt = sqrt, rsqrt = function(x) 1 / sqrt(x), cbrt = function(x) sign(x) * abs(x)^(1 / 3),
  exp = exp, expm1 = expm1, log = log, log1p = log1p, logistic = stats::plogis,
  sine = sin, cosine = cos, tan = tan, asin = asin, acos = acos, atan = atan, sinh = sinh, cosh = cosh, tanh = tanh,
  asinh = asinh, acosh = acosh, atanh = atanh, floor = floor, ceil = ceiling, round = round, is_finite = is.finite,
  lgamma = lgamma, digamma = digamma, erf = function(x) 2 * stats::pnorm(x * sqrt(2)) - 1,
  erfc = function(x) 2 * stats::pnorm(x * sqrt(2), lower.tail = FALSE), erf_inv = function(x) stats::qnorm((1 + x) / 2) / sqrt(2),
  bessel_i1e = function(x) sign(x) * besselI(abs(x), 1, expon.scaled = TRUE)
)
base_binary <- list(
  add = `+`, sub = `-`, mul = `*`, div = `/`, pow = `^`, remainder = truncated_remainder, max = pmax, min = pmin, atan2 = atan2,
  next_after = function(x, y) x, # to the last bit: test-math.R
  eq = `==`, ne = `!=`, lt = `<`, le = `<=`, gt = `>`, ge = `>=`
)
base_bits <- list(
  and = bitwAnd, or = bitwOr, xor = bitwXor, not = bitwNot,
  popcnt = function(x) vapply(x, function(i) sum(intToBits(i) == 1L), 1L),
  count_leading_zeros = function(x) vapply(x, function(i) sum(cumsum(rev(intToBits(i) == 1L)) == 0L), 1L),
  mulhi = function(x, y) (x * (y %/% 65536) + (x * (y %% 65536)) %/% 65536) %/% 65536
)
base_shifts <- list(
  shift_left = function(x, n) bitwAnd(bitwShiftL(x, n), 0x7fffffff), shift_right_logical = bitwShiftR,
  shift_right_arithmetic = function(x, n) x %/% 2L^n
)

test_that("elementwise primitives are R's functions of the same meaning", {
  x <- c(-3.75, -2.5, -1.5, -0.9, -0.5, -1e-3, 0.25, 0.5, 0.999, 1, 1.5, 2, 3.75, 10, 30)
  pairs <- expand.grid(x, x)
  for (key in names(base_unary)) {
    expected <- suppressWarnings(base_unary[[key]](x))
    expect_equal(flat(nvl(key)(f64(x))), expected, tolerance = 1e-12, label = key)
  }
  for (key in names(base_binary)) {
    expected <- suppressWarnings(base_binary[[key]](pairs[[1L]], pairs[[2L]]))
    expect_equal(flat(nvl(key)(f64(pairs[[1L]]), f64(pairs[[2L]]))), expected, tolerance = 1e-13, label = key)
  }
  i <- c(-2147483647L, -7L, -1L, 0L, 1L, 2L, 5L, 1000L, 2147483647L)
  pairs <- expand.grid(i, i)
  for (key in names(base_bits)) {
    operands <- if (key %in% unary) list(i) else unname(as.list(pairs))
    expected <- as.double(do.call(base_bits[[key]], operands))
    expected[is.na(expected)] <- -2^31 # which R's integers do not have
    expect_identical(as.double(flat(do.call(nvl(key), lapply(operands, nv_tensor)))), expected, label = key)
  }
  pairs <- expand.grid(c(0L, 1L, 5L, 1000L), c(0L, 1L, 4L, 15L))
  for (key in names(base_shifts)) {
    expected <- as.integer(base_shifts[[key]](pairs[[1L]], pairs[[2L]]))
    expect_identical(flat(do.call(nvl(key), unname(lapply(pairs, nv_tensor)))), expected, label = key)
  }
})

test_that("divisions of integers end in no trap and in the same number everywhere", {
  for (dtype in setdiff(number_dtypes, float_dtypes)) {
    lowest <- if (dtype == "i64") nv_from_raw(as.raw(c(rep(0L, 7), 128L)), dtype, 1L) else nv_tensor(range_of(dtype)[1L], dtype)
    zero <- nv_tensor(0L, dtype)
    for (f in list(nv_div, nv_remainder, nv_mod, nv_floor_div)) {
      expect_identical(as_raw(jit(f)(lowest, zero)), as_raw(f(lowest, zero)))
      if (!startsWith(dtype, "u")) {
        minus_one <- nv_tensor(-1L, dtype)
        expect_identical(as_raw(jit(f)(lowest, minus_one)), as_raw(f(lowest, minus_one)))
      }
    }
    expect_true(all(as_raw(nv_div(nv_tensor(5L, dtype), zero)) == as.raw(255L)))
    expect_identical(flat(nv_tensor(5L, dtype) %% zero) == 5, TRUE)
    if (!startsWith(dtype, "u")) {
      expect_identical(as_raw(nv_div(lowest, nv_tensor(-1L, dtype))), as_raw(lowest))
      expect_true(all(as_raw(nv_remainder(lowest, nv_tensor(-1L, dtype))) == as.raw(0L)))
    }
  }
})

structured <- list(
  transpose = function(x) nv_transpose(x),
  reshape = function(x) nv_reshape(x, c(length(x), 1L)),
  reverse = function(x) nv_reverse(x, 2L),
  concatenate = function(x) nv_concatenate(x, x, dimension = 1L),
  broadcast = function(x) nvl_broadcast_in_dim(x, c(2L, shape(x)), 2:3),
  pad = function(x) nv_pad(x, if (dtype(x) == "bool") TRUE else 1L, c(1L, 0L), c(0L, 2L)),
  slice = function(x) nv_static_slice(x, c(1L, 1L), shape(x)),
  select = function(x) nv_ifelse(x == x, x, x),
  sum = function(x) if (dtype(x) == "bool") nv_reduce_any(x, 1L) else nv_reduce_sum(x, 1L),
  prod = function(x) if (dtype(x) == "bool") nv_reduce_all(x, 2L) else nv_reduce_prod(x, 2L),
  cumsum = function(x) if (dtype(x) == "bool") x else nv_cumsum(x, 1L),
  fill = function(x) nv_fill_like(x, 1),
  as_f64 = function(x) nv_convert(x, "f64"),
  as_i8 = function(x) nv_convert(x, "i8"),
  as_bool = function(x) nv_convert(x, "bool"),
  product = function(x) if (dtype(x) == "bool") x else nv_crossprod(x)
)

test_that("structured primitives are the same compiled and at once, for every dtype, also without elements", {
  for (dtype in all_dtypes) {
    for (sizes in list(c(2L, 3L), c(0L, 3L), c(2L, 0L), c(0L, 0L), c(1L, 1L))) {
      x <- nv_tensor(array(seq_len(prod(sizes)) %% 3L, sizes), dtype)
      for (name in names(structured)) {
        at_once <- structured[[name]](x)
        compiled <- jit(structured[[name]])(x)
        label <- sprintf("%s %s[%s]", name, dtype, paste(sizes, collapse = ","))
        expect_identical(type_of(compiled), type_of(at_once), label = label)
        expect_identical(as_raw(compiled), as_raw(at_once), label = label)
      }
    }
  }
})

test_that("reductions of nothing are the neutral elements", {
  none <- nv_empty("f64", c(0L, 2L))
  expect_identical(flat(jit(function(x) sum(x, dims = 1))(none)), c(0, 0))
  expect_identical(flat(jit(function(x) prod(x, dims = 1))(none)), c(1, 1))
  expect_identical(flat(jit(function(x) max(x, dims = 1))(none)), c(-Inf, -Inf))
  expect_identical(flat(jit(function(x) any(x > 0, dims = 1))(none)), c(FALSE, FALSE))
  expect_identical(flat(jit(function(x) all(x > 0, dims = 1))(none)), c(TRUE, TRUE))
  expect_identical(value(jit(function(x) crossprod(x))(none)), matrix(0, 2, 2))
  expect_identical(value(jit(gradient(function(x) sum(exp(x))))(none)[[1L]]), array(0, c(0L, 2L)))
})

# --- the registry and the help pages ----------------------------------------------------

test_that("every primitive has a strict function, every function a help page with an example", {
  exports <- getNamespaceExports("anvil")
  expect_length(setdiff(paste0("nvl_", keys), exports), 0L)
  functions <- grep("^nvl?_", exports, value = TRUE)
  expect_gt(length(functions), 150L)
  topics <- help_topic(functions)
  expect_identical(functions[is.na(topics)], character())
  rd <- tools::Rd_db("anvil")
  names(rd) <- sub("[.]Rd$", "", names(rd))
  tags <- lapply(rd[unique(topics)], function(page) vapply(page, function(part) attr(part, "Rd_tag"), ""))
  has <- function(tag) vapply(tags, function(t) tag %in% t, NA)
  expect_identical(names(tags)[!has("\\examples")], character())
  expect_identical(names(tags)[!has("\\value")], character())
})

test_that("the table of primitives has no gaps", {
  table <- anvil:::primitive_table()
  expect_gt(nrow(table), 100L)
  for (column in names(table)) expect_identical(table$primitive[!nzchar(table[[column]])], character())
  by_loop <- c("print", "check") # each example by itself
  expect_identical(setdiff(table$primitive[table$batched == "loop"], by_loop), character())
})
