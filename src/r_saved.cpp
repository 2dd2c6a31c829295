// Graphs as R objects, and how they outlive a session. What the external pointer of a graph keeps is a cell of its fields
// and of what it is saved as: the StableHLO text that it was read from, or a vector without elements, of a class
// of ours, which becomes the code of the graph when somebody writes it (serialize(), saveRDS(), parallel workers). A graph that
// comes from elsewhere has no address; the first use makes the graph again.
#include "r_common.h"
#include "r_routines.h"

// behind what defines R's types
#include <R_ext/Altrep.h>

namespace anvil::r {

static R_altrep_class_t unsaved;

// x: a vector of that class; its state is what saved_graph() gives
static SEXP state_of(SEXP x) {
  return entry([&] { return call_r("saved_graph", {R_altrep_data1(x)}); });
}

void register_saved(DllInfo* dll) {
  unsaved = R_make_altraw_class("unsaved_graph", "anvil", dll);
  R_set_altrep_Serialized_state_method(unsaved, state_of);
  // in a cell: R sets the attributes of what this gives to those of the vector
  R_set_altrep_Unserialize_method(unsaved, [](SEXP, SEXP state) { return Rf_cons(state, R_NilValue); });
  R_set_altrep_Length_method(unsaved, [](SEXP) { return R_xlen_t(0); });
  R_set_altvec_Dataptr_method(unsaved, [](SEXP, Rboolean) {
    static char nothing;
    return static_cast<void*>(&nothing);
  });
}

SEXP wrap_graph(GraphPtr g, std::shared_ptr<Locations> locations, SEXP fields, std::shared_ptr<const Program> program,
                SEXP saved) {
  Shield<SEXP> kept(guarded([&] { return Rf_cons(fields, saved == R_NilValue ? saved : Rf_list1(saved)); }));
  Shield<SEXP> graph(
      own(std::make_unique<GraphHolder>(GraphHolder{std::move(g), std::move(locations), std::move(program)}),
          names.a_graph, names.graph, kept));
  if (saved == R_NilValue) guarded([&] { return SETCDR(kept, R_new_altrep(unsaved, graph, R_NilValue)); });
  return graph;
}

SEXP fields_of(SEXP graph) {
  SEXP kept = R_ExternalPtrProtected(graph);
  return TYPEOF(kept) == LISTSXP ? CAR(kept) : R_NilValue;
}

SEXP anvil_graph_fields(SEXP graph) {
  return entry([&] {
    graph_of(graph);
    return fields_of(graph);
  });
}

const GraphHolder& graph_of(SEXP x) {
  if (auto* holder = owned<GraphHolder>(x, names.a_graph)) return *holder;
  if (!is_kind(x, names.a_graph))
    throw Error("argument", "`graph` must be an AnvilGraph.",
                {"x Got " + describe(x) + ".", "i `trace_fn()` makes one."});
  SEXP kept = R_ExternalPtrProtected(x), saved = TYPEOF(kept) == LISTSXP ? CDR(kept) : R_NilValue;
  Shield<SEXP> again(call_r("restored_graph", {TYPEOF(saved) == LISTSXP ? CAR(saved) : R_NilValue}));
  auto* holder = owned<GraphHolder>(again, names.a_graph);
  if (holder == nullptr) throw InternalError("restored_graph() gave no graph");
  adopt(x, std::make_unique<GraphHolder>(*holder));
  return *owned<GraphHolder>(x, names.a_graph);
}

}  // namespace anvil::r
