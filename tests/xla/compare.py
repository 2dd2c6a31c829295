#!/usr/bin/env python3
"""Sends random programs over the registry, and what transformations make of them, through XLA.

    compare.py EXPORTER [COUNT [SEED [JOBS]]]

EXPORTER is anvil_export_programs (a target of the CMake build), COUNT how many random programs
it writes (2000 by default) beside those of its own, SEED the first one's, JOBS how many servers
work at a time. XLA is reached through a server that reads one JSON request a line and answers one a line:

    {"id": ..., "program": TEXT, "inputs": [TENSOR...]} -> {"id": ..., "ok": true, "outputs": [TENSOR...]}

    ANVIL_XLA         the server's script, started with --serve
    ANVIL_XLA_PYTHON  the Python that has JAX and NumPy (by default the one that runs this script)
    ANVIL_ORACLE      optional: the folder of the independent evaluator that check_text.py takes; where
                      it agrees with us, XLA stands alone

Where these are missing, the script says so and ends well. Integers and booleans must be equal,
floats within rounding (`LIMIT`): that of f32 where a program makes numbers in f64 of such in f32. Some
things that are no errors of the text are told apart and counted:
  denormal     XLA's code for CPUs takes denormal numbers for zero: its results are those that we have
               when we do the same;
  unstable     XLA's own result moves as much when the inputs move by some units in the last place;
  blocks       XLA inverts whole blocks of a triangular system: where something in it is infinite or NaN, more is NaN;
  unsupported  XLA's code generator for CPUs says that it has no code for an operator (mulhi), or the
               program calls a factorisation of ours (anvil.lu, ...), for which XLA has no operator;
  alone        the independent evaluator gives our results. Known: XLA takes only one update of a
               scatter whose index vectors have length 0; ties of select_and_scatter in i8; a sum of
               two known bools, which the language says is "or", comes out as false; a
               reduction over no dimensions, or over one of one element, leaves out what it starts from; a
               dynamic_update_slice by a part of the tensor itself reads what it has just written; a quotient or
               remainder of known numbers by 0 ends XLA's process, and so does a running maximum of what top_k gives.
Each other difference is printed. Last line: N passed, M failed.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

LIMIT = {"f32": 1e-4, "f64": 1e-10}  # relative to the element, or to the largest one of the tensor
SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52}
WIDENS = re.compile(r"stablehlo\.convert.*f32>\) -> \(?tensor<[0-9x]*f64>")
OURS = "custom_call @anvil."
KINDS = ("same", "denormal", "unstable", "blocks", "unsupported", "alone", "failed")
SECONDS = 120  # for one program


def missing():
    script = os.environ.get("ANVIL_XLA")
    if not script:
        return "ANVIL_XLA is not set"
    if not os.path.exists(script):
        return "the file that ANVIL_XLA names does not exist"
    python = os.environ.get("ANVIL_XLA_PYTHON", sys.executable)
    try:
        found = subprocess.run([python, "-c", "import jax, numpy"], capture_output=True, text=True)
    except OSError as e:
        return f"ANVIL_XLA_PYTHON does not start: {e}"
    return None if found.returncode == 0 else "JAX is not installed for ANVIL_XLA_PYTHON"


class Xla:
    """The server; started when needed, and again after a program that ended it or took too long."""

    def __init__(self):
        self.process = None

    def __call__(self, text, inputs):
        if self.process is None:
            command = [os.environ.get("ANVIL_XLA_PYTHON", sys.executable), os.environ["ANVIL_XLA"], "--serve"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        watch = threading.Timer(SECONDS, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(json.dumps({"program": text, "inputs": inputs}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        watch.cancel()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.process = None
        return {"ok": False, "stage": "crash", "error": f"the server ended with status {status}"}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def numbers(tensor):
    whole = tensor["dtype"].startswith(("i", "ui"))
    return [SPECIAL.get(x) if isinstance(x, str) and x in SPECIAL else int(x) if whole else x for x in tensor["data"]]


def scale(values):
    return max((abs(x) for x in values if x == x and abs(x) != float("inf")), default=0.0)


def differences(got, expected, precision=None):
    """The elements that differ, as (number, got, expected); None if the types do."""
    if got["dtype"] != expected["dtype"] or got["shape"] != expected["shape"]:
        return None
    a, e = numbers(got), numbers(expected)
    dtype = precision if precision and got["dtype"] == "f64" else got["dtype"]
    limit = LIMIT.get(dtype)
    if limit is None:
        return [(i, x, y) for i, (x, y) in enumerate(zip(a, e)) if x != y]
    largest = min(scale(e), 1.0)
    rest = 8 * EPSILON[dtype]  # what is left of terms around 1 that cancel

    def same(x, y):
        return x == y or (x != x and y != y) or abs(x - y) <= max(limit * max(abs(y), largest), rest)

    return [(i, x, y) for i, (x, y) in enumerate(zip(a, e)) if not same(x, y)]


def moved(tensor, sign):
    """The tensor with floats moved by some units in the last place, up and down in turn."""
    step = EPSILON.get(tensor["dtype"])
    if step is None:
        return tensor
    data = [x if isinstance(x, str) else x * (1 + sign * (1 if i % 2 else -1) * 4 * step)
            for i, x in enumerate(tensor["data"])]
    return {**tensor, "data": data}


def unstable(xla, text, case, outputs):
    """Whether XLA's results move, under such changes of the inputs, wherever they differ from ours."""
    spread = [[0.0] * len(o["data"]) for o in outputs]
    for sign in (1, -1):
        answer = xla(text, [moved(t, sign) for t in case["inputs"]])
        if not answer.get("ok"):
            return False
        for k, (o, p) in enumerate(zip(outputs, answer["outputs"])):
            for i, (x, y) in enumerate(zip(numbers(o), numbers(p))):
                distance = 0.0 if x == y or (x != x and y != y) else abs(x - y)
                spread[k][i] = float("inf") if distance != distance else max(spread[k][i], distance)
    for k, (o, e) in enumerate(zip(outputs, case["outputs"])):
        for i, x, y in differences(o, e):
            if spread[k][i] == 0.0 or not (spread[k][i] == float("inf") or abs(x - y) <= 64 * spread[k][i]):
                return False
    return True


def by_blocks(text, case, outputs):
    """Whether XLA solves triangular systems, and wherever it differs has NaN."""
    return "triangular_solve" in text and all(
        x != x for o, e in zip(outputs, case["outputs"]) for _, x, _ in differences(o, e))


def is_flushed(case, outputs):
    """Whether these are our results with denormal numbers taken for zero."""
    flushed = case.get("flushed")
    return flushed is not None and all(differences(o, e) == [] for o, e in zip(outputs, flushed))


def verdict(xla, text, case):
    """(kind, what was seen): kind is one of KINDS."""
    if OURS in text:
        return "unsupported", "a factorisation, which is a call of ours"
    answer = xla(text, case["inputs"])
    if not answer.get("ok"):
        if answer.get("stage") == "compile" and "Unsupported elementwise operation" in answer.get("error", ""):
            return "unsupported", answer["error"].split(",")[0]
        return "failed", f"XLA does not {answer.get('stage')} it: {answer.get('error')}"
    outputs, precision = answer["outputs"], "f32" if WIDENS.search(text) else None
    if len(outputs) != len(case["outputs"]):
        return "failed", f"{len(outputs)} results for {len(case['outputs'])}"
    for k, (o, e) in enumerate(zip(outputs, case["outputs"])):
        found = differences(o, e, precision)
        if found is None:
            return "failed", f"result {k} is {o['dtype']}{o['shape']} for {e['dtype']}{e['shape']}"
        if found:
            i, x, y = found[0]
            seen = f"result {k}, {o['dtype']}{o['shape']}: {len(found)} differ, element {i} is {x!r} for our {y!r}"
            if is_flushed(case, outputs):
                return "denormal", seen
            if by_blocks(text, case, outputs):
                return "blocks", seen
            return ("unstable" if unstable(xla, text, case, outputs) else "failed"), seen
    return "same", ""


def stands_alone(folder, name):
    oracle = os.environ.get("ANVIL_ORACLE")
    if not oracle:
        return False
    with tempfile.TemporaryDirectory() as one:
        for ending in (".mlir", ".json"):
            shutil.copy(os.path.join(folder, name + ending), one)
        check = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance", "check_text.py")
        python = os.environ.get("ANVIL_XLA_PYTHON", sys.executable)
        return subprocess.run([python, check, oracle, one], capture_output=True).returncode == 0


def compare(folder, names):
    """How many programs of a folder came out as which kind, by one server."""
    counts = dict.fromkeys(KINDS, 0)
    xla = Xla()
    for name in names:
        with open(os.path.join(folder, name + ".mlir")) as f:
            text = f.read()
        with open(os.path.join(folder, name + ".json")) as f:
            case = json.load(f)
        kind, seen = verdict(xla, text, case)
        if kind == "failed" and stands_alone(folder, name):
            kind = "alone"
        counts[kind] += 1
        if kind != "same":
            print(f"{name}: {kind}: {seen}", flush=True)
    xla.close()
    return counts


def compare_all(folder, names, jobs):
    parts = [names[k::jobs] for k in range(jobs)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda part: compare(folder, part), parts))
    return {kind: sum(counts[kind] for counts in found) for kind in found[0]}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    why = missing()
    if why:
        print(f"skipped: {why}")
        return 0
    count = sys.argv[2] if len(sys.argv) > 2 else "2000"
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, count, seed, "xla"], check=True, stdout=subprocess.DEVNULL)
        names = sorted(n[:-5] for n in os.listdir(folder) if n.endswith(".mlir"))
        counts = compare_all(folder, names, jobs)
    made = sum(n.startswith(("gradient_", "jvp_", "batch_")) for n in names)
    print(f"seed {seed}: {len(names)} programs, {made} of them derivatives and batches: "
          + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    print(f"{len(names) - counts['failed']} passed, {counts['failed']} failed")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
