// The elementary functions of floats and doubles, as formulas over an abstract vector
// type V (lanes.h): straight-line code without tables or conversions to integers. The
// only branch is the reduction of large arguments of sin, cos and tan.
//
// All formulas count on IEEE arithmetic, rounding to nearest, with subnormals, and on
// fma being one rounding. None may be reassociated or contracted: the exact sums and
// products fall apart. Then the same argument gives the same bits whatever V is.
//
// Notation: "ulp" is the distance between the neighbours of the exact result in the
// result's type; the largest errors named were measured over all floats and over a
// thousand million doubles (atan, pow, log2, rsqrt: a hundred million; those with coefficients
// in fitted_coefficients.h, sinh, cosh, cbrt and log10: some million). bench/elementary measures them.
#pragma once
#include "runtime/elementary/error_function.h"
#include "runtime/elementary/exponential.h"
#include "runtime/elementary/gamma.h"
#include "runtime/elementary/hyperbolic.h"
#include "runtime/elementary/inverse_trigonometric.h"
#include "runtime/elementary/logarithm.h"
#include "runtime/elementary/power.h"
#include "runtime/elementary/trigonometric.h"
