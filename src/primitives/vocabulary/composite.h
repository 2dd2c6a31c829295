// Primitives made of others, which need no rules for any backend: whatever runs a graph
// puts their expansion in the place of the call first. With a rule for it such a call is
// differentiated as a whole, without one through its expansion; with a StableHLO form it is
// written as a whole. A composite is the general case: its call carries its definition, the
// graph that was traced when the call was made, as parameter `definition`. A composite of the registry has one
// set of rules for all of its calls. One that calls own, as parameter `rules`, has rules for these calls alone
// and goes with the last of them.
#pragma once
#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

// `reverse` may be empty.
Primitive composite(std::string name, std::function<void(ReverseStep&)> reverse);
// Records a call that owns its composite. The last `residuals` results are not those of the function that the
// rules are about, but kept for the rules: they are differentiated as what the definition makes them of.
std::vector<ValuePtr> record_ruled(graph::Graph&, std::shared_ptr<const Primitive>, std::vector<ValuePtr> operands,
                                   graph::GraphPtr definition, size_t residuals = 0);
size_t residuals_of(const graph::Call&);
// Whether this is a composite with a derivative of its own.
bool is_ruled(const Primitive&);
// The captured tensors of a graph that is put into another one become those of the other.
void add_constants(graph::Graph& to, const graph::Graph& from);
bool is_composite(const graph::Operation&);

// What reads the expanded graph: it keeps the calls that it has a rule for. Control flow with an
// expansion stays until calls are no longer merged.
enum class Reader : uint8_t { backend, forward, reverse, text, lowering };
// The graph with expansions in the place of calls, inner graphs included; of those calls that
// `wanted` chooses, when it is given. Other values are shared.
using Wanted = std::function<bool(const graph::Call&)>;
bool expands(const graph::Graph&, Reader, const Wanted& wanted = {});  // whether there is such a call
graph::GraphPtr expand(const graph::Graph&, Reader, const Wanted& wanted = {});

}  // namespace anvil::primitives
