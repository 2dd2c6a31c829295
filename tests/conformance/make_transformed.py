#!/usr/bin/env python3
"""Writes the programs of tests/conformance/transformed: functions as JAX exports them, and what JAX's own
transformations make of them.

    make_transformed.py FOLDER [NAME...]

FOLDER/NAME.mlir is the text of a function. FOLDER/NAME.json has, as lists of tensors (row-major, as in a folder of
JAX's programs):

  inputs, outputs      its arguments and what it gives
  tangents, jvp        one tangent for each float among the inputs; those of the outputs that are floats
  cotangents, vjp      one for each output that is a float; those of the inputs
  batch, vmap          the float inputs for three examples, along a last dimension; the outputs likewise
  vmap_grad            the gradients of the sum of the outputs, for each of these examples
  jacobian             for each float output and float input
  hessian              for each pair of float inputs, of the sum of the outputs

The last two stand only where they are small. A number of `limits` for each list says by how much an element may
differ, relative to the largest one of its tensor or to 1: eight times what f32 differs from f64, scaled to the
dtype, where that is more than 64 units in the last place. The Python needs JAX 0.10.2. Everything follows from
fixed seeds.
"""
import json
import os
import sys
import zlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import numpy as np
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import lax

jax.config.update("jax_enable_x64", True)
FLOATS = {"f4": np.float32, "f8": np.float64}
PROGRAMS = {}


def program(*shapes, low=-1.0, high=1.0, whole=()):
    """Registers a function of floats in these shapes, drawn from [low, high], and of the integer arrays `whole`."""

    def register(f):
        PROGRAMS[f.__name__] = (f, shapes, low, high, whole)
        return f

    return register


# --- likelihoods and models ---------------------------------------------------------------------


@program((6, 3), (3,), (6,))
def linear_regression(x, w, y):
    return jnp.mean((x @ w - y) ** 2) + 0.1 * jnp.sum(w**2)


@program((6, 3), (3,))
def logistic_regression(x, w):
    y = jnp.arange(6) % 2
    return jnp.mean(jnp.logaddexp(0.0, x @ w) - y * (x @ w))


@program((6, 3), (3,))
def poisson_regression(x, w):
    eta = x @ w
    return jnp.sum(jnp.exp(eta) - jnp.arange(6) * eta + jsp.special.gammaln(jnp.arange(6) + 1.0 + eta**2))


@program((5, 3), (3, 4), (4,))
def softmax_regression(x, w, b):
    return -jnp.mean(jax.nn.log_softmax(x @ w + b)[jnp.arange(5), jnp.arange(5) % 4])


@program((4, 3), (3, 5), (5,), (5, 2))
def mlp(x, w1, b1, w2):
    return jax.nn.softplus(jnp.tanh(x @ w1 + b1) @ w2)


@program((4, 3), (3, 5), (5, 2))
def relu_network(x, w1, w2):
    return jnp.maximum(jax.nn.relu(x @ w1 + 0.1) @ w2, -0.05)


@program((5, 3), (4, 4), (3, 4))
def rnn(xs, w, u):
    def step(h, x):
        h = jnp.tanh(h @ w + x @ u)
        return h, jnp.sum(h**2)

    h, ys = lax.scan(step, jnp.zeros(4, xs.dtype), xs)
    return h, ys


@program((4, 2), (3, 12), (2, 12))
def lstm(xs, w, u):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(h @ w + x @ u, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zero = jnp.zeros(3, xs.dtype)
    return lax.scan(step, (zero, zero), xs)[0][0]


@program((4, 3), (3, 3), (3, 3), (3, 3))
def attention(x, q, k, v):
    return jax.nn.softmax((x @ q) @ (x @ k).T / jnp.sqrt(3.0), axis=-1) @ (x @ v)


@program((5, 3), (3,), (3,))
def layer_norm(x, scale, shift):
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-3) * scale + shift


@program((5,), (), ())
def gaussian_process(x, length, noise):
    k = jnp.exp(-0.5 * ((x[:, None] - x[None]) / (1.5 + length)) ** 2) + (0.5 + noise**2) * jnp.eye(5)
    c = jnp.linalg.cholesky(k)
    a = jsp.linalg.solve_triangular(c, jnp.sin(3 * x), lower=True)
    return 0.5 * jnp.sum(a**2) + jnp.sum(jnp.log(jnp.diag(c)))


@program((3,), ())
def pendulum(y, friction):
    def f(s):
        return jnp.array([s[1], -jnp.sin(s[0]) - friction * s[1], s[2] * s[0]])

    def step(s, _):
        a = f(s)
        b = f(s + 0.05 * a)
        return s + 0.1 * b, s[0]

    return lax.scan(step, y, None, length=8)


# --- control flow -----------------------------------------------------------------------------------


@program((), ())
def newton_until(x, a):
    """A square root; how many steps it takes depends on the data. As many in both dtypes."""
    more = lambda s: (jnp.abs(s[0] ** 2 - (2.0 + a)) > 1e-3) & (s[1] < 20)
    root, _ = lax.while_loop(more, lambda s: (0.5 * (s[0] + (2.0 + a) / s[0]), s[1] + 1), (2.0 + x, 0))
    return root


@program((3,))
def scan_until(x):
    """Fixed steps with a state that stops, for reverse mode."""

    def step(s, k):
        v, going = s
        nxt = jnp.where(going, 0.8 * v + 0.3 * jnp.sin(v * k), v)
        return (nxt, going & (jnp.sum(nxt**2) > 0.5)), nxt[0]

    (v, _), path = lax.scan(step, (x, True), jnp.arange(5.0, dtype=x.dtype))
    return v, path


@program((4,), ())
def conditional(x, c):
    return lax.cond(c > 0, lambda v: jnp.sin(v) * c, lambda v: v**2 - c, x)


@program((4,), whole=[2])
def switched(x, i):
    return lax.switch(i, [jnp.sin, lambda v: v**2, lambda v: jnp.cumsum(v) * v, jnp.exp], x)


@program((3, 3))
def nested_loops(a):
    a = jnp.asarray(a)

    def outer(i, s):
        return lax.fori_loop(0, 3, lambda j, t: t * 0.9 + 0.1 * jnp.sin(a[i, j] * t), s)

    return lax.fori_loop(0, 3, outer, jnp.sum(a))


@program((5,), (5,))
def recurrence(a, b):
    return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b))[1]


@program((4, 3))
def mapped(x):
    return lax.map(lambda row: jnp.sum(jnp.exp(row) * jnp.sort(row)), x)


@program((3,))
def checkpointed(x):
    f = jax.checkpoint(lambda v: jnp.sin(jnp.exp(v) * v))
    return f(f(x))


@program((), (), low=0.2, high=0.8)
def beta_fraction(x, a):
    """A continued fraction, term by term."""

    def term(k, f):
        m = 10 - k
        return 1.0 + m * (a + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)) / f

    return x**a / lax.fori_loop(0, 10, term, jnp.ones_like(x))


# --- elements that are moved ------------------------------------------------------------------------


@program((7,))
def sorted_weights(x):
    return jnp.sort(x) * jnp.arange(7), jnp.argsort(x)


@program((3, 6))
def largest(x):
    values, places = lax.top_k(x, 3)
    return values**2, places


@program((5, 3), whole=[[0, 3, 3, 1]])
def gathered(x, i):
    return jnp.sin(x[i]) * jnp.arange(1, 4)


@program((5, 3), (4, 3), whole=[[0, 3, 3, 1]])
def scattered(x, y, i):
    return x.at[i].add(y * 2) ** 2 + x.at[1].set(y[0])


@program((5,), (4,), whole=[[0, 3, 4, 1]])
def scattered_products(x, y, i):
    return x.at[i].multiply(y, unique_indices=True), x.at[i].add(y).at[i].set(y[0] * y[1])


@program((8, 2), whole=[[0, 2, 1, 1, 2, 0, 3, 3]])
def segments(x, i):
    return jax.ops.segment_sum(x**2, i, 4), jax.ops.segment_max(x, i, 4)


@program((6, 5), whole=[2, 9])
def dynamic_slices(x, i, j):
    part = lax.dynamic_slice(x, (i, j), (2, 3))
    return lax.dynamic_update_slice(x, part * 3, (j, i)) * x


@program((3, 4))
def moved(x):
    y = jnp.concatenate([x[::-1], x[:, ::-1] ** 2], 0)
    return jnp.pad(y[1:5, ::2], ((1, 0), (2, 1))) * jnp.roll(jnp.ones((5, 5), x.dtype), 1)


# --- sums, products, windows --------------------------------------------------------------------------


@program((3, 4), (4, 2, 3))
def einsum(a, b):
    return jnp.einsum("ij,jki->ki", a, b)


@program((2, 6, 6, 2), (3, 3, 2, 3))
def convolution(x, k):
    return lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program((1, 8, 2), (3, 1, 4))
def grouped_convolution(x, k):
    return lax.conv_general_dilated(x, k, (1,), [(2, 1)], rhs_dilation=(2,), feature_group_count=2,
                                    dimension_numbers=("NWC", "WIO", "NWC"))


@program((1, 6, 6, 2))
def pooling(x):
    shape, strides = (1, 2, 2, 1), (1, 2, 2, 1)
    most = lax.reduce_window(x, -jnp.inf, lax.max, shape, strides, "VALID")
    return most, lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") * x


@program((4, 5))
def cumulatives(x):
    return lax.cumsum(x, 1) * x, lax.cumlogsumexp(x, 0), lax.cumprod(x + 1.5, 1, reverse=True), lax.cummax(x, 1)


@program((4, 5))
def reductions(x):
    return jsp.special.logsumexp(x, 0), jnp.prod(x + 1.5, 1), jnp.max(x, 1), jnp.var(x), jnp.linalg.norm(x, axis=0)


@program((6,))
def clamps(x):
    return jnp.clip(x * 2, -0.5, 0.7) ** 2 + jnp.where(x > 0, jnp.sqrt(jnp.abs(x) + 0.1), x**3)


@program((5,), (5,), low=0.2, high=0.9)
def special_functions(x, y):
    return (jsp.special.gammaln(x + y), jsp.special.digamma(x), jsp.special.erf(x * y), jsp.special.erfinv(x),
            jnp.arctan2(x, y) ** y, jsp.special.i0e(x), jsp.special.expit(x) * jnp.log1p(y))


@program((3,), whole=[7])
def random_normals(scale, seed):
    key = jax.random.fold_in(jax.random.PRNGKey(3), seed)
    return jnp.exp(scale) * jax.random.normal(key, (3,), scale.dtype)


# --- linear algebra -----------------------------------------------------------------------------------


def positive(a):
    return a @ a.T + 2 * jnp.eye(a.shape[0], dtype=a.dtype)


@program((4, 4), (4, 2))
def cholesky_solve(a, b):
    return jsp.linalg.cho_solve(jsp.linalg.cho_factor(positive(a)), b)


@program((3, 3), (2, 3))
def triangular_systems(a, b):
    t = jnp.tril(a) + 2 * jnp.eye(3, dtype=a.dtype)
    return lax.linalg.triangular_solve(t, b, left_side=False, lower=True, transpose_a=True)


@program((2, 3, 3), (2, 3, 1))
def systems(a, b):
    return jnp.linalg.solve(a + 3 * jnp.eye(3, dtype=a.dtype), b), jnp.linalg.slogdet(a + 3 * jnp.eye(3, dtype=a.dtype))[1]


@program((3, 3))
def eigenvalues(a):
    values, vectors = jnp.linalg.eigh(a + a.T + jnp.diag(jnp.array([0.0, 3.0, 7.0], a.dtype)))
    return values, vectors**2


@program((4, 3))
def singular_values(a):
    spread = jnp.concatenate([jnp.diag(jnp.array([1.0, 3.0, 6.0], a.dtype)), jnp.zeros((1, 3), a.dtype)])
    u, s, v = jnp.linalg.svd(a + spread, full_matrices=False)
    return s, u**2, v**2


@program((4, 3))
def orthogonal(a):
    return tuple(jnp.linalg.qr(a + 2 * jnp.eye(4, 3, dtype=a.dtype)))


@program((2, 3, 4))
def wide_orthogonal(a):
    return tuple(jnp.linalg.qr(a + 2 * jnp.eye(3, 4, dtype=a.dtype)))


@program((2, 5, 4))
def packed_reflections(a):
    """Columns that are zero, or have nothing below the diagonal, among them."""
    mask = jnp.array([[1, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]], a.dtype)
    return tuple(jnp.linalg.qr(a * mask, mode="raw"))


# --- what is stored -----------------------------------------------------------------------------------

# What JAX itself has no derivative of: reverse mode through loops of unknown length, QR of wide matrices.
ONLY_FORWARD = {"newton_until"}
ONLY_VALUES = {"wide_orthogonal", "packed_reflections"}


def is_float(x):
    return jnp.issubdtype(jnp.result_type(x), jnp.floating)


def small(arrays):
    return sum(np.size(a) for a in arrays)


def results(f, args, moves, weights, examples):
    """All lists of one program in the dtype of its inputs."""
    flat = lambda *a: tuple(jax.tree.leaves(f(*a)))
    name = f.__name__
    wrt = [k for k, a in enumerate(args) if is_float(a)]
    whole = [k for k in range(len(args)) if k not in wrt]

    def of_floats(*x):
        all_args = list(args)
        for k, v in zip(wrt, x):
            all_args[k] = v
        return tuple(y for y in flat(*all_args) if is_float(y))

    def total(*x):
        return sum(jnp.sum(y) for y in of_floats(*x))

    def batched(*x):
        all_args = list(args)
        for k, v in zip(wrt, x):
            all_args[k] = v
        return flat(*all_args)

    floats = [args[k] for k in wrt]
    out = {"outputs": jax.jit(flat)(*args), "vmap": jax.jit(jax.vmap(batched, in_axes=-1, out_axes=-1))(*examples)}
    if name in ONLY_VALUES:
        return out
    out["jvp"] = jax.jit(lambda x, t: jax.jvp(of_floats, x, t)[1])(floats, moves)
    every = range(len(floats))
    count = small(floats)
    sizes = count * small(out["jvp"])
    if sizes <= 400:
        forward = jax.jit(jax.jacfwd(of_floats, tuple(every)))(*floats)
        out["jacobian"] = [block for row in forward for block in row]
    if name in ONLY_FORWARD:
        return out
    out["vjp"] = jax.jit(lambda x, g: jax.vjp(of_floats, *x)[1](g))(floats, tuple(weights))
    out["vmap_grad"] = jax.jit(jax.vmap(jax.grad(total, tuple(every)), in_axes=-1, out_axes=-1))(*examples)
    if count <= 20:
        second = jax.jit(jax.hessian(total, tuple(every)))(*floats)
        out["hessian"] = [block for row in second for block in row]
    return out


def tensor(a):
    a = np.asarray(a)
    kind = {"b": "i", "i": "i", "u": "ui", "f": "f"}[a.dtype.kind]
    name = "i1" if a.dtype.kind == "b" else f"{kind}{8 * a.dtype.itemsize}"
    special = lambda x: x if np.isfinite(x) else "NaN" if np.isnan(x) else "Infinity" if x > 0 else "-Infinity"
    digits = lambda x: float(f"{x:.9g}") if a.dtype == np.float32 else float(x)
    data = [special(digits(x)) if a.dtype.kind == "f" else x for x in a.ravel().tolist()]
    return {"dtype": name, "shape": list(a.shape), "data": data}


def limit(wide, narrow, dtype):
    """By how much this list may differ, relative to the largest element or 1."""
    eps = float(np.finfo(dtype).eps)
    bound = 64 * eps
    for w, n in zip(wide, narrow):
        if is_float(w) and np.size(w):
            w, n = np.asarray(w, float), np.asarray(n, float)
            error = np.max(np.abs(w - n)) / max(1.0, np.max(np.abs(w)))
            bound = max(bound, 8 * float(error) * eps / 2.0**-23)
    return float(f"{bound:.2g}")


def main():
    folder, chosen = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    rows = []
    for number, (name, (f, shapes, low, high, whole)) in enumerate(PROGRAMS.items()):
        if chosen and name not in chosen:
            continue
        random = np.random.default_rng(zlib.crc32(name.encode()))
        draw = lambda shape: random.uniform(low, high, shape).astype(np.float32)
        floats = [draw(s) for s in shapes]
        examples = [np.stack([x] + [draw(x.shape) for _ in range(2)], -1) for x in floats]
        moves = [random.uniform(-1, 1, s).astype(np.float32) for s in shapes]
        integers = [np.asarray(w, np.int32) for w in whole]
        probe = [y for y in jax.tree.leaves(jax.eval_shape(f, *floats, *integers)) if is_float(y)]
        weights = [random.uniform(0.5, 1.5, y.shape).astype(np.float32) for y in probe]
        made = {}
        for d, t in FLOATS.items():
            cast = lambda list_: [np.asarray(x, t) for x in list_]
            args = cast(floats) + integers
            kept = [y for y in jax.tree.leaves(jax.eval_shape(f, *args)) if is_float(y)]
            made[d] = results(f, args, cast(moves), [np.asarray(w, y.dtype) for w, y in zip(weights, kept)],
                              cast(examples))
        for d, t in FLOATS.items():
            if d == "f4" and number % 3 != 0:
                continue
            cast = lambda list_: [np.asarray(x, t) for x in list_]
            args = cast(floats) + integers
            text = jax.jit(lambda *a: tuple(jax.tree.leaves(f(*a))), keep_unused=True).lower(*args).as_text()
            case = {"inputs": args, "tangents": cast(moves), "cotangents": cast(weights), "batch": cast(examples),
                    **made[d]}
            case = {k: [tensor(x) for x in v] for k, v in case.items()}
            case["limits"] = {k: limit(made["f8"][k], made["f4"][k], t) for k in made[d]}
            with open(os.path.join(folder, f"{name}_{d}.mlir"), "w") as out:
                out.write(text)
            with open(os.path.join(folder, f"{name}_{d}.json"), "w") as out:
                json.dump(case, out)
            rows.append(f"{name}_{d}")
    if not chosen:
        with open(os.path.join(folder, "index.csv"), "w") as out:
            out.write("\n".join(["name"] + rows) + "\n")
    print(len(rows), "programs")


if __name__ == "__main__":
    main()
