// What each family adds to the registry.
#pragma once
#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

void register_elementwise(Registry&);
void register_conversions(Registry&);  // part of register_elementwise
void register_special(Registry&);
void register_incomplete(Registry&);
void register_bessel(Registry&);
void register_compare(Registry&);
void register_shape(Registry&);
void register_joining(Registry&);
void register_index(Registry&);
void register_gather(Registry&);
void register_reduce(Registry&);
void register_fold(Registry&);
void register_running(Registry&);
void register_window(Registry&);
void register_contract(Registry&);
void register_convolution(Registry&);
void register_sort(Registry&);
void register_linalg(Registry&);
void register_factorisations(Registry&);
void register_reflections(Registry&);
void register_random(Registry&);
void register_control(Registry&);
void register_case(Registry&);
void register_checkpoint(Registry&);
void register_print(Registry&);
void register_check(Registry&);

}  // namespace anvil::primitives
