#!/usr/bin/env python3
"""Writes tests/conformance/tangents: JAX's own forward mode on the programs of the conformance corpus.

    make_tangents.py MAKE_PROGRAMS FOLDER [NAME...]

MAKE_PROGRAMS is jax/make_programs.py of the corpus, the source of jax/programs. The inputs are those stored there, kinks
and extremes included; the Python needs JAX 0.10.2. FOLDER/NAME.json has

  tangents       one for each float among the inputs
  of             the numbers of the outputs that are floats and that JAX's jvp exists for
  outputs        their tangents; with atol, rtol and alt_outputs as in the corpus

An output's tolerance comes from the same derivative in f64 (of an f64 program: in f32, scaled), and from inputs moved
by a unit in the last place, as make_programs.py has it for outputs. Where XLA's own f32 value is off, by denormals
taken for zero or by overflow on the way, that in f64 is the alternative. What JAX gives no derivative of is printed.
"""
import csv
import importlib.util
import json
import os
import sys
import zlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import numpy as np
import jax
from jax.interpreters import partial_eval

SEED = 1  # of the inputs in jax/programs
LEAST = {"f4": 2e-5, "f8": 1e-11}  # relative tolerances
SENSITIVE = ("linalg", "models", "forms")  # families whose errors grow on the way; the others meet ties


def load(path):
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_float(a):
    return a.dtype.kind == "f"


def flattened(program, f, args):
    """The program as a function of the arguments that its text has to the list of its results; these arguments."""
    jitted = f if hasattr(f, "lower") else jax.jit(f)
    traced = jitted.trace(*args)
    lowered = traced.lower(lowering_platforms=("tpu",)) if program["tpu"] else traced.lower()
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    leaves, tree = jax.tree.flatten(args)

    def flat(*values):
        filled = list(leaves)
        for k, value in zip(kept, values):
            filled[k] = value
        return jax.tree.leaves(f(*jax.tree.unflatten(tree, filled)))

    return flat, [np.asarray(leaves[k]) for k in kept]


def only(flat, inputs, numbers):
    """The function without what other results than these need: some have a derivative where all have none."""
    closed = jax.make_jaxpr(flat)(*inputs)
    wanted = [k in numbers for k in range(len(closed.jaxpr.outvars))]
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, wanted, instantiate=True)
    return lambda *values: jax.core.eval_jaxpr(jaxpr, closed.consts, *values)


def forward_mode(f, inputs):
    """(inputs, tangents) -> the tangents of f."""
    wrt = [k for k, a in enumerate(inputs) if is_float(a)]

    def tangents_of(values, moves):
        def of_floats(*floats):
            filled = list(values)
            for k, value in zip(wrt, floats):
                filled[k] = value
            return f(*filled)

        return jax.jvp(of_floats, tuple(values[k] for k in wrt), tuple(moves))[1]

    return tangents_of


def compiled(f, inputs):
    run = jax.jit(forward_mode(f, inputs))
    return lambda values, moves: [np.asarray(t) for t in run(values, moves)]


def why_none(flat, inputs, moves, numbers):
    """What JAX says against a derivative of these results, or nothing."""
    try:
        jax.jit(forward_mode(only(flat, inputs, numbers), inputs)).lower(inputs, moves)
    except (NotImplementedError, TypeError, ValueError) as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0][:90]}"
    return ""


def differentiable(name, flat, inputs, moves):
    """The numbers of the float results that JAX's jvp exists for."""
    floats = [k for k, result in enumerate(jax.eval_shape(flat, *inputs)) if is_float(result)]
    if not why_none(flat, inputs, moves, floats):
        return floats
    reasons = {k: why_none(flat, inputs, moves, [k]) for k in floats}
    for k, why in reasons.items():
        if why:
            print(f"{name}: output {k} has no derivative in JAX: {why}", flush=True)
    return [k for k, why in reasons.items() if not why]


def moved(inputs, random):
    """The inputs with about half of the elements moved to the next number."""
    step = lambda a: np.where(random.integers(0, 2, a.shape) == 1, np.nextafter(a, a * 2), a).astype(a.dtype)
    return [step(a) if is_float(a) else a for a in inputs]


def spreads(run, inputs, moves, outputs):
    """By how much each output changes when the inputs do by a unit in the last place."""
    random, most = np.random.default_rng(7), [0.0] * len(outputs)
    for _ in range(3):
        for k, (a, b) in enumerate(zip(outputs, run(moved(inputs, random), moves))):
            fine = np.isfinite(a) & np.isfinite(b)
            most[k] = max([most[k], *np.abs(a[fine].astype(float) - b[fine].astype(float))])
    return most


def case_of(programs, program, stored):
    name, wide = program["name"], program["dtype"] == "f64"
    other = programs.f32_args if wide else programs.f64_args
    f, args = program["build"](programs.R(name, SEED, program["dtype"]))
    with jax.enable_x64(wide):
        flat, inputs = flattened(program, f, args)
        assert [programs.run_hlo.encode(a) for a in inputs] == stored, f"{name}: the inputs are not those stored"
        random = np.random.default_rng(zlib.crc32(name.encode()))
        moves = [np.asarray(random.uniform(-1, 1, a.shape).astype(np.float32), a.dtype) for a in inputs if is_float(a)]
        numbers = differentiable(name, flat, inputs, moves) if moves else []
        if not numbers:
            return None
        run = compiled(only(flat, inputs, numbers), inputs)
        outputs = run(inputs, moves)
        sensitive = program["family"] in SENSITIVE and program["ref"]
        spread = spreads(run, inputs, moves, outputs) if sensitive else [0.0] * len(outputs)
    references = [None] * len(outputs)
    if program["ref"]:
        with jax.enable_x64(not wide):
            flat, inputs = flattened(program, f, other(args))
            references = compiled(only(flat, inputs, numbers), inputs)(inputs, other(moves))
    case = {"tangents": moves, "of": numbers, "outputs": outputs, "atol": [], "rtol": [], "alt_outputs": {}}
    for k, (o, reference, s) in enumerate(zip(outputs, references, spread)):
        scale = 2.0**-29 if wide else 1.0
        atol, rtol, off = programs.tolerance(o, reference, scale)
        if off.any() and not wide:
            with np.errstate(all="ignore"):
                case["alt_outputs"][str(k)] = programs.run_hlo.encode(reference.astype(o.dtype))
            atol, rtol, _ = programs.tolerance(np.where(off, 0, o).astype(o.dtype), np.where(off, 0, reference))
        fine = np.abs(o[np.isfinite(o)])
        rtol = max(rtol, LEAST[o.dtype.str[1:]])
        if program["family"] != "elementwise" and fine.size:
            atol = max(atol, 32 * float(np.finfo(o.dtype).eps) * float(fine.max()), 4 * s)
        case["atol"].append(float(f"{atol:.2g}"))
        case["rtol"].append(rtol)
        median = float(np.median(fine[fine > 0])) if (fine > 0).any() else 0.0
        if median and atol / median + rtol > (2e-3 if o.dtype == np.float32 else 1e-8):
            print(f"{name}: output {numbers[k]} is only known to {atol:.2g}, its median is {median:.3g}")
    for list_ in ("tangents", "outputs"):
        case[list_] = [programs.run_hlo.encode(a) for a in case[list_]]
    return case


def main():
    source, folder, chosen = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    programs, rows = load(source), []
    for name, program in programs.PROGRAMS.items():
        if chosen and name not in chosen:
            continue
        with open(os.path.join(os.path.dirname(source), "programs", name + ".json")) as file:
            case = case_of(programs, program, json.load(file)["inputs"])
        if case is None:
            continue
        with open(os.path.join(folder, name + ".json"), "w") as file:
            file.write("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in case.items()) + "}\n")
        rows.append([name, len(case["of"])])
    if not chosen:
        with open(os.path.join(folder, "index.csv"), "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["name", "outputs"], *rows])
    print(f"{len(rows)} programs, {sum(n for _, n in rows)} outputs")


if __name__ == "__main__":
    main()
