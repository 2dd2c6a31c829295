// Modules, functions, operations, regions and locations in every form that tools print: the
// tree that the parser makes of them.
#include "backend_stablehlo/parsed.h"

namespace anvil::stablehlo {
namespace {

using Names = std::vector<std::string>;
using Types = std::vector<graph::TensorType>;

const graph::TensorType f32_2 = tensor(DType::f32, {2}), f32 = tensor(DType::f32, {}),
                        i1_2 = tensor(DType::boolean, {2});

// ---- modules and functions ----------------------------------------------------------------

TEST(Module, LoneFunctionsPrettyAndGenericModulesAreOne) {
  const char* texts[] = {
      "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }",
      "module { func.func public @f(%a: tensor<2xf32>) -> (tensor<2xf32>) { func.return %a : tensor<2xf32> } }",
      "module @m attributes {mhlo.num_partitions = 1 : i32, jax.uses_shape_polymorphism = false} {\n"
      "  func.func @f(%a: tensor<2xf32> {mhlo.sharding = \"{}\"}) -> (tensor<2xf32> {a.b = \"}\"}) attributes {c} {\n"
      "    return %a : tensor<2xf32> loc(#l)\n  } loc(\"f\")\n} loc(unknown)\n#l = loc(\"x.py\":1:2)",
      "\"builtin.module\"() <{sym_name = \"m\"}> ({\n  \"func.func\"() <{arg_attrs = [{}], function_type = "
      "(tensor<2xf32>) "
      "-> tensor<2xf32>, res_attrs = [{jax.result_info = \"result\"}], sym_name = \"f\", sym_visibility = \"public\"}> "
      "({\n"
      "  ^bb0(%a: tensor<2xf32>):\n    \"func.return\"(%a) : (tensor<2xf32>) -> ()\n  }) : () -> ()\n"
      "}) {mhlo.num_partitions = 1 : i32} : () -> ()"};
  for (const char* text : texts) {
    Module m = parse(text);
    ASSERT_EQ(m.functions.size(), 1u) << text;
    const Function& f = m.functions[0];
    EXPECT_EQ(f.name, "f");
    EXPECT_TRUE(f.is_public && !f.is_declaration);
    EXPECT_EQ(f.results, Types{f32_2});
    ASSERT_EQ(f.body.arguments.size(), 1u);
    EXPECT_EQ(f.body.arguments[0].name, "%a");
    EXPECT_EQ(f.body.arguments[0].type, f32_2);
    ASSERT_EQ(f.body.operations.size(), 1u);
    EXPECT_EQ(f.body.operations[0].name, "func.return");
    EXPECT_EQ(f.body.operations[0].operands, Names{"%a"});
    EXPECT_EQ(f.body.operations[0].operand_types, Types{f32_2});
  }
}

TEST(Module, FunctionsMayBePrivateDeclaredOddlyNamedAndInAnyOrder) {
  Module m = parse(
      "func.func private @\"<lambda>\"() { return }\n"
      "func.func nested @\"odd <\\C3\\A9> \\22\\\\\"() { return }\n"
      "func.func private @declared(tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\n"
      "func.func @my.affine_1-x$() attributes {no_inline} { return }\n");
  ASSERT_EQ(m.functions.size(), 4u);
  EXPECT_EQ(m.functions[0].name, "<lambda>");
  EXPECT_EQ(m.functions[1].name, "odd <\xC3\xA9> \"\\");
  EXPECT_FALSE(m.functions[0].is_public || m.functions[1].is_public);
  EXPECT_TRUE(m.functions[2].is_declaration);
  ASSERT_EQ(m.functions[2].body.arguments.size(), 2u);
  EXPECT_EQ(m.functions[2].body.arguments[1].type, f32);
  EXPECT_EQ(m.functions[3].name, "my.affine_1-x$");
}

TEST(Module, ArgumentsHaveTheNamesOfTheirLocationsAndResultsTheirInformation) {
  Module m = parse(
      "func.func @main(%a: tensor<f32> loc(\"x['w']\"), %b: tensor<f32> {d = 0 : i32} loc(#loc1), %c: tensor<f32> "
      "loc(\"f.py\":5:68 to :71), %d: tensor<f32> loc(unknown)) -> (tensor<f32> {jax.result_info = "
      "\"result[1]['b1']\"}, "
      "tensor<f32>) { return %a, %a : tensor<f32>, tensor<f32> }");
  const Function& f = m.functions[0];
  EXPECT_EQ(f.body.arguments[0].location, "x['w']");
  for (size_t k = 1; k < 4; ++k) EXPECT_EQ(f.body.arguments[k].location, "");
  EXPECT_EQ(f.result_info, (Names{"result[1]['b1']", ""}));
}

TEST(Module, WhatIsAroundFunctionsIsPassedOver) {
  Module m = parse(
      "\xEF\xBB\xBF// a comment }\r\n#loc = loc(unknown)\r\n#loc3 = loc(\"n \\22 <(\"(#loc7))\n"
      "#loc4 = loc(callsite(#loc3 at #loc))\n!pair = tensor<2xf32>\n#order = array<i64: 1, 0>\n"
      "module {\n  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}\n"
      "  sdy.mesh @one = <[\"x\"=2], device_ids=[0]>\n  func.func @main(%a: !pair) -> !pair {\n"
      "    return %a : !pair\n  }\n}\n{-#\n  dialect_resources: { a: { b: \"0x00\" } }\n#-}\n#loc7 = loc(\"later\")\n");
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].results, Types{f32_2});
}

// ---- operations ---------------------------------------------------------------------------

TEST(Operation, PrettyAndGenericFormsAreOne) {
  const char* texts[] = {
      "%0 = stablehlo.add %a, %b : tensor<2xf32>",
      "%0 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
      "%0 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>) loc(\"a\"(\"b\"))",
      "%0 = \"stablehlo.add\" (%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
      "%0 = \"stablehlo.add\"(%a, // half\n %b) {} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)"};
  for (const char* text : texts) {
    Operation op = first(text);
    EXPECT_EQ(op.name, "stablehlo.add") << text;
    EXPECT_EQ(op.operands, (Names{"%a", "%b"})) << text;
    EXPECT_EQ(op.results, Names{"%0"}) << text;
    EXPECT_EQ(op.operand_types, (Types{f32_2, f32_2})) << text;
    EXPECT_EQ(op.result_types, Types{f32_2}) << text;
    EXPECT_TRUE(op.attributes.empty()) << text;
    EXPECT_EQ(op.at.line, 2);
    EXPECT_EQ(op.at.column, 3);
  }
}

TEST(Operation, ResultsComeInGroupsAndByNames) {
  const char* types = " : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)";
  EXPECT_EQ(first("%a:3 = \"x.y\"(%b#1)" + std::string(types)).results, (Names{"%a#0", "%a#1", "%a#2"}));
  Operation op = first("%out:2, %s = \"x.y\"(%b#1)" + std::string(types));
  EXPECT_EQ(op.results, (Names{"%out#0", "%out#1", "%s"}));
  EXPECT_EQ(op.operands, Names{"%b#1"});
  op = first("%values, %indices = chlo.top_k(%x, k = 4) : tensor<5xf32> -> (tensor<4xf32>, tensor<4xi32>)");
  EXPECT_EQ(op.results, (Names{"%values", "%indices"}));
  EXPECT_EQ(integer_or(op, "k", 0), 4);
  EXPECT_EQ(op.result_types[1], tensor(DType::i32, {4}));
  op = first(
      "%s, %r = stablehlo.rng_bit_generator %x, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, "
      "tensor<f32>)");
  EXPECT_EQ(word(op, "rng_algorithm"), "THREE_FRY");
}

TEST(Operation, SignaturesOfEachKind) {
  auto types = [](const std::string& text) {
    Operation op = first(text);
    return std::make_pair(op.operand_types, op.result_types);
  };
  using P = std::pair<Types, Types>;
  EXPECT_EQ(types("%0 = stablehlo.select %p, %a, %b : tensor<2xi1>, tensor<2xf32>"),
            (P{{i1_2, f32_2, f32_2}, {f32_2}}));
  EXPECT_EQ(types("%0 = stablehlo.clamp %l, %x, %h : tensor<2xf32>"), (P{{f32_2, f32_2, f32_2}, {f32_2}}));
  EXPECT_EQ(types("%0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>"), (P{{f32_2}, {f32_2}}));
  EXPECT_EQ(types("%0 = chlo.next_after %x, %y : tensor<2xf32>, tensor<f32> -> tensor<2xf32>"),
            (P{{f32_2, f32}, {f32_2}}));
  EXPECT_EQ(types("%0 = stablehlo.iota dim = 0 : tensor<2xf32>"), (P{{}, {f32_2}}));
  EXPECT_EQ(types("%0:2 = stablehlo.optimization_barrier %x, %y : tensor<2xf32>, tensor<f32>"),
            (P{{f32_2, f32}, {f32_2, f32}}));
  EXPECT_EQ(types("stablehlo.optimization_barrier()\n %1 = stablehlo.iota dim = 0 : tensor<2xf32>"), (P{{}, {}}));
  EXPECT_EQ(types("check.expect_close %a, %b, max_ulp_difference = 3 : tensor<f32>, tensor<f32>"), (P{{f32, f32}, {}}));
  EXPECT_EQ(types("check.expect_eq %a, %b : tensor<f32>"), (P{{f32, f32}, {}}));
  EXPECT_EQ(types("%0 = stablehlo.convert %a : (tensor<2xi1>) -> tensor<2xf32>"), (P{{i1_2}, {f32_2}}));
  EXPECT_EQ(types("stablehlo.return"), (P{{}, {}}));
  EXPECT_EQ(types("%0 = sdy.sharding_constraint %x <@mesh, [{}, {?}]> : tensor<2xf32>"), (P{{f32_2}, {f32_2}}));
  EXPECT_EQ(first("call @\"odd <\\41>\"(%x) : (tensor<f32>) -> ()").name, "func.call");
  EXPECT_EQ(word(first("func.call @\"odd <\\41>\"(%x) : (tensor<f32>) -> ()"), "callee"), "odd <A>");
  EXPECT_EQ(word(first("\"func.call\"(%x) <{callee = @f}> : (tensor<f32>) -> ()"), "callee"), "f");
}

TEST(Operation, CompositesAndCustomCalls) {
  Operation op = first(
      "%0 = stablehlo.composite \"my.affine\" %x, %y {composite_attributes = {level = 3.000000e+00 : f64, w = dense<1> "
      ": "
      "tensor<2xi64>}, decomposition = @my.affine, version = 2 : i32} : (tensor<f32>, tensor<f32>) -> tensor<f32>");
  EXPECT_EQ(word(op, "name"), "my.affine");
  EXPECT_EQ(word(op, "decomposition"), "my.affine");
  EXPECT_EQ(op.operands, (Names{"%x", "%y"}));
  EXPECT_EQ(std::get<double>(fields(op, need(op, "composite_attributes")).at("level").value), 3.0);
  const char* calls[] = {
      "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {backend_config = \"\", mhlo.backend_config = {uplo = 76 : "
      "ui8}, "
      "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = "
      "[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], "
      "sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=4, j=4}, custom>} : (tensor<f32>) -> "
      "(tensor<f32>, tensor<i32>)",
      "%0:2 = \"stablehlo.custom_call\"(%x) <{call_target_name = \"lapack_spotrf_ffi\", api_version = 4 : i32}> "
      "{mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<f32>) -> (tensor<f32>, tensor<i32>)"};
  for (const char* call : calls) {
    op = first(call);
    EXPECT_EQ(word(op, "call_target_name"), "lapack_spotrf_ffi");
    EXPECT_EQ(integer(op, fields(op, need(op, "mhlo.backend_config")).at("uplo")), 76);
  }
}

// ---- regions ------------------------------------------------------------------------------

TEST(Region, WhileNamesTheArgumentsOfBothRegions) {
  Operation op = first(
      "%r:2 = stablehlo.while(%i = %a, %x = %b) : tensor<f32>, tensor<2xf32> attributes {m.n = 1} cond {\n"
      "    stablehlo.return %p : tensor<i1>\n  } do {\n    stablehlo.return %i, %x : tensor<f32>, tensor<2xf32>\n  }");
  EXPECT_EQ(op.operands, (Names{"%a", "%b"}));
  EXPECT_EQ(op.result_types, (Types{f32, f32_2}));
  ASSERT_EQ(op.regions.size(), 2u);
  for (const Region& r : op.regions) {
    ASSERT_EQ(r.arguments.size(), 2u);
    EXPECT_EQ(r.arguments[0].name, "%i");
    EXPECT_EQ(r.arguments[1].type, f32_2);
  }
  EXPECT_EQ(op.regions[1].operations[0].operands, (Names{"%i", "%x"}));
}

TEST(Region, ReduceInItsThreeForms) {
  const char* texts[] = {
      "%0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) "
      "-> tensor<f32>",
      "%0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n   "
      "reducer(%a: tensor<f32> loc(\"reduce:\"(\"reduce\")), %b: tensor<f32> loc(unknown))  {\n %s = stablehlo.add %a, "
      "%b : "
      "tensor<f32> loc(#l) stablehlo.return %s : tensor<f32> }",
      "%0 = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0>}> ({\n  ^bb0(%a: tensor<f32> loc(\"w:\"(#loc9)), "
      "%b: "
      "tensor<f32>):\n %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<2xf32>, "
      "tensor<f32>) -> tensor<f32>"};
  for (const char* text : texts) {
    Operation op = first(text);
    EXPECT_EQ(op.operands, (Names{"%x", "%i"}));
    EXPECT_EQ(ints(op, need(op, "dimensions")), Ints{0});
    EXPECT_EQ(reducer(op), "stablehlo.add");
    EXPECT_EQ(op.result_types, Types{f32});
  }
}

TEST(Region, ReduceOfSeveralPutsAllLeftArgumentsFirst) {
  Operation op = first(
      "%0:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [0] : (tensor<2xf32>, tensor<2xi1>, "
      "tensor<f32>, "
      "tensor<i1>) -> (tensor<f32>, tensor<i1>)\n  reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i1>, %d: "
      "tensor<i1>) "
      "{ stablehlo.return %a, %b : tensor<f32>, tensor<i1> }");
  EXPECT_EQ(op.operands, (Names{"%x", "%y", "%i", "%j"}));
  Names names;
  for (const Argument& a : op.regions[0].arguments) names.push_back(a.name);
  EXPECT_EQ(names, (Names{"%a", "%b", "%c", "%d"}));
}

TEST(Region, ScansCasesAndEmptyRegions) {
  Operation op = first(
      "%0, %1 = chlo.scan (%x) inits (%c) dimension=1 attributes { is_reverse = true } {\n  ^bb0(%e: tensor<f32>, %s: "
      "tensor<f32>):\n stablehlo.return %e, %s : tensor<f32>, tensor<f32> } : (tensor<2xf32>, tensor<f32>) -> "
      "(tensor<2xf32>, "
      "tensor<f32>)");
  EXPECT_EQ(op.operands, (Names{"%x", "%c"}));
  EXPECT_EQ(ints(op, need(op, "operandSegmentSizes")), (Ints{1, 1}));
  EXPECT_EQ(integer_or(op, "dimension", -1), 1);
  EXPECT_TRUE(flag(op, "is_reverse", false));
  EXPECT_EQ(op.regions.at(0).arguments.size(), 2u);
  op = first("%0 = \"stablehlo.case\"(%i) ({ stablehlo.return %a : tensor<f32> }) : (tensor<i32>) -> tensor<f32>");
  EXPECT_EQ(op.regions.size(), 1u);
  op = first("\"stablehlo.if\"(%p) ({}, { \"stablehlo.return\"() : () -> () }) : (tensor<i1>) -> ()");
  EXPECT_EQ(op.regions.at(0).operations.size() + op.regions.at(1).operations.size(), 1u);
}

}  // namespace
}  // namespace anvil::stablehlo
