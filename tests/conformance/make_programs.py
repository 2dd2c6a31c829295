#!/usr/bin/env python3
"""Writes the programs of tests/conformance/programs: texts that JAX prints for the CPU, or that
stand here, with inputs and what XLA makes of them.

    make_programs.py RUN_HLO FOLDER

RUN_HLO is a run_hlo.py whose class Xla runs StableHLO text; the Python needs JAX 0.10.2. The
files are as in a folder of JAX's programs: NAME.mlir, NAME.json and index.csv, for
`anvil_conformance jax FOLDER`.
"""
import csv
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
import numpy as np
import run_hlo

xla = run_hlo.Xla()
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jax import lax

folder, rows = sys.argv[2], []
random = np.random.default_rng(5)


def put(name, about, text, inputs, atol=0.0, rtol=1e-5):
    outputs, _ = xla.run(text, inputs)
    n = len(outputs)
    case = {"name": name, "about": about, "inputs": [run_hlo.encode(np.asarray(a)) for a in inputs],
            "outputs": [run_hlo.encode(o) for o in outputs], "atol": [atol] * n, "rtol": [rtol] * n}
    with open(os.path.join(folder, name + ".mlir"), "w") as f:
        f.write(text)
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump(case, f)
    rows.append([name, name.split("_")[0], "T1", "", "", len(inputs), n, len(text), about])


def traced(name, about, function, *inputs, **tolerance):
    put(name, about, jax.jit(function).lower(*inputs).as_text(), [np.asarray(a) for a in inputs], **tolerance)


# --- sorting: what JAX prints -------------------------------------------------------------------

special = np.array([0.0, -0.0, np.nan, 2, np.inf, -np.inf, 1, -1, 0.5, -0.0, 0.0, np.nan])
few = random.integers(0, 3, 40).astype("i4")
halves = (random.integers(-2, 3, 40) * 0.5).astype("f4")
halves[5], halves[9] = -0.0, np.nan
normal = random.standard_normal(40)
for dtype in ("f4", "f8"):
    traced("sort_special_" + dtype, "zeros and NaN, ascending and descending, and the permutations",
           lambda x: (jnp.sort(x), jnp.argsort(x), jnp.sort(x, descending=True), jnp.argsort(x, descending=True)),
           special.astype(dtype))
traced("sort_two_keys", "an integer key, then a float one", lambda a, b, c: lax.sort((a, b, c), num_keys=2), few, halves,
       normal)
traced("sort_three_keys", "a float key, then two others", lambda a, b, c: lax.sort((b, a, c), num_keys=3), few, halves,
       normal)
traced("sort_axes", "along each of three axes; a median",
       lambda x: (jnp.sort(x, axis=0), jnp.sort(x, axis=1), jnp.argsort(x, axis=1), jnp.median(x, axis=2)),
       random.standard_normal((4, 7, 5)).astype("f4"), rtol=1e-4)
traced("sort_bool", "of bools", lambda x: (jnp.sort(x), jnp.argsort(x)), few > 0)
traced("sort_lexsort", "lexicographic order", lambda a, b: jnp.lexsort((a, b)), few, halves)
traced("sort_gradient", "gradient of a weighted sum of sorted numbers",
       jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(40.0))), normal)
traced("sort_top_k_gradient", "gradient of the largest ones",
       jax.grad(lambda x: jnp.sum(lax.top_k(x, 5)[0] ** 2)), normal)

# --- sorting: other comparators -------------------------------------------------------------------

F, I = "(tensor<f64>, tensor<f64>) -> tensor<i1>", "(tensor<i32>, tensor<i32>) -> tensor<i1>"
mixed = f"""%p = stablehlo.compare GT, %c, %d, SIGNED : {I}
    %e = stablehlo.compare EQ, %c, %d, SIGNED : {I}
    %l = stablehlo.compare LT, %a, %b, FLOAT : {F}
    """
comparators = {
    "greater": f"%r = stablehlo.compare GT, %a, %b, FLOAT : {F}",
    "swapped": f"%r = stablehlo.compare LT, %b, %a, FLOAT : {F}",
    "second": f"%r = stablehlo.compare LT, %c, %d, SIGNED : {I}",
    "absolute": f"""%p = stablehlo.abs %a : tensor<f64>
    %q = stablehlo.abs %b : tensor<f64>
    %r = stablehlo.compare LT, %p, %q, FLOAT : {F}""",
    "mixed": mixed + """%u = stablehlo.and %e, %l : tensor<i1>
    %r = stablehlo.or %p, %u : tensor<i1>""",
    "mixed_select": mixed + "%r = stablehlo.select %e, %l, %p : tensor<i1>, tensor<i1>",
    "difference": f"""%p = stablehlo.subtract %a, %b : tensor<f64>
    %z = stablehlo.constant dense<0.0> : tensor<f64>
    %r = stablehlo.compare LT, %p, %z, FLOAT : {F}""",
    "constant": "%r = stablehlo.constant dense<false> : tensor<i1>"}
for name, body in comparators.items():
    n = 37
    x, y = f"tensor<{n}xf64>", f"tensor<{n}xi32>"
    put("sort_by_" + name, "a comparator of (a, b) of one operand and (c, d) of another", f"""func.func @main(%x: {x}, %y: {y}) -> ({x}, {y}) {{
  %0:2 = "stablehlo.sort"(%x, %y) ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
    {body}
    stablehlo.return %r : tensor<i1>
  }}) {{dimension = 0 : i64, is_stable = true}} : ({x}, {y}) -> ({x}, {y})
  return %0#0, %0#1 : {x}, {y}
}}
""", [random.standard_normal(n), random.integers(-5, 5, n).astype("i4")])

# --- LAPACK's factorisations, as JAX calls them on CPUs --------------------------------------------

square = random.standard_normal((3, 4, 4))
positive = np.einsum("bij,bkj->bik", square, square) + 4 * np.eye(4)
column, row = random.standard_normal((3, 4, 2)), random.standard_normal((3, 2, 4))
for dtype, tolerance in (("f4", {"rtol": 1e-4, "atol": 1e-5}), ("f8", {"rtol": 1e-10, "atol": 1e-12})):
    p, triangle = positive.astype(dtype), (square + 3 * np.eye(4)).astype(dtype)
    indefinite = p * np.array([1, -1, 1], dtype)[:, None, None]
    traced("lapack_cholesky_" + dtype, "of a batch, of one matrix, and where there is none",
           lambda x, y: (jnp.linalg.cholesky(x), jnp.linalg.cholesky(x[0], upper=True), jnp.linalg.cholesky(y)), p,
           indefinite, **tolerance)
    traced("lapack_cho_solve_" + dtype, "a system by its factor", lambda x, y: jsl.cho_solve(jsl.cho_factor(x), y), p[0],
           column.astype(dtype)[0], **tolerance)
    traced("lapack_gradient_" + dtype, "gradient through a factor", jax.grad(lambda x: jnp.sum(jnp.linalg.cholesky(x) ** 3)),
           p[0], rtol=1e-3 if dtype == "f4" else 1e-9, atol=1e-4)
    for left in (True, False):
        traced(f"lapack_solve_{'left' if left else 'right'}_{dtype}", "triangular systems: all letters",
               lambda a, b: [lax.linalg.triangular_solve(a, b, left_side=left, lower=lower, transpose_a=transposed,
                                                         unit_diagonal=unit)
                             for lower in (True, False) for transposed in (True, False) for unit in (True, False)],
               triangle, (column if left else row).astype(dtype), **tolerance)

# --- the rest ---------------------------------------------------------------------------------------

for state, bits in ((2, "5xui64"), (3, "7x3xui32"), (3, "10xui8"), (2, "2x3xui16")):
    s, b = f"tensor<{state}xui64>", f"tensor<{bits}>"
    put(f"philox_{state}_{bits}", "random bits by Philox", f"""func.func @main(%s: {s}) -> ({s}, {b}) {{
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : ({s}) -> ({s}, {b})
  return %0, %1 : {s}, {b}
}}
""", [np.array([2**63 + 12345, 2**64 - 2, 77][:state], "u8")])

X, C = "tensor<4x3x2xf32>", "tensor<3xf32>"
settings = "{epsilon = 0.001 : f32, feature_index = 1 : i64}"
x, g = (random.standard_normal((4, 3, 2)).astype("f4") for _ in range(2))
scale, offset, mean, variance = (np.array(v, "f4") for v in ([1, 2, 0.5], [0.1, 0.2, 0.3], [0, 0.1, -0.2], [1, 0.5, 2]))
for name, operands, results in (("inference", [(x, X), (scale, C), (offset, C), (mean, C), (variance, C)], [X]),
                                ("training", [(x, X), (scale, C), (offset, C)], [X, C, C]),
                                ("grad", [(x, X), (scale, C), (mean, C), (variance, C), (g, X)], [X, C, C])):
    types = ", ".join(t for _, t in operands)
    names = ", ".join(f"%a{k}" for k in range(len(operands)))
    arguments = ", ".join(f"%a{k}: {t}" for k, (_, t) in enumerate(operands))
    out, n = ", ".join(results), len(results)
    values = ", ".join(f"%0#{k}" for k in range(n)) if n > 1 else "%0"
    put("batch_norm_" + name, "batch normalisation", f"""func.func @main({arguments}) -> ({out}) {{
  {"%0:3" if n > 1 else "%0"} = "stablehlo.batch_norm_{name}"({names}) {settings} : ({types}) -> ({out})
  return {values} : {out}
}}
""", [v for v, _ in operands], atol=1e-4)

put("einsum", "a product by letters", """func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<5x2x3xf32> {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,jbk->kbi"} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}
""", [random.standard_normal((2, 3, 4)).astype("f4"), random.standard_normal((4, 2, 5)).astype("f4")], atol=1e-5)

choices = [lambda c: c + 1, lambda c: c * 2, lambda c: -c, lambda c: c * c, jnp.sin]
traced("switch_beyond", "an index that is no branch's", lambda i, x: lax.switch(i, choices, x), np.int32(7), normal)
traced("switch_loop", "another branch at each step",
       lambda x: lax.fori_loop(0, 9, lambda i, c: lax.switch(i - 2, choices, c), x), normal)
traced("switch_gradient", "gradient of a branch", jax.grad(lambda x, i: jnp.sum(lax.switch(i, choices, x))), normal,
       np.int32(3))

with open(os.path.join(folder, "index.csv"), "w") as f:
    csv.writer(f).writerows([["name", "family", "tier", "ops", "dtypes", "inputs", "outputs", "bytes", "about"]] + rows)
print(len(rows), "programs")
