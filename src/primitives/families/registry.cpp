// The one registry: all families.
#include "primitives/families/families.h"

namespace anvil::primitives {

Registry& registry() {
  static Registry filled = [] {
    Registry r;
    register_elementwise(r);
    register_special(r);
    register_incomplete(r);
    register_bessel(r);
    register_compare(r);
    register_shape(r);
    register_joining(r);
    register_index(r);
    register_gather(r);
    register_reduce(r);
    register_fold(r);
    register_running(r);
    register_window(r);
    register_contract(r);
    register_convolution(r);
    register_sort(r);
    register_linalg(r);
    register_factorisations(r);
    register_reflections(r);
    register_random(r);
    register_control(r);
    register_case(r);
    register_checkpoint(r);
    register_print(r);
    register_check(r);
    return r;
  }();
  return filled;
}

}  // namespace anvil::primitives
