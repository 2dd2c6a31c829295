# Writes worst_values.h: python3 worst_values.py > worst_values.h (needs mpmath). The arguments are those with the
# largest errors that bench/elementary found, and others where formulas meet or lose digits.
import mpmath as mp

mp.mp.dps = 60


def erfcinv(x):
    return mp.erfinv(x)


FUNCTIONS = {
    "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "sinh": mp.sinh, "cosh": mp.cosh, "asinh": mp.asinh,
    "acosh": mp.acosh, "atanh": mp.atanh, "erfc": mp.erfc, "erf_inv": mp.erfinv, "trigamma": lambda x: mp.psi(1, x),
    "digamma": mp.digamma, "lgamma": lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1e4 else mp.loggamma(x).real,
}
