#!/usr/bin/env python3
"""Evaluates exported StableHLO text with an independent reader and evaluator.

    check_text.py ORACLE FOLDER

ORACLE is the folder with hlotext.py and refinterp.py (numpy and scipy), FOLDER what
anvil_export_programs wrote. Integers and booleans must be equal, floats within rounding of
sums and of elementary functions, of singles where a program has any. Last line: N passed, M failed.
"""
import glob, json, os, sys

sys.path.insert(0, sys.argv[1])
import numpy as np
import hlotext, refinterp

NUMPY = {"i1": np.bool_, "f32": np.float32, "f64": np.float64,
         **{f"i{b}": getattr(np, f"int{b}") for b in (8, 16, 32, 64)},
         **{f"ui{b}": getattr(np, f"uint{b}") for b in (8, 16, 32, 64)}}

# Of arrays without dimensions numpy makes Python's numbers, or floats where unsigned ones meet a constant: the
# evaluator's operators on two operands get vectors of one element.
def on_vectors(operator):
    return lambda a, b: operator(a.reshape(a.shape or 1), b.reshape(b.shape or 1)).reshape(a.shape)


for table in (t for t in vars(refinterp).values() if isinstance(t, dict) and "divide" in t):
    table.update({name: on_vectors(operator) for name, operator in table.items()})

SPECIAL = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def array(t):
    dtype = NUMPY[t["dtype"]]
    if t["dtype"] in ("i64", "ui64"):
        data = [int(x) for x in t["data"]]
    else:
        data = [SPECIAL.get(x, x) if isinstance(x, str) else x for x in t["data"]]
    return np.array(data, dtype=dtype).reshape(t["shape"])


def differs(got, expected, of_singles):
    got = np.asarray(got)
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{got.shape} for {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        bad = got != expected
        return f"{int(bad.sum())} elements differ" if bad.any() else None
    a, e = got.astype(np.float64), expected.astype(np.float64)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    finite = e[np.isfinite(e)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    limit = 3e-5 if of_singles else 1e-10
    with np.errstate(all="ignore"):
        bad = ~same & ~(np.abs(a - e) <= limit * np.maximum(np.abs(e), min(scale, 1.0)))
    return f"largest difference {np.nanmax(np.abs(a - e)[bad]):.3g}" if bad.any() else None


def main():
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(sys.argv[2], "*.mlir"))):
        name = os.path.basename(path)[:-5]
        case = json.load(open(path[:-5] + ".json"))
        why = None
        try:
            text = open(path).read()
            interpreter = refinterp.Interp(hlotext.parse(text))
            results = interpreter.call("main", [array(t) for t in case["inputs"]])
            expected = [array(t) for t in case["outputs"]]
            why = "number of results" if len(results) != len(expected) else None
            for got, e in zip(results, expected):
                why = why or differs(got, e, "f32>" in text)
        except refinterp.Unsupported as e:
            why = f"unsupported there: {e}"
        except Exception as e:  # a reader that stumbles is a failure of the text
            why = f"{type(e).__name__}: {str(e)[:200]}"
        if why is None:
            passed += 1
        else:
            failed += 1
            print(f"{name}: {why}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
