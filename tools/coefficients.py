# Writes src/runtime/elementary/fitted_coefficients.h: polynomials and quotients of polynomials with the smallest
# largest relative error, by Remez's algorithm.
#   python3 tools/coefficients.py > src/runtime/elementary/fitted_coefficients.h      (needs mpmath; a few minutes)
import struct
import mpmath as mp

mp.mp.dps = 50
half = mp.mpf(1) / 2
tiny = mp.mpf(10) ** -16


# ---- Remez's algorithm --------------------------------------------------------------------------
def grid(low, high, singular, size):
    """Points from low to high, dense at the ends and towards a singularity below (or above) them."""
    wave = [mp.cos(mp.pi * i / size) for i in range(size + 1)]
    if singular is None:
        return [(low + high) / 2 - (high - low) / 2 * w for w in wave]
    a, b = mp.log(low - singular), mp.log(high - singular)
    inner = [mp.exp((a + b) / 2 - (b - a) / 2 * w) + singular for w in wave[1:-1]]
    return [low] + inner + [high]


def solve(at, values, weights, nodes, n, m, bound):
    """P, Q and the bound of the error, which alternates at the nodes; linear for a known bound times Q."""
    count = n + m + 2
    rows, right = mp.matrix(count, count), mp.matrix(count, 1)
    for row, i in enumerate(nodes):
        x, y, sign = at[i], values[i], (-1) ** row / weights[i]
        for j in range(n + 1):
            rows[row, j] = x**j
        for j in range(m):
            rows[row, n + 1 + j] = -(y + sign * bound) * x ** (j + 1)
        rows[row, count - 1] = -sign
        right[row] = y
    c = mp.lu_solve(rows, right)
    return [c[j] for j in range(n + 1)], [mp.mpf(1)] + [c[n + 1 + j] for j in range(m)], c[count - 1]


def exchange(error, count):
    """The largest error of each run of one sign, the least ones dropped at the ends."""
    peaks = []
    for i, e in enumerate(error):
        if not peaks or mp.sign(error[peaks[-1]]) != mp.sign(e):
            peaks.append(i)
        elif abs(e) > abs(error[peaks[-1]]):
            peaks[-1] = i
    while len(peaks) > count:
        peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
    return peaks


def value(p, x):
    return mp.polyval(p[::-1], x)


def remez(f, weight, low, high, n, m, singular):
    count, density, bound, best = n + m + 2, 24, mp.mpf(0), None
    at = grid(mp.mpf(low), mp.mpf(high), singular, density * (count - 1))
    values = [f(x) for x in at]
    weights = [weight(x, y) for x, y in zip(at, values)]
    nodes = [density * i for i in range(count)]
    for _ in range(20):
        for _ in range(5 if m else 1):
            p, q, bound = solve(at, values, weights, nodes, n, m, bound)
        error = [(value(p, x) / value(q, x) - y) * w for x, y, w in zip(at, values, weights)]
        worst = max(map(abs, error))
        if best is None or worst < best[0]:
            best = worst, p, q
        nodes = exchange(error, count)
        if len(nodes) < count or worst < 1.02 * abs(bound):
            break
    return best


# ---- what is fitted -----------------------------------------------------------------------------
# fits: name, f, weight of the error, interval, degrees of P and Q for floats and for doubles, singularities to try
digamma_zero = mp.findroot(mp.digamma, 1.4616)
half_root_pi = mp.sqrt(mp.pi) / 2
OFFSETS = {"lgamma_offset": "0.4375", "digamma_offset": "0.71875", "trigamma_offset": "-0.4375",
           "erfc_offset": ("0.6875", "0.65625"), "erfc_shift": "0.75", "erf_inv_square": "0.5625", "erf_inv_root": "1.4375",
           "erf_inv_offset": "-0.5625", "erf_inv_slope": "0.3125"}
offset = {}


def choose_offsets(single):
    """Those that differ are (for floats, for doubles)."""
    for name, text in OFFSETS.items():
        offset[name] = mp.mpf(text if isinstance(text, str) else text[0 if single else 1])


choose_offsets(True)


def lgamma_near(v):
    if abs(v) < tiny:
        return mp.euler - offset["lgamma_offset"]
    if abs(v - 1) < tiny:
        return 1 - mp.euler - offset["lgamma_offset"]
    return mp.loggamma(v + 1).real / (v * (v - 1)) - offset["lgamma_offset"]


def digamma_near(v):
    y = v + 1
    ratio = mp.psi(1, digamma_zero) if abs(y - digamma_zero) < tiny else mp.digamma(y) / (y - digamma_zero)
    return ratio - offset["digamma_offset"]


def of_inverse_square(f, limit):
    """f(x) as a function of z = 1/x^2, with the first two terms of its series next to 0."""
    def g(z):
        if z < 100 * tiny:
            return limit[0] + limit[1] * z
        with mp.workdps(80):
            return f(1 / mp.sqrt(z))
    return g


def weight_of(f):
    """The weight of z = 1/x^2 from one of x."""
    return lambda z, _: f(1 / mp.sqrt(z)) if z else mp.mpf(10) ** -30


def of_square(f, limit):
    def g(z):
        if z < tiny:
            return limit
        with mp.workdps(90):
            return f(mp.sqrt(z))
    return g


def erf_inv_near(v):
    z = offset["erf_inv_square"] - v
    slope = mp.pi * half_root_pi / 12 if z < tiny else (mp.erfinv(mp.sqrt(z)) / mp.sqrt(z) - half_root_pi) / z
    return slope - offset["erf_inv_slope"]


def erf_inv_far(u):
    """erf_inv(x) - r - offset, where 1 - x = 2 exp(-r^2), by Halley's steps."""
    r = u + offset["erf_inv_root"]
    rest = 2 * mp.exp(-r * r)
    y = r * mp.mpf("0.9")
    for _ in range(60):
        step = (mp.erfc(y) - rest) / (mp.exp(-y * y) / half_root_pi)
        step = step / (1 - y * step) if abs(y * step) < half else step
        y += step
        if abs(step) < mp.mpf(10) ** -45:
            break
    return y - r - offset["erf_inv_offset"]


def erfc_far(t):
    x = 1 / t - offset["erfc_shift"]
    return mp.exp(x * x) * mp.erfc(x) / t - offset["erfc_offset"]


def series_weight(z, y):  # of x + x z y
    return (z + mp.mpf(10) ** -20) / (1 + z * y)


relative = lambda x, y: 1 / abs(y)
quarter, ninth, sixteenth = mp.mpf(1) / 4, mp.mpf(1) / 9, mp.mpf(1) / 16
shift, square, root = (offset[name] for name in ("erfc_shift", "erf_inv_square", "erf_inv_root"))
erfc_end = 1 / (half + shift)
FITS = [
    ("lgamma(1 + v) / (v (v - 1)) - lgamma_offset, 0 <= v <= 2", "lgamma_near", lgamma_near,
     lambda v, y: 1 / (y + offset["lgamma_offset"]), (0, 2), (4, 4), (8, 8), (-1,)),
    ("x (lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2) in 1/x^2, 3 <= x", "lgamma_far",
     of_inverse_square(lambda x: x * (mp.loggamma(x) - (x - half) * mp.log(x) + x - mp.log(2 * mp.pi) / 2),
                       (mp.mpf(1) / 12, -mp.mpf(1) / 360)),
     weight_of(lambda x: 1 / (x * mp.loggamma(x))), (0, ninth), (3, 0), (9, 0), (None,)),
    ("digamma(1 + v) / (v - digamma_root) - digamma_offset, 0 <= v <= 3", "digamma_near", digamma_near,
     lambda v, y: 1 / (y + offset["digamma_offset"]), (0, 3), (4, 4), (7, 7), (-1,)),
    ("x^2 (digamma(x) - log x + 1/(2 x)) in 1/x^2, 4 <= x", "digamma_far",
     of_inverse_square(lambda x: x * x * (mp.digamma(x) - mp.log(x) + 1 / (2 * x)), (-mp.mpf(1) / 12, mp.mpf(1) / 120)),
     weight_of(lambda x: 1 / (x * x * mp.digamma(x))), (0, sixteenth), (2, 0), (8, 0), (None,)),
    ("1/trigamma(1 + v) - (1 + v) - trigamma_offset, 0 <= v <= 3", "trigamma_near",
     lambda v: 1 / mp.psi(1, v + 1) - v - 1 - offset["trigamma_offset"],
     lambda v, y: 1 / (v + 1 + offset["trigamma_offset"] + y), (0, 3), (4, 4), (7, 7), (-half, -1, -mp.mpf("0.7"))),
    ("x^3 (trigamma(x) - 1/x - 1/(2 x^2)) in 1/x^2, 4 <= x", "trigamma_far",
     of_inverse_square(lambda x: x**3 * (mp.psi(1, x) - 1 / x - 1 / (2 * x * x)), (mp.mpf(1) / 6, -mp.mpf(1) / 30)),
     weight_of(lambda x: 1 / (x**3 * mp.psi(1, x))), (0, sixteenth), (3, 0), (9, 0), (None,)),
    ("log(sin(pi r)/(pi r)) / r^2 in r^2, |r| <= 1/2", "log_sinc",
     of_square(lambda r: mp.log(mp.sin(mp.pi * r) / (mp.pi * r)) / r**2, -mp.pi**2 / 6), relative, (0, quarter),
     (6, 0), (14, 0), (None,)),
    ("(pi cot(pi r) - 1/r) / r in r^2, |r| <= 1/2", "cot_rest",
     of_square(lambda r: (mp.pi * mp.cot(mp.pi * r) - 1 / r) / r, -mp.pi**2 / 3), relative, (0, quarter), (7, 0),
     (15, 0), (None,)),
    ("(pi/sin(pi r))^2 - 1/r^2 in r^2, |r| <= 1/2", "square_rest",
     of_square(lambda r: (mp.pi / mp.sin(mp.pi * r)) ** 2 - 1 / r**2, mp.pi**2 / 3), relative, (0, quarter), (8, 0),
     (16, 0), (None,)),
    ("(tan(r) - r) / r^3 in r^2, |r| <= pi/4", "tan", of_square(lambda r: (mp.tan(r) / r - 1) / r**2, mp.mpf(1) / 3),
     series_weight, (0, (mp.pi / 4) ** 2 * (1 + mp.mpf(2) ** -12)), (7, 0), (14, 0), (None,)),
    ("(asin(x) - x) / x^3 in x^2, |x| <= 1/2", "asin", of_square(lambda x: (mp.asin(x) / x - 1) / x**2, mp.mpf(1) / 6),
     series_weight, (0, quarter), (5, 0), (12, 0), (None,)),
    ("(asinh(x) - x) / x^3 in x^2, |x| <= 0.53", "asinh",
     of_square(lambda x: (mp.asinh(x) / x - 1) / x**2, -mp.mpf(1) / 6), series_weight, (0, mp.mpf("0.281")), (4, 0),
     (11, 0),
     (None,)),
    ("(acosh(1 + d)^2 - 2 d) / d^2, d <= 0.5625", "acosh_square",
     lambda d: -mp.mpf(1) / 3 if d < tiny else (mp.acosh(1 + d) ** 2 - 2 * d) / d**2,
     lambda d, y: (d + mp.mpf(10) ** -20) / (2 + d * y), (0, mp.mpf("0.5625")), (4, 0), (11, 0), (None,)),
    ("(atanh(s) - s) / s^3 in s^2, |s| <= 1/2", "atanh",
     of_square(lambda x: (mp.atanh(x) / x - 1) / x**2, mp.mpf(1) / 3), series_weight, (0, quarter), (6, 0), (13, 0),
     (None,)),
    ("(erf_inv(x)/x - half_root_pi) / x^2 - erf_inv_slope in erf_inv_square - x^2, x^2 <= erf_inv_square", "erf_inv_near", erf_inv_near,
     lambda v, y: (square - v + mp.mpf(10) ** -9) / (half_root_pi + (square - v) * (y + offset["erf_inv_slope"])),
     (0, square), (3, 2), (6, 6),
     (square - 1,)),
    ("erf_inv(x) - r - erf_inv_offset in r - erf_inv_root, 1 - |x| = 2 exp(-r^2), r <= 4.18 (f32), 6.13 (f64)", "erf_inv_far", erf_inv_far,
     lambda u, y: 1 / (y + u + root + offset["erf_inv_offset"]), ((0, mp.mpf("4.18") - root), (0, mp.mpf("6.13") - root)), (4, 3), (8, 8),
     (-1, -half, -2, -quarter)),
    ("exp(x^2) erfc(x) / t - erfc_offset in t = 1/(x + erfc_shift), 1/2 <= x <= 10.1 (f32), 28 (f64)", "erfc", erfc_far,
     lambda t, y: 1 / (y + offset["erfc_offset"]),
     ((1 / (mp.mpf("10.1") + shift), erfc_end), (1 / (28 + shift), erfc_end)), (5, 4), (10, 10),
     (-half, -mp.mpf("0.1"), -quarter)),
]


# ---- C++ ------------------------------------------------------------------------------------------
FORMATS = {"float": ("f", 24), "double": ("d", 53)}


def rounded(x, letter):
    with mp.workprec(FORMATS["float" if letter == "f" else "double"][1]):
        x = +mp.mpf(x)
    return struct.unpack(letter, struct.pack(letter, float(x)))[0]


def literal(x, letter):
    text = float(x).hex()
    head, power = text.split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + "p" + power.lstrip("+") + ("f" if letter == "f" else "")


def emit(name, numbers, letter, ctype):
    items = ", ".join(literal(rounded(x, letter), letter) for x in numbers)
    print("  static constexpr %s %s[] = {%s};" % (ctype, name, items))


def emit_pair(name, x, letter, ctype):
    high = rounded(x, letter)
    emit(name, [high, x - mp.mpf(high)], letter, ctype)


def emit_type(ctype):
    letter, _ = FORMATS[ctype]
    single = letter == "f"
    print("\ntemplate <>\nstruct fitted<%s> {" % ctype)
    choose_offsets(single)
    for name, number in offset.items():
        print("  static constexpr %s %s = %s;" % (ctype, name, mp.nstr(number, 10)))
    emit_pair("digamma_root", digamma_zero - 1, letter, ctype)
    emit_pair("half_root_pi", half_root_pi, letter, ctype)
    emit_pair("half_log_two_pi", mp.log(2 * mp.pi) / 2, letter, ctype)
    for what, name, f, weight, interval, for_floats, for_doubles, singular in FITS:
        n, m = for_floats if single else for_doubles
        ends = interval if not isinstance(interval[0], tuple) else interval[0 if single else 1]
        worst, p, q = min((remez(f, weight, *ends, n, m, s) for s in singular), key=lambda fit: fit[0])
        if m == 0 and name != "cot_rest":  # the others are fitted to what the rounding of the first leaves
            first, end = mp.mpf(rounded(p[0], letter)), ends[1]
            above = lambda x: max(x, end * mp.mpf(10) ** -9)
            worst, p, q = remez(lambda x: (f(above(x)) - first) / above(x), lambda x, _: weight(x, f(x)) * above(x), *ends,
                                n - 1, m, None)
            p = [first] + p
        print("  // %s: 2^%.1f" % (what, mp.log(worst, 2)))
        emit(name + ("_n" if m else ""), p, letter, ctype)
        if m:
            emit(name + "_d", q, letter, ctype)
        if name == "cot_rest":
            emit_pair("cot_rest_first", p[0], letter, ctype)
    print("};")


print("""// The coefficients of polynomials P and of quotients P/Q (name_n, name_d), written by tools/coefficients.py; each
// names its function, where it is fitted and the largest relative error of the function made with it. Numbers in two
// parts are so called.
#pragma once

namespace anvil::elementary {

template <class T>
struct fitted;""")
for ctype in FORMATS:
    emit_type(ctype)
print("\n}  // namespace anvil::elementary")
