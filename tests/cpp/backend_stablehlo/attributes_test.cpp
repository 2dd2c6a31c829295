// Attributes in each of their spellings, and the names that pretty forms get.
#include "backend_stablehlo/parsed.h"

namespace anvil::stablehlo {
namespace {

// An operation with one attribute `a`.
Operation with(const std::string& value) { return first("\"x.y\"() {a = " + value + "} : () -> ()"); }
const Attribute& a(const Operation& op) { return need(op, "a"); }

TEST(Attributes, NumbersStringsAndWords) {
  EXPECT_EQ(integer(with("1 : i64"), a(with("1 : i64"))), 1);
  auto number = [](const char* text) {
    Operation op = with(text);
    return integer(op, a(op));
  };
  EXPECT_EQ(number("-7"), -7);
  EXPECT_EQ(number("0xFF : ui8"), 255);
  EXPECT_EQ(number("true"), 1);
  EXPECT_EQ(number("unit"), 1);
  EXPECT_EQ(number("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(number("18446744073709551615 : ui64"), -1);
  EXPECT_EQ(number("dense<3> : tensor<i64>"), 3);
  auto real_number = [](const char* text) {
    Operation op = with(text);
    return real(op, a(op));
  };
  EXPECT_EQ(real_number("-1.5e-03 : f64"), -1.5e-3);
  EXPECT_EQ(real_number("1."), 1.0);
  EXPECT_EQ(real_number("9.99999935E-39"), 9.99999935E-39);
  EXPECT_EQ(real_number("0x3F800000 : f32"), 1.0);
  EXPECT_EQ(real_number("0xFFF0000000000000 : f64"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(word(with("\"a \\\"b\\\" \\5C\\0A\\t\""), "a"), "a \"b\" \\\n\t");
  EXPECT_EQ(word(with("@f::@g"), "a"), "f");
  EXPECT_EQ(word(with("#stablehlo<comparison_direction LT>"), "a"), "LT");
  EXPECT_EQ(word(with("#stablehlo<transpose  NO_TRANSPOSE >"), "a"), "NO_TRANSPOSE");
  EXPECT_EQ(words(with("[#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]"), "a"),
            (std::vector<std::string>{"DEFAULT", "HIGHEST"}));
  EXPECT_FALSE(flag(with("false"), "a", true));
  EXPECT_TRUE(flag(first("\"x.y\"() <{flag}> : () -> ()"), "flag", false));
  EXPECT_TRUE(flag(first("\"x.y\"() : () -> ()"), "flag", true));
}

TEST(Attributes, ListsOldAndNew) {
  auto list = [](const char* text) {
    Operation op = with(text);
    return ints(op, a(op));
  };
  EXPECT_EQ(list("array<i64: 1, -2>"), (Ints{1, -2}));
  EXPECT_EQ(list("array<i64>"), Ints{});
  EXPECT_EQ(list("array<i1: true, false>"), (Ints{1, 0}));
  EXPECT_EQ(list("[1, 2 : i32]"), (Ints{1, 2}));
  EXPECT_EQ(list("dense<[1, 2]> : tensor<2xi64>"), (Ints{1, 2}));
  EXPECT_EQ(list("dense<1> : tensor<2xi64>"), (Ints{1, 1}));
  EXPECT_EQ(list("dense<> : tensor<0xi64>"), Ints{});
  EXPECT_EQ(list("dense<[0, 1]> : tensor<2xindex>"), (Ints{0, 1}));
  EXPECT_EQ(list("dense<false> : tensor<2xi1>"), (Ints{0, 0}));
  EXPECT_EQ(list("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(list("[[0, 1], [2, 3]]"), (Ints{0, 1, 2, 3}));
  for (const char* text : {"dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", "[[0, 1], [2, 3]]"}) {
    EXPECT_EQ(pairs_or(with(text), "a", {}), (Pairs{{0, 1}, {2, 3}}));
    EXPECT_EQ(lists(with(text), a(with(text))), (std::vector<Ints>{{0, 1}, {2, 3}}));
  }
  EXPECT_EQ(pairs_or(with("dense<> : tensor<0x2xi64>"), "a", {{1, 1}}), Pairs{});
  EXPECT_EQ(pairs_or(with("dense<2> : tensor<1x2xi64>"), "a", {}), (Pairs{{2, 2}}));
  EXPECT_EQ(pairs_or(with("1"), "b", {{5, 6}}), (Pairs{{5, 6}}));
  EXPECT_EQ(lists(with("dense<> : tensor<0x0xi64>"), a(with("dense<> : tensor<0x0xi64>"))), std::vector<Ints>{});
}

TEST(Attributes, WhatIsNotUnderstoodIsNotRefused) {
  for (const char* text :
       {"#mhlo.layout<\"{a}\">", "#sdy.sharding<@mesh, [{\"x\"}, {?}]>", "affine_map<(d0) -> (d0 + 1)>", "i64", "f32",
        "tensor<?xf32>", "tensor<2xcomplex<f32>>", "!quant.uniform<i8:f32, 1.0>", "(tensor<f8>) -> tuple<i1>",
        "dense<1.0> : tensor<2xf8>", "dense<(1.0, 2.0)> : tensor<complex<f32>>", "loc(\"x\")", "{k = [{}, \"}\"]}",
        "#stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
        "#stablehlo.bounds<?, 4>", "#unknown_alias", "vector<2xf32>", "opaque<\"a\", \"b\">"})
    EXPECT_EQ(with(text).attributes.count("a"), 1u) << text;
}

TEST(Attributes, StructuresAreNamedFieldsInAnyOrder) {
  Operation op = with(
      "#stablehlo.gather<index_vector_dim = 1, offset_dims = [1, 2], // a comment\n start_index_map = [0], "
      "operand_batching_dims = [2]>");
  const Dictionary& g = fields(op, a(op));
  EXPECT_EQ(field(op, g, "offset_dims"), (Ints{1, 2}));
  EXPECT_EQ(field(op, g, "operand_batching_dims"), Ints{2});
  EXPECT_EQ(field(op, g, "collapsed_slice_dims"), Ints{});
  EXPECT_EQ(integer_field(op, g, "index_vector_dim"), 1);
  op = with("#stablehlo.scatter<>");
  EXPECT_EQ(integer_field(op, fields(op, a(op)), "index_vector_dim"), 0);
  op = with("#stablehlo.channel_handle<handle = 1, type = 2>");
  EXPECT_EQ(integer_field(op, fields(op, a(op)), "type"), 2);
  op = first(
      "%0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [2, 1] x [1, 0], precision = "
      "[DEFAULT, "
      "HIGHEST], algorithm = <lhs_precision_type = f32, rhs_precision_type = tf32, num_primitive_operations = 1, "
      "allow_imprecise_accumulation = false> : (tensor<f32>, tensor<f32>) -> tensor<f32>");
  const Dictionary& d = fields(op, need(op, "dot_dimension_numbers"));
  EXPECT_EQ(field(op, d, "lhs_batching_dimensions"), Ints{0});
  EXPECT_EQ(field(op, d, "rhs_batching_dimensions"), Ints{1});
  EXPECT_EQ(field(op, d, "lhs_contracting_dimensions"), (Ints{2, 1}));
  EXPECT_EQ(field(op, d, "rhs_contracting_dimensions"), (Ints{1, 0}));
  EXPECT_EQ(words(op, "precision_config"), (std::vector<std::string>{"DEFAULT", "HIGHEST"}));
  EXPECT_EQ(std::get<Word>(fields(op, need(op, "algorithm")).at("rhs_precision_type").value).text, "tf32");
}

TEST(Attributes, AliasesStandForAttributes) {
  Module m = parse(
      "#dims = array<i64: 3, 4>\n#both = [#dims, #dims]\nfunc.func @f() { \"x.y\"() {a = #both} : () -> () return }");
  const Operation& op = m.functions[0].body.operations[0];
  EXPECT_EQ(ints(op, a(op)), (Ints{3, 4, 3, 4}));
}

// ---- convolutions -------------------------------------------------------------------------

void expect_dimensions(const Operation& op) {
  ConvDimensions c = conv_dimensions(op);
  EXPECT_EQ(c.input_batch, 0);
  EXPECT_EQ(c.input_feature, 3);
  EXPECT_EQ(c.input_spatial, (Ints{1, 2}));
  EXPECT_EQ(c.kernel_input_feature, 2);
  EXPECT_EQ(c.kernel_output_feature, 3);
  EXPECT_EQ(c.kernel_spatial, (Ints{1, 0}));
  EXPECT_EQ(c.output_batch, 1);
  EXPECT_EQ(c.output_feature, 0);
  EXPECT_EQ(c.output_spatial, (Ints{2, 3}));
}

TEST(Attributes, DimensionsOfConvolutions) {
  Operation op = first(
      "%0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[1, 0, i, o]->[f, b, 0, 1], window = {stride = "
      "[2, 1], pad "
      "= [[1, -1], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [3, 1], reverse = [false, true]} {batch_group_count = 1 "
      ": i64, "
      "feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>]} : (tensor<f32>, tensor<f32>) "
      "-> "
      "tensor<f32>");
  expect_dimensions(op);
  EXPECT_EQ(op.operands.size(), 2u);
  EXPECT_EQ(ints_or(op, "window_strides", {}), (Ints{2, 1}));
  EXPECT_EQ(pairs_or(op, "padding", {}), (Pairs{{1, -1}, {0, 2}}));
  EXPECT_EQ(ints_or(op, "lhs_dilation", {}), (Ints{1, 2}));
  EXPECT_EQ(ints_or(op, "rhs_dilation", {}), (Ints{3, 1}));
  EXPECT_EQ(ints_or(op, "window_reversal", {}), (Ints{0, 1}));
  EXPECT_EQ(integer_or(op, "feature_group_count", 1), 2);
  const char* generic = "\"stablehlo.convolution\"(%l, %r) <{dimension_numbers = ";
  const char* types = "}> : (tensor<f32>, tensor<f32>) -> tensor<f32>";
  expect_dimensions(first(std::string(generic) + "#stablehlo.conv<[b, 0, 1, f]x[1, 0, i, o]->[f, b, 0, 1]>" + types));
  expect_dimensions(
      first(std::string(generic) +
            "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions "
            "= [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, "
            "kernel_spatial_dimensions = [1, 0], output_batch_dimension = 1, output_feature_dimension = 0, "
            "output_spatial_dimensions = [2, 3]>" +
            types));
  auto bad = [&](const char* numbers) {
    Operation c = first(std::string(generic) + "#stablehlo.conv<" + numbers + ">" + types);
    return said([&] { conv_dimensions(c); });
  };
  EXPECT_EQ(bad("[b, 0, f]x[0, i, o]->[b, 0, f]"), "accepted");
  for (const char* numbers :
       {"[b, 0, b]x[0, i, o]->[b, 0, f]", "[b, 1, f]x[0, i, o]->[b, 0, f]", "[b, f]x[0, i, x]->[b, 0, f]",
        "[b, 0, 0, f]x[0, i, o]->[b, 0, f]", "[b]x[0, i, o]->[b, 0, f]", "[b, 0, -1, f]x[i, o]->[b, f]"})
    EXPECT_EQ(bad(numbers).substr(0, 2), "2:") << numbers;
}

// ---- pretty names -------------------------------------------------------------------------

TEST(Attributes, PrettyFormsHaveTheNamesOfGenericOnes) {
  auto list = [](const std::string& text, const char* name) {
    Operation op = first(text);
    return ints(op, need(op, {name}));
  };
  const std::string t = " : (tensor<2xf32>) -> tensor<2xf32>";
  EXPECT_EQ(list("%0 = stablehlo.broadcast_in_dim %x, dims = [1, 0]" + t, "broadcast_dimensions"), (Ints{1, 0}));
  EXPECT_EQ(list("%0 = stablehlo.transpose %x, dims = []" + t, "permutation"), Ints{});
  EXPECT_EQ(list("%0 = stablehlo.reverse %x, dims = [0] : tensor<2xf32>", "dimensions"), Ints{0});
  EXPECT_EQ(list("%0 = stablehlo.pad %x, %v, low = [-1], high = [2], interior = [0] : (tensor<f32>, tensor<f32>) -> "
                 "tensor<f32>",
                 "edge_padding_low"),
            Ints{-1});
  EXPECT_EQ(list("%0 = stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<f32>, tensor<f32>) -> tensor<f32>",
                 "slice_sizes"),
            Ints{4});
  EXPECT_EQ(list("%0 = stablehlo.fft %x, type = FFT, length = [8]" + t, "fft_length"), Ints{8});
  std::string slice = "%0 = stablehlo.slice %x [0:4, 1:9:2]" + t;
  EXPECT_EQ(list(slice, "start_indices"), (Ints{0, 1}));
  EXPECT_EQ(list(slice, "limit_indices"), (Ints{4, 9}));
  EXPECT_EQ(list(slice, "strides"), (Ints{1, 2}));
  EXPECT_EQ(list("%0 = stablehlo.slice %x []" + t, "start_indices"), Ints{});
  Operation op = first("%0 = stablehlo.compare  LT, %a, %b,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>");
  EXPECT_EQ(word(op, "comparison_direction"), "LT");
  EXPECT_EQ(word(op, "compare_type"), "TOTALORDER");
  EXPECT_TRUE(op.words.empty());
  op = first("%0 = stablehlo.reduce_precision %x, format = e8m10 : tensor<f32>");
  EXPECT_EQ(integer_or(op, "exponent_bits", 0), 8);
  EXPECT_EQ(integer_or(op, "mantissa_bits", 0), 10);
  EXPECT_EQ(integer_or(first("%0 = stablehlo.iota dim = 1 : tensor<f32>"), "iota_dimension", 0), 1);
  EXPECT_EQ(integer_or(first("%0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<f32>, tensor<f32>) -> tensor<f32>"),
                       "dimension", 0),
            1);
  EXPECT_EQ(
      integer_or(first("%0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<f32>) -> tensor<i32>"), "dimension", 0),
      1);
  EXPECT_TRUE(flag(first("%0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>"), "lower", false));
  op = first("check.expect_almost_eq_const %r, dense<[1.0, 2.0]> : tensor<2xf32>, tolerance = 0.1");
  EXPECT_EQ(real_or(op, "tolerance", 0), 0.1);
  EXPECT_EQ(std::get<Dense>(need(op, "value").value).type, tensor(DType::f32, {2}));
  EXPECT_TRUE(op.result_types.empty());
}

TEST(Attributes, WrongKindsAreRefusedWhereTheyStand) {
  EXPECT_EQ(said([] { with("1"), integer(with("\"s\""), a(with("\"s\""))); }),
            "2:16 an attribute of `x.y` should be an integer");
  EXPECT_EQ(said([] { ints(with("1"), a(with("1"))); }), "2:16 an attribute of `x.y` should be a list of integers");
  EXPECT_EQ(said([] { ints(with("[1, 2.0]"), a(with("[1, 2.0]"))); }),
            "2:20 an attribute of `x.y` should be an integer");
  EXPECT_EQ(said([] { need(with("1"), "b"); }), "2:3 `x.y` needs the attribute `b`");
  std::string huge = "dense<1> : tensor<1000000000000xi64>";
  EXPECT_EQ(said([&] { ints(with(huge), a(with(huge))); }), "2:16 a list of so many integers is not supported");
}

}  // namespace
}  // namespace anvil::stablehlo
