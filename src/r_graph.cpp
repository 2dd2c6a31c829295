// Graphs as R objects: the transformations, and the ways
// out: StableHLO text, loop programs, LLVM IR and assembly.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "primitives/vocabulary/composite.h"
#include "r_common.h"
#include "r_routines.h"
#include "runtime/elementary/table.h"

namespace anvil::r {

// What a transformation makes of a graph. An error names the user's call that it is about.
template <class F>
static SEXP made_of(SEXP graph, SEXP fields, F&& transformed) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    try {
      return wrap_graph(transformed(*holder.graph), holder.locations, fields);
    } catch (const Error& e) {
      SEXP call = holder.locations ? holder.locations->at(e.location) : R_NilValue;
      if (call == R_NilValue) throw;
      Shield<SEXP> where(call_r("location_text", {call}));
      std::vector<std::string> details = e.details;
      details.push_back("i It was called by " + text_of(where, "location") + ".");
      throw Error(e.kind, e.what(), details);
    }
  });
}
// One flag for each of some values.
static std::vector<bool> flags_for(const std::vector<ValuePtr>& values, SEXP flags, const char* argument) {
  if (TYPEOF(flags) != LGLSXP || static_cast<size_t>(XLENGTH(flags)) != values.size())
    throw Error("argument",
                "`" + std::string(argument) + "` must hold one flag for each of these values of the graph.");
  std::vector<bool> marked;
  for (R_xlen_t i = 0; i < XLENGTH(settled(flags)); ++i) marked.push_back(LOGICAL_ELT(flags, i) == TRUE);
  return marked;
}

SEXP anvil_gradient(SEXP graph, SEXP wrt, SEXP with_value, SEXP fields) {
  return made_of(graph, fields, [&](const Graph& g) {
    return transform::gradient(g, flags_for(g.inputs, wrt, "wrt"), flag_of(with_value, "with_value"));
  });
}
SEXP anvil_jvp(SEXP graph, SEXP wrt, SEXP fields) {
  return made_of(graph, fields, [&](const Graph& g) { return transform::jvp(g, flags_for(g.inputs, wrt, "wrt")); });
}
SEXP anvil_vjp(SEXP graph, SEXP wrt, SEXP from, SEXP fields) {
  return made_of(graph, fields, [&](const Graph& g) {
    return transform::vjp(g, flags_for(g.inputs, wrt, "wrt"), flags_for(g.outputs, from, "from"));
  });
}
SEXP anvil_jacobian(SEXP graph, SEXP wrt, SEXP fields) {
  return made_of(graph, fields,
                 [&](const Graph& g) { return transform::jacobian(g, flags_for(g.inputs, wrt, "wrt")); });
}
// batched: the inputs that have a dimension of this size more, the last one; all outputs have it.
SEXP anvil_batch(SEXP graph, SEXP batched, SEXP size, SEXP fields) {
  return made_of(graph, fields, [&](const Graph& g) {
    return transform::batch(g, flags_for(g.inputs, batched, "batched"), integer_of(size, "size"));
  });
}

// passes: names among inline_scalars, unused_constants, dead_calls, equal_calls, simplify, optimize
SEXP anvil_simplify(SEXP graph, SEXP passes) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    graph::Substitution map;
    GraphPtr g = graph::clone(*holder.graph, map);
    for (const std::string& pass : texts_of(passes, "passes")) {
      if (pass == "inline_scalars")
        transform::inline_scalar_constants(*g);
      else if (pass == "unused_constants")
        transform::remove_unused_constants(*g);
      else if (pass == "dead_calls")
        transform::remove_dead_calls(*g);
      else if (pass == "equal_calls")
        transform::merge_equal_calls(*g);
      else if (pass == "simplify")
        transform::simplify(*g);
      else if (pass == "optimize")
        transform::optimize(*g);
      else
        throw Error(
            "argument", "There is no pass named `" + pass + "`.",
            {"i The passes are inline_scalars, unused_constants, dead_calls, equal_calls, simplify and optimize."});
    }
    return wrap_graph(g, holder.locations, fields_of(graph));
  });
}

// The outputs for these tensors, by Eigen: the canonical implementation.
SEXP anvil_evaluate(SEXP graph, SEXP inputs) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    std::vector<Tensor> given;
    for (R_xlen_t i = 0; i < XLENGTH(list_of(inputs, "inputs")); ++i) {
      SEXP x = VECTOR_ELT(inputs, i);
      if (class_of(x) != Class::tensor)
        throw wrong_argument("inputs[[" + std::to_string(i + 1) + "]]", "an AnvilTensor", x);
      given.push_back(hold(x));
    }
    if (given.size() != holder.graph->inputs.size())
      throw Error("argument", "The graph has " + std::to_string(holder.graph->inputs.size()) + " inputs.",
                  {"x Got " + std::to_string(given.size()) + "."});
    for (size_t i = 0; i < given.size(); ++i)
      if (!graph::same_type(given[i].type, holder.graph->inputs[i]->type))
        throw Error(
            "argument",
            "`inputs[[" + std::to_string(i + 1) + "]]` must be " + graph::text(holder.graph->inputs[i]->type) + ".",
            {"x Got " + graph::text(given[i].type) + ".", "i That is the type of this input of `graph`."});
    std::vector<Tensor> results =
        naming_calls(holder.locations.get(), [&] { return evaluate_graph(*holder.graph, given); });
    Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(results.size())); }));
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].type = holder.graph->outputs[i]->type;
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), tensor_from(results[i]));
    }
    return static_cast<SEXP>(list);
  });
}

// labels: list(arguments, results), each NULL or one string per value. Gives list(text, constants).
SEXP anvil_stablehlo(SEXP graph, SEXP constants_as_inputs, SEXP labels) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    if (XLENGTH(list_of(labels, "labels")) != 3) throw Error("argument", "`labels` must be a list of three.");
    SEXP donated = VECTOR_ELT(labels, 2);
    if (TYPEOF(donated) != LGLSXP) throw wrong_argument("donated", "a logical vector", donated);
    stablehlo::Labels named{texts_of(VECTOR_ELT(labels, 0), "labels"), texts_of(VECTOR_ELT(labels, 1), "labels"),
                            std::vector<bool>(LOGICAL(donated), LOGICAL(donated) + XLENGTH(donated))};
    stablehlo::Written written =
        stablehlo::write(*holder.graph, flag_of(constants_as_inputs, "constants_as_inputs"), named);
    Shield<SEXP> text(guarded([&] { return string(written.text); }));
    Shield<SEXP> constants(nodes(written.constants, graph));
    return guarded([&] {
      SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
      SET_VECTOR_ELT(list, 0, text);
      SET_VECTOR_ELT(list, 1, constants);
      UNPROTECT(1);
      return list;
    });
  });
}

// name: of the function to read, or "" for the text's own choice
SEXP anvil_read_stablehlo(SEXP text, SEXP name) {
  return entry([&] {
    stablehlo::Program program = stablehlo::read_program(text_of(text, "text"), text_of(name, "entry"));
    Shield<SEXP> arguments(guarded([&] { return strings(program.arguments); }));
    Shield<SEXP> results(guarded([&] { return strings(program.results); }));
    Shield<SEXP> fields(call_r("imported_fields", {arguments, results}));
    Shield<SEXP> source(guarded([&] {
      static const char* parts[] = {"source", "entry", ""};
      SEXP list = PROTECT(Rf_mkNamed(VECSXP, parts));
      SET_VECTOR_ELT(list, 0, text);
      SET_VECTOR_ELT(list, 1, name);
      UNPROTECT(1);
      return list;
    }));
    return wrap_graph(program.graph, nullptr, fields, nullptr, source);
  });
}

// The R calls of these locations, line by line.
static std::string calls_text(SEXP graph, const loops::Origins& origins) {
  Shield<SEXP> calls(calls_at(graph_of(graph).locations.get(), origins));
  Shield<SEXP> lines(call_r("origin_text", {calls}));
  return text_of(lines, "text");
}

// LLVM IR with calls in the place of the numbers in its comments.
static std::string with_calls(SEXP graph, const std::string& ir) {
  const std::string mark = "; calls";
  std::istringstream from(ir);
  std::string text;
  for (std::string line; std::getline(from, line);) {
    if (line.starts_with(mark)) {
      std::istringstream numbers(line.substr(mark.size()));
      const loops::Origins origins{std::istream_iterator<int>(numbers), std::istream_iterator<int>()};
      std::istringstream calls(calls_text(graph, origins));
      while (std::getline(calls, line)) text += "; " + line + "\n";
    } else {
      text += line + "\n";
    }
  }
  return text;
}

// level: "loops", "llvm" or "asm", of the graph as jit() compiles it
SEXP anvil_inspect(SEXP graph, SEXP level) {
  return entry([&] {
    std::string wanted = text_of(level, "level"), text;
    graph::Substitution map;
    GraphPtr g = graph::clone(*primitives::expand(*graph_of(graph).graph, primitives::Reader::backend), map);
    transform::optimize(*g);
    loops::Program program = compiler::compile(*g, llvm_backend::target());
    if (wanted == "loops")
      text = loops::print(program, [&](const loops::Origins& origins) { return calls_text(graph, origins); });
    else if (wanted == "asm")
      text = llvm_backend::text(program, llvm_backend::Text::assembly);
    else
      text = with_calls(graph, llvm_backend::text(program, llvm_backend::Text::llvm));
    return guarded([&] { return string(text); });
  });
}

// The loop program after each pass of the compiler: a named character vector.
SEXP anvil_stages(SEXP graph) {
  return entry([&] {
    graph::Substitution map;
    GraphPtr g = graph::clone(*primitives::expand(*graph_of(graph).graph, primitives::Reader::backend), map);
    transform::optimize(*g);
    std::vector<std::string> labels, texts;
    for (compiler::Stage& stage : compiler::stages(*g, llvm_backend::target())) {
      labels.push_back(stage.name);
      texts.push_back(stage.text);
    }
    return guarded([&] {
      SEXP x = PROTECT(strings(texts)), n = PROTECT(strings(labels));
      Rf_setAttrib(x, R_NamesSymbol, n);
      UNPROTECT(2);
      return x;
    });
  });
}

// path: of the code generator's library, or NULL. list(available, reason, version, vector_bytes)
SEXP anvil_llvm(SEXP path) {
  return entry([&] {
    if (path != R_NilValue) {
      llvm_backend::set_library(text_of(path, "path"));
      return R_NilValue;
    }
    std::string reason;
    bool available = llvm_backend::available(&reason);
    std::string version = available ? llvm_backend::version() : "";
    int bytes = available ? llvm_backend::target().vector_bytes : 0;
    static const char* features[] = {"baseline", "avx2 fma", "avx512 avx2 fma"};
    const char* cpu = features[static_cast<size_t>(elementary::detected_isa())];
    return guarded([&] {
      static const char* fields[] = {"available", "reason", "version", "vector_bytes", "cpu", ""};
      SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
      SET_VECTOR_ELT(list, 0, Rf_ScalarLogical(available));
      SET_VECTOR_ELT(list, 1, string(reason));
      SET_VECTOR_ELT(list, 2, string(version));
      SET_VECTOR_ELT(list, 3, Rf_ScalarInteger(bytes));
      SET_VECTOR_ELT(list, 4, string(cpu));
      UNPROTECT(1);
      return list;
    });
  });
}

}  // namespace anvil::r
