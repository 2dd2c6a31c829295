// Every routine that the R code calls, with its number of arguments: declared, and
// registered in r_init.cpp, from this one list.
#pragma once

// clang-format off
#define ANVIL_ROUTINES(X)                                                                     \
  /* memory */                                                                                \
  X(anvil_memory, 1) X(anvil_watch_collections, 0) X(anvil_fail_allocation, 1) X(anvil_threads, 1)                \
  /* tensors */                                                                               \
  X(anvil_tensor, 5) X(anvil_empty, 1) X(anvil_tag, 1) X(anvil_as_array, 1) X(anvil_as_raw, 2) \
  X(anvil_from_raw, 5) X(anvil_safetensors, 2) X(anvil_rewrap, 2) X(anvil_format_data, 4) X(anvil_format_elements, 2)  \
  X(anvil_dtype_code, 1)      \
  X(anvil_dtypes, 0)                                                                       \
  /* trace */                                                                                 \
  X(anvil_push, 1) X(anvil_pop, 1) X(anvil_current, 0) X(anvil_purpose, 0) X(anvil_negated, 1) X(anvil_input, 1) X(anvil_finish, 3)   \
  X(anvil_box_value, 1) X(anvil_debug_box, 1) X(anvil_in_debug, 1) X(anvil_promote, 2)        \
  X(anvil_broadcast, 2) X(anvil_common_dtype, 4) X(anvil_default_dtypes, 0)                   \
  X(anvil_inline, 2) X(anvil_literal, 1)                                                      \
  X(anvil_descriptor, 0) X(anvil_enter, 1) X(anvil_leave, 1) X(anvil_graph_of, 3) X(anvil_box, 2) X(anvil_box_text, 1) \
  /* graphs */                                                                                \
  X(anvil_graph_text, 3) X(anvil_graph_field, 2) X(anvil_graph_fields, 1)                     \
  X(anvil_value_abstract, 1) X(anvil_labels, 1) X(anvil_names, 2) X(anvil_new_node, 3) X(anvil_foreign, 1) X(anvil_scope, 1) X(anvil_gradient, 4) X(anvil_jvp, 3) X(anvil_vjp, 4)             \
  X(anvil_jacobian, 3) X(anvil_batch, 4) X(anvil_simplify, 2) X(anvil_evaluate, 2)                              \
  X(anvil_stablehlo, 3) X(anvil_read_stablehlo, 2)                    \
  X(anvil_inspect, 2) X(anvil_stages, 1) X(anvil_single_calls, 1) X(anvil_inner_graphs, 1)    \
  /* verbs */                                                                                 \
  X(anvil_behind, 3)                                                                          \
  /* primitives */                                                                            \
  X(anvil_primitives, 0) X(anvil_primitive_info, 1) X(anvil_reverse, 5) X(anvil_forward, 5)   \
  X(anvil_register, 3) X(anvil_override, 3) X(anvil_custom, 3) X(anvil_sparse, 1)                                                     \
  /* jit */                                                                                   \
  X(anvil_cache, 1) X(anvil_cache_info, 1) X(anvil_jit_call, 2) X(anvil_compile, 1)           \
  X(anvil_execute, 2) X(anvil_llvm, 1)                                                        \
  /* reports */                                                                               \
  X(anvil_jit_report, 1) X(anvil_profile, 3) X(anvil_peak, 0)
// clang-format on

// Called through .External2, with the frame of the R function as last argument.
#define ANVIL_EXTERNAL_ROUTINES(X) \
  X(anvil_record, 3)               \
  X(anvil_record_promoted, 5)      \
  X(anvil_record_call, 2) X(anvil_record_ruled, 5) X(anvil_record_custom, 3) X(anvil_behind_data, -1)

namespace anvil::r {
#define ANVIL_ARGUMENTS_0
#define ANVIL_ARGUMENTS_1 SEXP
#define ANVIL_ARGUMENTS_2 SEXP, SEXP
#define ANVIL_ARGUMENTS_3 SEXP, SEXP, SEXP
#define ANVIL_ARGUMENTS_4 SEXP, SEXP, SEXP, SEXP
#define ANVIL_ARGUMENTS_5 SEXP, SEXP, SEXP, SEXP, SEXP
#define ANVIL_DECLARE(name, arguments) SEXP name(ANVIL_ARGUMENTS_##arguments);
ANVIL_ROUTINES(ANVIL_DECLARE)
#undef ANVIL_DECLARE
#define ANVIL_DECLARE(name, arguments) SEXP name(SEXP call, SEXP op, SEXP args, SEXP frame);
ANVIL_EXTERNAL_ROUTINES(ANVIL_DECLARE)
#undef ANVIL_DECLARE
}  // namespace anvil::r
