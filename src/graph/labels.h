// The labels of values: "%x1" an input, "%c1" a constant, "%1" a result. Those of an inner graph stand behind the
// label of the call that holds it, "%2.x1" and "%2.1", so that no two values of a program share one, and what an
// inner graph captures has the label of the scope that it comes from.
#pragma once
#include "graph/graph.h"

namespace anvil::graph {

using Labels = std::unordered_map<const Value*, std::string>;
// Adds those of a graph, with `scope` before each label; gives how many numbers its results have used up.
int add_labels(const Graph&, const std::string& scope, Labels&);
Labels labels_of(const Graph&);                          // of a whole program
std::string label(const Labels&, const ValuePtr&);       // of a literal its text; "???" of a value that has none
std::string definition(const Labels&, const ValuePtr&);  // "%1: f32[2]"
std::string text(const Labels&, const Call&);            // one line of the printed form
// The printed form; `nested`: the bodies of inner graphs below their calls.
std::string print(const Graph&, std::string_view title, const Labels&, bool nested);

}  // namespace anvil::graph
