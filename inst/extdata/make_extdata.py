"""Makes the StableHLO texts of this folder with JAX, and what JAX computes with them.

    python3 -m venv VENV && VENV/bin/pip install jax==0.10.2 numpy
    VENV/bin/python make_extdata.py [FOLDER]          Rscript must be on the path: the data are R's own

iris_classifier.mlir    x -> probabilities: a trained network, its weights are constants of the text
iris_network.mlir       (params, x) -> logarithms of probabilities: the same network, open for training
iris_weights.mlir       () -> params: the trained weights
iris_probabilities.csv  what JAX computes from R's iris, in its order
predator_prey.mlir      (y0, theta, t_end, tolerance) -> y(t_end) and steps: Dormand and Prince's method
                        of order 5 with adaptive steps, one `while`, in double precision
predator_prey.csv       what JAX computes for several t_end, with the derivatives of the first component
                        of y by theta, in forward mode
"""
import csv
import io
import os
import re
import subprocess
import sys

import numpy as np
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def write(name, text):
    with open(os.path.join(here, name), "w", newline="\n") as f:
        f.write(text)


def write_table(name, header, rows, digits):
    lines = [",".join(header)] + [",".join(f"{x:.{digits}g}" for x in row) for row in rows]
    write(name, "\n".join(lines) + "\n")


def export(name, f, *args):
    # The names of arguments stand in their locations; all others are places in this file.
    text = jax.jit(f, keep_unused=True).lower(*args).as_text(debug_info=True)
    text = re.sub(r"^#loc.*\n", "", text, flags=re.MULTILINE)
    write(name, re.sub(r" loc\((#loc\d*|unknown)\)", "", text))


# --- a network ------------------------------------------------------------------------------

def iris():
    text = subprocess.run(["Rscript", "--vanilla", "-e", "write.csv(iris, row.names = FALSE)"],
                          check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(io.StringIO(text)))[1:]
    species = sorted({r[4] for r in rows})
    x = np.array([[float(v) for v in r[:4]] for r in rows], np.float32)
    return x, np.eye(3, dtype=np.float32)[[species.index(r[4]) for r in rows]]


def network(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jax.nn.log_softmax(hidden @ params["w2"] + params["b2"])


def trained(x, y, steps=2000, rate=0.01):
    k1, k2 = jax.random.split(jax.random.key(1))
    hidden = 16
    center, scale = x.mean(0), x.std(0)
    w1 = jax.random.normal(k1, (4, hidden), jnp.float32) / 2
    params = {"w1": w1 / scale[:, None], "b1": -(center / scale) @ w1,  # starts on centred data
              "w2": jax.random.normal(k2, (hidden, 3), jnp.float32) / 4, "b2": jnp.zeros(3, jnp.float32)}

    def loss(p):
        decay = 1e-3 * sum(jnp.sum(w * w) for w in (p["w1"], p["w2"]))
        return -jnp.mean(jnp.sum(y * network(p, x), axis=1)) + decay

    def step(i, state):  # Adam
        p, m, v = state
        g = jax.grad(loss)(p)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        t = (i + 1).astype(jnp.float32)
        move = lambda q, a, b: q - rate * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8)
        return jax.tree.map(move, p, m, v), m, v

    zeros = jax.tree.map(jnp.zeros_like, params)
    return jax.jit(lambda s: jax.lax.fori_loop(0, steps, step, s))((params, zeros, zeros))[0]


def make_network():
    x, y = iris()
    params = {k: np.asarray(v) for k, v in trained(x, y).items()}
    export("iris_classifier.mlir", lambda x: jnp.exp(network(params, x)), x)
    export("iris_network.mlir", network, params, x)
    export("iris_weights.mlir", lambda: {k: jnp.asarray(v) for k, v in params.items()})
    probabilities = np.asarray(jax.jit(lambda x: jnp.exp(network(params, x)))(x))
    print("right:", int((probabilities.argmax(1) == y.argmax(1)).sum()), "of", len(x))
    write_table("iris_probabilities.csv", ["setosa", "versicolor", "virginica"], probabilities, 9)


# --- a solver -------------------------------------------------------------------------------

# Dormand and Prince (1980), A family of embedded Runge-Kutta formulae
A = np.array([[0, 0, 0, 0, 0, 0],
              [1 / 5, 0, 0, 0, 0, 0],
              [3 / 40, 9 / 40, 0, 0, 0, 0],
              [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
              [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
              [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
              [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]])
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@jax.jit  # a function of the text, called for each stage
def rate(y, theta):  # Lotka and Volterra: prey and predators
    a, b, c, d = theta
    return jnp.stack([y[0] * (a - b * y[1]), y[1] * (c * y[0] - d)])


def predator_prey(y0, theta, t_end, tolerance):
    def step(state):
        t, y, h, accepted, rejected = state
        h = jnp.minimum(h, t_end - t)
        k = [rate(y, theta)]
        for i in range(1, 7):
            k.append(rate(y + h * sum(A[i, j] * k[j] for j in range(i) if A[i, j] != 0), theta))
        new = y + h * sum(A[6, j] * k[j] for j in range(6) if A[6, j] != 0)
        error = h * sum(e * q for e, q in zip(ERROR, k) if e != 0)
        size = tolerance * (1 + jnp.maximum(jnp.abs(y), jnp.abs(new)))
        norm = jnp.sqrt(jnp.mean((error / size) ** 2))
        good = norm <= 1
        factor = jnp.clip(0.9 * jnp.maximum(norm, 1e-10) ** -0.2, 0.2, 5.0)
        return (jnp.where(good, t + h, t), jnp.where(good, new, y), h * factor,
                accepted + good, rejected + ~good)

    start = (jnp.zeros_like(t_end), y0, 0.01 * jnp.ones_like(t_end), 0, 0)
    end = jax.lax.while_loop(lambda s: s[0] < t_end, step, start)
    return {"y": end[1], "accepted": end[3], "rejected": end[4]}


def make_solver():
    y0, theta, tolerance = np.array([10.0, 5.0]), np.array([1.1, 0.4, 0.1, 0.4]), np.float64(1e-8)
    export("predator_prey.mlir", predator_prey, y0, theta, np.float64(1), tolerance)
    solve = jax.jit(predator_prey)
    slope = jax.jit(jax.jacfwd(lambda th, t: predator_prey(y0, th, t, tolerance)["y"][0]))
    rows = []
    for t_end in np.arange(1.0, 31.0):
        out = solve(y0, theta, t_end, tolerance)
        rows.append([t_end, *out["y"], out["accepted"], out["rejected"], *slope(theta, t_end)])
    header = ["t_end", "prey", "predators", "accepted", "rejected"] + [f"prey_by_theta{i}" for i in range(1, 5)]
    write_table("predator_prey.csv", header, np.array(rows, float), 17)


if __name__ == "__main__":
    make_network()
    make_solver()
