# What test-arguments.R gives to every exported function: arguments that are right, and things
# that are wrong in most places.

# A call of each function that works: by the names of the arguments, and for functions where they
# mean something else, by the function. A new export whose arguments have the usual names
# needs no line here.
good_arguments <- function(name) {
  f <- getExportedValue("anvil", name)
  wanted <- names(formals(args(f)))
  usual <- usual_arguments()
  if (grepl("reduce_(any|all)$", name)) usual$operand <- usual$operand > 1
  own <- special_arguments(usual)[[name]]
  if (grepl("shift|popcnt|_and$|_or$|_xor$|_not$|mulhi|leading", name)) own <- list(operand = nv_tensor(1:2), lhs = nv_tensor(1:2), rhs = nv_tensor(1:2))
  usual[names(own)] <- own
  dots <- own[!nzchar(names(own) %||% rep("", length(own)))]
  named <- intersect(wanted, union(required_arguments(f), names(own)))
  c(usual[named], dots)
}

usual_arguments <- function() {
  m <- nv_tensor(matrix(c(2, 1, 1, 3), 2), "f64")
  list(
    operand = m, lhs = m, rhs = m, x = m, y = m, a = m, b = m, s = m + 2, like = m, e1 = m, e2 = m, aval = m,
    min_val = 0, max_val = 2, pred = m > 1, true_value = m, false_value = m, true = 1, false = 2,
    shape = c(2L, 2L), dtype = "f32", dim = 1L, dims = 1L, data = c(1, 2, 3, 4), value = 1, ambiguity = TRUE,
    dimension = 1L, permutation = 2:1, n = 2L, k = 1L, start = 1L, end = 3L, padding_value = 0, diagonal = 0L,
    edge_padding_low = c(0L, 0L), edge_padding_high = c(1L, 1L), interior_padding = c(0L, 0L), broadcast_dimensions = 1:2,
    start_indices = c(1L, 1L), limit_indices = c(2L, 1L), strides = c(1L, 1L), exponent_bits = 5L, mantissa_bits = 10L,
    left_side = TRUE, lower = TRUE, unit_diagonal = FALSE, transpose_a = FALSE, init = list(i = 1L),
    contracting_dims = list(2L, 1L), initial_state = nv_rng_state(1L), seed = 1L, method = "afz",
    f = function(x) sum(x), args = list(x = m), graph = trace_fn(function(x) sum(x), list(x = m)), names = "a", tree = build_tree(list(a = 1)),
    i = 1L, nu = 1, flat = list(1), .f = function(x) x, .x = list(1), cond = function(i) i < 3L, body = function(i) list(i = i + 1L),
    operands = m, initial = nv_scalar(0, "f64"), expr = quote(1), float = "f64", int = "i32", name = "add",
    backward = function(grads) list(grads), jvp = function(tangents) tangents$x,
    q = m, p = m / 4, shape1 = 2, shape2 = 3, df = 3, df1 = 3, df2 = 4, prob = 0.3, size = 3L, lambda = 2, alpha = 2, sigma = m, m = 2L, state = nv_rng_state(1L),
    pointer = getNativeSymbolInfo("C_anvil_tag", getLoadedDLLs()$anvil), types = nv_aten("f64", 2L)
  )
}

special_arguments <- function(usual) {
  m <- usual$operand
  v <- nv_tensor(c(1, 2, 3), "f64")
  image <- nv_tensor(array(as.double(1:16), c(1L, 1L, 4L, 4L)), "f64")
  line <- nv_tensor(array(as.double(1:3), c(1L, 1L, 3L)), "f64")
  block <- nv_tensor(array(as.double(1:8), c(1L, 1L, 2L, 2L, 2L)), "f64")
  sum_of_two <- function(a, b) a + b
  windows <- list(window_dimensions = c(2L, 2L), window_strides = c(1L, 1L), padding_low = c(0L, 0L), padding_high = c(0L, 0L))
  spatial <- list(padding_low = c(0L, 0L), padding_high = c(0L, 0L), window_strides = c(1L, 1L))
  own <- AnvilPrimitive("argument_test")
  own[["forward"]] <- function(x) x
  program <- write_stablehlo(usual$graph)
  saved_tensors <- list(tensors = m, path = tempfile())
  fit_arguments <- list(f = function(par) sum((par - 1)^2), start = c(a = 1, b = 2))
  training_arguments <- list(model = function(params, x) nv_mean((x - params)^2), data = list(x = c(1, 2, 3)), params = 0, epochs = 1L, progress = FALSE)
  one_dim <- list(lhs = v, rhs = v, operand = v)
  list(
    nvl_householder_product = list(packed = nv_tensor(diag(2), "f64"), taus = nv_tensor(c(1, 1), "f64")), nvl_chol_reverse = list(factor = nv_tensor(diag(2), "f64"), cotangent = nv_tensor(diag(2), "f64")),
    ConcreteTensor = list(data = m), nvl_pad = list(padding_value = nv_scalar(0, "f64")), nvl_sort = list(operands = list(m)), nv_outer = one_dim, nv_diag = one_dim, nv_polygamma = list(n = 1), nvl_polygamma = list(n = m, x = m), nvl_clamp = list(min_val = m, max_val = m),
    nv_tensor = list(shape = c(2L, 2L)), nv_scalar = list(data = 1), nv_scalar_like = list(data = 1), nv_matrix = list(nrow = 2L),
    nv_from_raw = list(data = as.raw(1:4), dtype = "i8"), nv_broadcast_to = list(shape = c(3L, 2L, 2L)), nv_flatten = list(order = "C"), nv_reshape = list(shape = 4L, order = "C"),
    nv_fill = list(), nv_squeeze = list(operand = nv_tensor(matrix(1, 1, 2)), dims = 1L), nv_top_k = list(operand = v), nvl_top_k = list(operand = v),
    nv_rdunif = list(n = 6L), nv_rbinom = list(size = 20L, prob = 0.3), nv_runif = list(min = 0, max = 1), nv_rnorm = list(mean = 0, sd = 1),
    nv_subset = list(), nv_subset_assign = list(), nv_concatenate = list(m, m, dimension = 1L), nvl_concatenate = list(m, m),
    nv_rbind = list(m, m), nv_cbind = list(m, m), nv_promote_to_common = list(m, 1), nv_broadcast_scalars = list(m, 1), nv_broadcast_tensors = list(m, m),
    nv_if = list(pred = TRUE), nvl_if = list(pred = TRUE), nv_case = list(index = 1L, m, m), nvl_case = list(index = 1L, m, m), nv_betainc = list(x = m / 4), nvl_betainc = list(x = m / 4), nv_betaincc = list(x = m / 4), nvl_betaincc = list(x = m / 4), nv_select = list(), nvl_select = list(), nv_seq = list(steps = 5L), nv_seq_like = list(steps = 5L), nvl_reshape = list(shape = 4L), nvl_dynamic_slice = list(operand = m, 1L, 1L, slice_sizes = c(1L, 1L)), nvl_dynamic_update_slice = list(operand = m, update = m, 1L, 1L),
    nv_scan = list(init = nv_scalar(0, "f64"), xs = v, body = function(carry, x) list(carry = carry + sum(x), out = x)),
    nv_fori = list(from = 1, to = 3, init = nv_scalar(0), body = function(i, state) state + 1),
    nv_map = list(xs = v, f = function(x) x + 1), nv_associative_scan = list(xs = v, f = sum_of_two),
    nvl_reduce = list(body = sum_of_two), nvl_cumulative = list(body = sum_of_two),
    nvl_reduce_window = c(windows, list(base_dilations = c(1L, 1L), window_dilations = c(1L, 1L), body = sum_of_two)),
    nvl_select_and_scatter = c(windows, list(source = nv_tensor(matrix(1), "f64"), select = function(a, b) a >= b, scatter = sum_of_two)),
    nvl_windows = list(operand = v, dims = 1L, sizes = 2L, strides = 1L, dilations = 1L), nvl_sum_windows = list(operand = m, dims = 1L, dilations = 1L),
    nvl_convolution = c(spatial, list(
      input = image, kernel = nv_tensor(array(1, c(1L, 1L, 2L, 2L)), "f64"), lhs_dilation = c(1L, 1L), rhs_dilation = c(1L, 1L),
      input_dims = 1:4, kernel_dims = 1:4, output_dims = 1:4
    )),
    nvl_gather = list(
      operand = m, start_indices = nv_tensor(c(2L, 1L)), slice_sizes = c(1L, 2L), offset_dims = 2L, collapsed_slice_dims = 1L,
      operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = 1L, index_vector_dim = 2L
    ),
    nvl_scatter = list(
      input = v, scatter_indices = nv_tensor(c(3L, 1L)), update = nv_tensor(c(1, 2), "f64"), update_window_dims = integer(), inserted_window_dims = 1L,
      input_batching_dims = integer(), scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = 1L, index_vector_dim = 2L
    ),
    nvl_rng_bit_generator = list(dtype = "ui32"), nvl_bitcast_convert = list(dtype = "f64"), nvl_convert = list(),
    common_dtype = list(lhs = "f32", rhs = "i32"), as_dtype = list(x = "f32"), default_dtype = list(x = 1), LiteralTensor = list(data = 1),
    local_default_dtypes = list(envir = new.env()), nv_inspect = list(m, level = "graph"),
    jit_report = list(f = jit(function(x) sum(x))), anvil_profile = list(f = jit(function(x) sum(x)), m, seconds = 0),
    nv_check = list(m, n = 2L), expect_nv_check = list(m, n = 2L), check_primitive = list(primitive = prim("mul"), n = 2L), as_tensor_data = list(x = data.frame(a = 1)),
    trace_fn = list(args = list(x = m)), jit = list(cache_size = 10), evaluate_graph = list(inputs = list(m)), simplify_graph = list(passes = "dead_calls"),
    register_primitive = list(name = "argument_test", primitive = own, overwrite = TRUE), AnvilPrimitive = list(name = "argument_test"),
    subgraphs = list(call = usual$graph$calls[[1L]]), as_graph = list(x = usual$graph), stablehlo = list(), repr = list(func = stablehlo(usual$graph)[[1L]]),
    read_stablehlo = list(source = program), nv_program = list(src = program), nv_compile = list(program = usual$graph),
    nv_execute = list(executable = nv_compile(usual$graph), m), tree_size = list(x = usual$tree), reindex_tree = list(x = usual$tree),
    write_stablehlo = list(f = usual$graph), nv_dgamma = list(shape = 2, scale = 3), nv_pgamma = list(shape = 2, scale = 3), nv_qgamma = list(shape = 2, scale = 3),
    nv_dweibull = list(shape = 2), nv_pweibull = list(shape = 2), nv_qweibull = list(shape = 2),
    nv_dnbinom = list(prob = 0.3), nv_pnbinom = list(prob = 0.3), nv_qnbinom = list(prob = 0.3), nv_rnbinom = list(prob = 0.3),
    nv_dmultinom = list(prob = v / 6, x = v), nv_rmultinom = list(prob = v / 6), nv_dcategorical = list(prob = v / 6), nv_rcategorical = list(prob = v / 6),
    nv_ddirichlet = list(x = v / 6, alpha = v), nv_rdirichlet = list(alpha = v), nv_sample = list(size = 2L), nv_sample_int = list(n = 5L, size = 2L), nv_rng_split = list(n = 2L),
    walk_graph = list(inputs = list(1), rule = function(call, inputs) inputs[[1L]]), local_rule = list(primitive = prim("mul"), rule = "jvp"),
    GraphValue = list(aval = nv_aten("f32", 2L)), GraphLiteral = list(aval = LiteralTensor(1)),
    GraphBox = list(gnode = GraphValue(nv_aten("f32", 2L)), desc = GraphDescriptor()), graph_desc_add = list(prim = prim("add"), args = list(m, m)),
    nv_sweep = list(margin = 1L, stats = nv_tensor(c(1, 2), "f64"), f = "*"), nv_outer = list(f = "*"), nv_kronecker = list(f = "*"), nv_set_diag = list(value = 0),
    nv_quantile = list(probs = 0.5), nv_order = list(v), nv_rank = list(x = v), nv_rowsum = list(x = v, group = nv_tensor(c(1L, 2L, 1L)), n = 2L), nv_tabulate = list(bin = nv_tensor(1:3)), nv_in = list(table = v),
    nv_convolve = list(x = v, y = v, type = "open"),
    nv_laplace = list(f = function(par) sum(par$u^2) + par$a^2, start = list(a = 1, u = 2), random = "u"),
    nv_model_frame = list(formula = y ~ x, data = data.frame(y = c(1, 2), x = c(3, 5))),
    nvl_check = list(holds = nv_tensor(c(TRUE, TRUE)), error = "argument", message = "no"),
    nv_index = list(formula = y[i] ~ x[i, 1], data = list(x = m)), nv_einsum = list(spec = "ij->ji", m),
    nv_save = saved_tensors, nv_write = saved_tensors, nv_serialize = list(tensors = m), nv_read = list(path = saved_file(m)), nv_unserialize = list(con = nv_serialize(m)),
    nv_linspace = list(steps = 3L), nv_meshgrid = list(v, v), nv_searchsorted = list(vec = v), nv_interp = list(x = v, y = v, xout = m),
    nv_norm = list(type = "I"), nv_cdist = list(method = "minkowski", p = 3), nv_dropout = list(rate = 0.5),
    nv_cross_entropy = list(logits = m, target = nv_tensor(1:2)), nv_binary_cross_entropy = list(logits = m, target = m), nv_mse = list(prediction = m, target = m),
    nv_mae = list(prediction = m, target = m), nv_huber = list(prediction = m, target = m), nv_hinge = list(prediction = m, target = m),
    nv_kl_divergence = list(p = m / 4, q = m / 4), nv_softmax = list(dim = 1L), nv_layer_norm = list(dims = 2L), nv_batch_norm = list(),
    nv_group_norm = list(groups = 2L), nv_max_pool = list(x = image, window = 2L), nv_avg_pool = list(x = image, window = 2L),
    nv_attention = list(query = m, key = m, value = m), nv_embedding = list(x = nv_tensor(1:2), weight = m), nv_one_hot = list(x = nv_tensor(1:2), n = 3),
    nv_conv1d = list(x = line, weight = line), nv_conv2d = list(x = image, weight = image), nv_conv3d = list(x = block, weight = block),
    nv_conv_transpose1d = list(x = line, weight = line), nv_conv_transpose2d = list(x = image, weight = image), nv_conv_transpose3d = list(x = block, weight = block),
    nv_nuts = list(log_density = function(x) -sum(x^2) / 2, start = c(0, 0), chains = 1L, draws = 4L, warmup = 0L, step_size = 0.1),
    nv_hmc = list(log_density = function(x) -sum(x^2) / 2, start = c(0, 0), chains = 1L, draws = 4L, warmup = 0L, step_size = 0.1),
    as_objective = fit_arguments, nv_minimize = fit_arguments, nv_fit = training_arguments, nv_lr_step = list(lr = 1, every = 2L), nv_lr_constant = list(lr = 1), nv_lr_exponential = list(lr = 1, factor = 0.9), nv_lr_cosine = list(lr = 1, steps = 3L), nv_lr_warmup = list(schedule = 1, steps = 3L),
    tree_diff = list(x = build_tree(list(1)), y = build_tree(1)),
    nv_glorot_uniform = list(gain = 2, fans = c(3, 4)), nv_glorot_normal = list(gain = 2), nv_he_uniform = list(slope = 0.1), nv_he_normal = list(fans = c(3, 4)), nv_orthogonal = list(gain = 2),
    nv_rtruncnorm = list(mean = 1, sd = 2, min = 0, max = 3),
    nv_family = list(family = "poisson"),
    nv_sparse = list(x = c(1, 2), i = 1:2, j = 1:2), nv_dense = list(x = diag(2)), nv_quadratic_form = list(a = diag(2), x = c(1, 2)),
    nv_sparse_solve = list(a = nv_sparse(diag(2)), b = c(1, 2)), nv_sparse_logdet = list(a = nv_sparse(diag(2))), nv_sparse_inverse = list(a = nv_sparse(diag(2)))
  )
}

saved_file <- function(x, path = tempfile(fileext = ".safetensors")) {
  nv_save(x, path)
  path
}

# Values that are wrong in most places.
wrong_values <- function() {
  list(
    `NULL` = NULL, `NA` = NA, `NA_real_` = NA_real_, `"a"` = "a", `character()` = character(), `list()` = list(), `list(1, "a")` = list(1, "a"), `function` = function(...) 1,
    environment = new.env(), `-1` = -1, `0` = 0, `1.5` = 1.5, `1e20` = 1e20, `Inf` = Inf, `NaN` = NaN, data.frame = data.frame(a = 1:2),
    factor = factor("a"), formula = y ~ x, complex = 1i, raw = as.raw(1), `1:100000` = 1:100000, symbol = quote(a), call = quote(a + b),
    `bool tensor` = nv_tensor(c(TRUE, FALSE)), `tensor of another shape` = nv_tensor(array(1, c(3L, 1L, 2L)), "f32"), type = nv_aten("f32", 2L),
    `box without data` = debug_box("f32", c(3L, 3L)), graph = trace_fn(function(x) x, list(x = nv_aten("f32", 2L)))
  )
}
# Right in no argument of any function but of those that take anything.
never_right <- c("environment", "formula", "complex", "symbol")
