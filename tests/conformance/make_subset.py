#!/usr/bin/env python3
"""Chooses the conformance cases that ship with the package's R tests.

    make_subset.py CONFORMANCE FOLDER

CONFORMANCE is the folder with stablehlo/ and jax/, FOLDER tests/testthat/conformance. Every operator
of the cases is covered if a case that passes (known_failures.csv) has it; of those that cover the same, the
smallest are taken. The programs of jax/ get their inputs and outputs as R data.
"""
import csv, json, os, re, shutil, sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = "file kind family tier ops rec_ulp rec_atol rec_rtol".split()
COUNTS = {"run": 117, "reject": 30, "accept": 20, "unsupported": 10}
LARGEST = {"run": 15000, "reject": 2500, "accept": 2500, "unsupported": 2500}
PROGRAMS, PROGRAM_BYTES = 10, 70000


def rows(path):
    return list(csv.DictReader(open(path, newline="")))


def cover(candidates, count):
    """Of candidates (name, operators, other features, bytes), `count` names: first by the new operators that a
    byte brings, then by new features, then the smallest."""
    chosen, seen = [], set()
    rest = sorted(candidates, key=lambda c: (c[3], c[0]))
    while rest and len(chosen) < count:
        new = lambda c, k: len(c[k] - seen) / (300 + c[3])
        best = max(rest, key=lambda c: (new(c, 1), new(c, 2)))
        rest.remove(best)
        chosen.append(best[0])
        seen |= best[1] | best[2]
    return sorted(chosen)


def wanted(r, failing):
    """One function to read, of the StableHLO project, no known failure, and a path that packages may have."""
    one = r["kind"] != "accept" or r["nfun"] == "1"
    short = len("anvil/tests/testthat/conformance/stablehlo/" + r["file"]) <= 100
    return one and short and "rprint" not in r["file"] and r["file"] not in failing and int(r["bytes"]) <= LARGEST[r["kind"]]


def stablehlo(source, target, failing):
    index = rows(os.path.join(source, "index.csv"))
    chosen = []
    for kind, count in COUNTS.items():
        candidates = [
            (r["file"], set(r["ops"].split()), {r["family"], *r["dtypes"].split()}, int(r["bytes"]))
            for r in index
            if r["kind"] == kind and wanted(r, failing)
        ]
        files = set(cover(candidates, count))
        chosen += [r for r in index if r["file"] in files]
    for r in chosen:
        os.makedirs(os.path.join(target, os.path.dirname(r["file"])), exist_ok=True)
        shutil.copyfile(os.path.join(source, r["file"]), os.path.join(target, r["file"]))
    with open(os.path.join(target, "index.csv"), "w", newline="") as h:
        w = csv.DictWriter(h, COLUMNS, extrasaction="ignore", lineterminator="\n")
        w.writeheader()
        w.writerows(chosen)
    shutil.copyfile(os.path.join(source, "LICENSE"), os.path.join(target, "LICENSE"))
    have = {o for r in chosen if r["kind"] == "run" for o in r["ops"].split()}
    lost = {o for r in index if r["kind"] == "run" for o in r["ops"].split()} - have
    print(len(chosen), "cases; operators without a case:", " ".join(sorted(lost)) or "none")


def r_value(x):
    if isinstance(x, bool):
        return "TRUE" if x else "FALSE"
    if isinstance(x, str):
        return {"NaN": "NaN", "Infinity": "Inf", "-Infinity": "-Inf"}[x]
    return repr(x)


def r_vector(values):
    return "c(" + ",".join(r_value(v) for v in values) + ")" if values else "numeric()"


def r_tensor(t):
    dtype = "bool" if t["dtype"] == "i1" else t["dtype"]
    return f'list(dtype="{dtype}",shape={r_vector(t["shape"])},data={r_vector(t["data"])})'


def programs(source, target, failing):
    candidates = []
    for r in rows(os.path.join(source, "index.csv")):
        text = open(os.path.join(source, r["name"] + ".json")).read()
        case = json.loads(text)
        tensors = case["inputs"] + case["outputs"]
        wide = any(t["dtype"] in ("i64", "ui64") and any(isinstance(x, str) for x in t["data"]) for t in tensors)
        named = "loc(" in open(os.path.join(source, r["name"] + ".mlir")).read()  # arguments would be nested lists
        if r["name"] in failing or wide or named or case.get("alt_outputs") or len(text) + int(r["bytes"]) > PROGRAM_BYTES / 5:
            continue
        candidates.append((r["name"], set(r["ops"].split()), {r["family"]}, len(text) + int(r["bytes"])))
    os.makedirs(target, exist_ok=True)
    for name in cover(candidates, PROGRAMS):
        case = json.load(open(os.path.join(source, name + ".json")))
        shutil.copyfile(os.path.join(source, name + ".mlir"), os.path.join(target, name + ".mlir"))
        fields = [f"{k}=list(\n" + ",\n".join(r_tensor(t) for t in case[k]) + ")" for k in ("inputs", "outputs")]
        fields += [f"{k}={r_vector(case[k])}" for k in ("atol", "rtol")]
        with open(os.path.join(target, name + ".R"), "w") as h:
            h.write("list(" + ",\n".join(fields) + ")\n")
        print("program", name)


def main():
    source, target = sys.argv[1:]
    failing = {r["file"] for r in rows(os.path.join(HERE, "known_failures.csv"))}
    for folder in ("stablehlo", "jax"):
        shutil.rmtree(os.path.join(target, folder), ignore_errors=True)
        os.makedirs(os.path.join(target, folder))
    stablehlo(os.path.join(source, "stablehlo"), os.path.join(target, "stablehlo"), failing)
    programs(os.path.join(source, "jax", "programs"), os.path.join(target, "jax"), failing)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(target) for f in files)
    print(size, "bytes")


if __name__ == "__main__":
    main()
