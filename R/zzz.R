.onLoad <- function(libname, pkgname) {
  .Call(C_anvil_attach, topenv())
  read_dtypes()
  .Call(C_anvil_watch_collections)
  await_generics()
  load_masks()
  if (is_worker()) anvil_threads(1)
  library <- file.path(libname, pkgname, "jit", "anvil_llvm.so")
  .Call(C_anvil_llvm, if (nzchar(.Platform$r_arch)) sub("jit/", paste0("jit/", .Platform$r_arch, "/"), library, fixed = TRUE) else library)
}

# The shared object stays when the namespace is unloaded: tensors, graphs and jitted
# functions that are still there need it when they are collected.

# Exported functions that are not called nv_* or nvl_*.
other_exports <- c(
  "AbstractTensor", "AnvilPrimitive", "anvil_profile", "ConcreteTensor", "DebugBox", "LiteralTensor", "ambiguous", "ambiguous_abstract", "as_array", "as_dtype",
  "as_dot", "as_graph", "as_objective", "as_raw", "as_tensor_data", "GraphBox", "GraphDescriptor", "GraphLiteral", "GraphValue", "graph_desc_add", "IotaTensor", "local_rule", "walk_graph", "build_tree", "check_primitive", "common_dtype", "debug_box", "default_dtype", "device", "dtype", "dtype_abstract", "eq_type", "evaluate_graph", "expect_nv_check",
  "filter_list_node", "flatten", "gradient", "hessian", "hvp", "is_dtype", "is_tensorish", "jacobian", "jit", "jit_eval", "jit_report", "jvp", "map_tree", "ndims", "ndims_abstract",
  "neq_type", "platform", "read_stablehlo", "register_primitive", "reindex_tree", "repr", "shape", "shape_abstract", "simplify_graph",
  "stablehlo", "subgraphs", "to_abstract", "trace_fn", "transform_gradient", "tree_diff", "tree_leaves", "tree_path", "tree_size", "unflatten",
  "value_and_gradient", "vectorize", "vjp", "with_threads", "write_stablehlo", "xla"
)
missing_hints <- list(
  nv_max = "i It compares two tensors. The largest element of one is `nv_reduce_max()`.",
  nv_min = "i It compares two tensors. The smallest element of one is `nv_reduce_min()`."
)
for (name in c(ls(pattern = "^nvl?_[a-z]"), other_exports)) {
  if (is.function(get(name))) assign(name, checked_for_missing(recording_at_once(get(name)), missing_hints[[name]]))
}
for (name in c("real_div", "real_pow")) assign(name, recording_at_once(get(name)))
rm(name)

# After the functions that they call.
shared_masks <- local({
  names <- shared_names()
  Map(shared_mask, names(names), names)
})
