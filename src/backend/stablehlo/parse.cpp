// The parser of syntax.h: recursive descent over characters, because `<`, `>`, `x` and `-`
// mean different things inside types. Nesting is bounded, so that no text exhausts the stack.
// Here: modules and functions.
#include "backend/stablehlo/operation_parser.h"

namespace anvil::stablehlo {
namespace {

class Parser : OperationParser {
 public:
  explicit Parser(std::string_view text) : OperationParser(text) {}

  Module module() {
    Module m;
    while (!at_end()) item(m);
    return m;
  }

 private:
  using TensorType = graph::TensorType;

  void item(Module& m) {
    Deeper deeper(*this);
    if (peek() == '#')
      attribute_alias();
    else if (peek() == '!')
      type_alias();
    else if (at("{-#"))
      skip_resources();
    else if (accept_word("module") || accept_word("builtin.module"))
      pretty_module(m);
    else if (at("\"builtin.module\""))
      generic_module(m);
    else if (accept_word("func.func"))
      function(m);
    else if (at("\"func.func\""))
      generic_function(m);
    else if (at("sdy.") || at("\"sdy."))
      declaration_of_devices();
    else
      fail("expected a module or a function");
  }
  // sdy.mesh @mesh = <["a"=2]> {..}, or "sdy.mesh"() <{..}> : () -> ()
  void declaration_of_devices() {
    if (peek() == '"') {
      operation();
      return;
    }
    identifier();
    symbol();
    expect("=");
    balanced();
    if (peek() == '{') balanced();
    skip_location();
  }

  void pretty_module(Module& m) {
    if (peek() == '@') symbol();
    if (accept_word("attributes")) dictionary();
    expect("{");
    while (!accept("}")) item(m);
    skip_location();
  }
  void generic_module(Module& m) {
    quoted();
    expect("(");
    expect(")");
    if (at("<{")) balanced();
    expect("(");
    expect("{");
    if (peek() == '^') block_header();
    while (!accept("}")) item(m);
    expect(")");
    generic_end();
  }
  // Attributes and signature of a module or a function.
  void generic_end() {
    if (peek() == '{') dictionary();
    expect(":");
    skip_type();
    skip_location();
  }

  // ---- functions --------------------------------------------------------------------------
  void function(Module& m) {
    Function f;
    f.at = here();
    if (accept_word("private") || accept_word("nested"))
      f.is_public = false;
    else
      accept_word("public");
    f.name = symbol();
    if (is_named())
      f.body.arguments = arguments();
    else
      for (TensorType& t : types_in_parentheses())
        f.body.arguments.push_back({"%" + std::to_string(f.body.arguments.size()), std::move(t)});
    if (accept("->")) results(f);
    if (accept_word("attributes")) dictionary();
    f.is_declaration = peek() != '{';
    if (!f.is_declaration) body(f);
    skip_location();
    m.functions.push_back(std::move(f));
  }
  // Declarations may have types in place of arguments.
  bool is_named() {
    size_t start = place_;
    expect("(");
    char c = peek();
    place_ = start;
    return c == '%' || c == ')';
  }
  void body(Function& f) {
    Region r = region();
    if (!r.arguments.empty()) refuse(f.at, "the body of `@" + f.name + "` has arguments of its own");
    f.body.operations = std::move(r.operations);
    f.body.at = r.at;
  }
  void results(Function& f) {
    if (peek() != '(') {
      f.results = {type()};
      return;
    }
    expect("(");
    if (accept(")")) return;
    do {
      f.results.push_back(type());
      Dictionary d;
      if (peek() == '{') dictionary(d);
      f.result_info.push_back(result_info(d));
      skip_location();
    } while (accept(","));
    expect(")");
  }
  static std::string result_info(const Dictionary& d) {
    auto it = d.find("jax.result_info");
    const std::string* s = it == d.end() ? nullptr : std::get_if<std::string>(&it->second.value);
    return s ? *s : "";
  }

  // "func.func"() <{function_type = .., sym_name = ".."}> ({ ^bb0(..): .. }) {..} : () -> ()
  void generic_function(Module& m) {
    Function f;
    f.at = here();
    quoted();
    expect("(");
    expect(")");
    Dictionary d;
    if (accept("<")) {
      function_attributes(f, d);
      expect(">");
    }
    expect("(");
    skip_space();
    size_t start = place_;
    f.is_declaration = accept("{") && accept("}");
    if (!f.is_declaration) {
      place_ = start;
      f.body = region();
    }
    expect(")");
    if (peek() == '{') function_attributes(f, d);
    expect(":");
    skip_type();
    skip_location();
    name(f, d);
    m.functions.push_back(std::move(f));
  }
  // A dictionary whose function_type gives the results.
  void function_attributes(Function& f, Dictionary& d) {
    expect("{");
    if (accept("}")) return;
    do {
      std::string name = key();
      if (!accept("=")) continue;
      if (name == "function_type") {
        types_in_parentheses();
        expect("->");
        f.results = result_types();
      } else
        d.insert_or_assign(std::move(name), attribute());
    } while (accept(","));
    expect("}");
  }
  static void name(Function& f, const Dictionary& d) {
    if (auto it = d.find("sym_name"); it != d.end())
      if (auto s = std::get_if<std::string>(&it->second.value)) f.name = *s;
    if (auto it = d.find("sym_visibility"); it != d.end())
      if (auto s = std::get_if<std::string>(&it->second.value)) f.is_public = *s == "public";
    auto it = d.find("res_attrs");
    auto items = it == d.end() ? nullptr : std::get_if<std::vector<Attribute>>(&it->second.value);
    if (!items || items->size() != f.results.size()) return;
    for (const Attribute& item : *items) {
      auto entries = std::get_if<std::shared_ptr<Dictionary>>(&item.value);
      f.result_info.push_back(entries ? result_info(**entries) : "");
    }
  }
};

}  // namespace

Module parse(std::string_view text) {
  Module m;
  citing(text, [&] { m = Parser(text).module(); });
  return m;
}

}  // namespace anvil::stablehlo
