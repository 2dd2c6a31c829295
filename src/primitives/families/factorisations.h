// The derivatives of the factorisations, and what a system of equations shares with them.
#pragma once
#include "primitives/families/matrices.h"

namespace anvil::primitives {

void reverse_lu(ReverseStep&);
void reverse_qr(ReverseStep&);
void reverse_eigh(ReverseStep&);
void reverse_svd(ReverseStep&);
void reverse_eigh_values(ReverseStep&);
void reverse_svd_values(ReverseStep&);
bool forward_eigh(ForwardStep&);
bool forward_svd(ForwardStep&);

// The rows of each x in another order: row i is row order[i] of x. And the other way round: row i
// becomes row order[i].
Var rows_from(const Var& x, const Var& order);
Var rows_to(const Var& x, const Var& order);
// Solves a x = b, or a' x = b, with the factors that `lu` gives for a.
Var solve_by_lu(const Var& packed, const Var& permutation, const Var& b, bool transpose_a);

}  // namespace anvil::primitives
