"""Straight-line programs: operators, names, literals, text and whole numbers in between."""

from __future__ import annotations

import math
from math import cos, exp

import numpy as np

from tests.programs.table import program

GRAVITY = 9.81
TABLE = {"linear": 2.0, "cubic": 0.5}
WEIGHTS = np.array([0.5, -1.0, 2.0])
COEFFICIENTS = (3.0, 2.0, -3.0, 1.0)


@program(1.7, features="identity")
def identity(x):
    return x


@program(1.7, features="constant result")
def constant(x):
    return 2.5


@program(1.3, features="operators")
def polynomial(x):
    return 3.0 * x**3 - 2.0 * x**2 + x - 7.0


@program(1.3, 0.7, features="operators")
def every_operator(x, y):
    a = x + y
    b = x - y
    c = a * b
    d = c / (1.0 + y)
    e = -d + (+x)
    return e**2


@program(5.3, 2.1, features="operators, modulo")
def remainder_and_floor(x, y):
    return x % y + x // y + y * x


@program(1.4, 2.3, features="power")
def power_of_two_variables(x, y):
    return x**y + y**x + 2.0**x + x**-2


@program(2.1, 3.2, features="operators")
def ratio(a, b):
    return a / (a + b**2)


@program(0.6, features="reassigned name")
def same_name_again(x):
    x = math.sin(x)
    x = x * x
    x = math.exp(x)
    return x


@program(3.0, features="unused result")
def confuse(x):
    y = 3 * x
    z = y + 2
    b = z * x
    return y


@program(0.9, features="unused result")
def unused_call(x):
    math.sin(x)
    unused = math.exp(x) * x
    return x * x


@program(0.7, features="same value twice")
def used_many_times(x):
    y = math.sin(x)
    return y * y * y + y * x + y


@program(0.4, 1.1, features="tuple assignment, swap")
def swap(x, y):
    x, y = y, x
    return x * x + 3.0 * y


@program(0.4, 1.1, 2.3, features="tuple assignment, rotation")
def rotate_three(a, b, c):
    a, b, c = b, c, a
    a, b, c = b, c, a
    return a + 10.0 * b * b + 100.0 * c**3


@program(0.4, 1.1, features="chained assignment")
def chained_assignment(x, y):
    a = b = x * y
    a = a + 1.0
    return a * b


@program(0.8, features="augmented assignment")
def augmented_assignment(x):
    y = x
    y += 2.0
    y *= x
    y -= x / 3.0
    y /= 1.0 + x
    y **= 2
    return y


@program(0.8, features="augmented assignment, alias")
def augmented_assignment_leaves_the_other_name(x):
    y = x
    y += 1.0
    return y * x


@program(1.2, features="global constant")
def reads_globals(x):
    return GRAVITY * x + TABLE["linear"] * x + TABLE["cubic"] * x**3 + math.pi * x


@program(np.array([1.0, 2.0, 3.0]), features="global constant, arrays")
def reads_a_global_array(x):
    return np.sum(WEIGHTS * x * x)


@program(0.5, features="imported name")
def imported_names(x):
    return cos(x) * exp(x)


@program(0.6, features="math")
def math_functions(x):
    a = math.sin(x) + math.cos(x) + math.tan(x)
    b = math.exp(x) + math.log(x) + math.sqrt(x) + math.log1p(x) + math.expm1(x)
    c = math.asin(x) + math.acos(x) + math.atan(x)
    return a * b + c


@program(0.6, 1.3, features="math")
def more_math_functions(x, y):
    a = math.sinh(x) + math.cosh(x) + math.tanh(x)
    b = math.log2(x) + math.log10(y) + math.atan2(x, y) + math.hypot(x, y)
    return a * b + math.pow(x, y) + math.fabs(-x) + math.erf(x)


@program(-0.6, features="builtins")
def absolute(x):
    return abs(x) * x + abs(x**3)


@program(0.6, 1.4, features="builtins")
def builtin_max_min(x, y):
    return max(x, y) ** 2 + 3.0 * min(x, y) + max(x * y, 0.1, x) + min([x, y])


@program(0.6, 1.4, -2.0, features="builtins")
def builtin_sum_and_pow(x, y, z):
    return sum([x, x * y, y]) + pow(x, 3) + sum((y, z), 2.0 * x)


@program(1.6, features="builtins, casts")
def float_of_active(x):
    return float(x) * x


@program(2.6, features="casts, whole numbers")
def int_of_active_is_constant(x):
    n = int(x)
    return n * x + round(x)


@program(1.1, features="whole numbers")
def whole_numbers_in_between(x):
    n = 7
    n = n // 2 + n % 4
    n <<= 1
    n |= 1
    k = divmod(n, 5)[0]
    return n * x**k


@program(1.1, features="strings")
def strings_in_between(x):
    name = "a" + "b" * 3
    name = name.upper().replace("A", "xy")
    words = " ".join([name, "c"]).split()
    return len(name) * x * x + len(words)


@program(1.1, features="f-string")
def formats_the_value(x):
    message = f"x is {x:.3f}, twice is {2 * x!r}"
    return x * x * (1.0 if message.startswith("x is") else 5.0)


@program(1.1, features="print")
def prints_the_value(x):
    y = x * x
    print("y is", y, f"{y:.2f}", sep=" ")
    return y * x


@program(1.1, features="assert")
def asserts_on_the_value(x):
    assert x > 0.0, f"negative: {x}"
    y = math.log(x)
    assert isinstance(y, float)
    return y


@program(1.1, True, features="bool")
@program(1.1, False, features="bool")
def arithmetic_with_a_bool(x, flag):
    return x * flag + x * x * (not flag) + True


@program(1.1, "cubic", features="strings, bool")
def string_argument(x, kind):
    return x**3 if kind == "cubic" else x


@program(1.1, None, features="None")
def none_argument(x, y):
    return x * x if y is None else x * y


@program(0.8, 3, features="whole numbers")
def whole_number_argument_as_count(x, n):
    y = 0.0
    for i in range(n):
        y = y + x**i
    return y


@program(2.0 + 1.0j, features="complex")
def modulus_squared(z):
    return abs(z) ** 2


@program(-0.7, 0.27, 8, features="complex, carried by a loop")
def complex_orbit(re, im, n):
    c, z = complex(re, im), 0j
    for k in range(n):
        z = z * z + c if k != 3 else z * z.conjugate() * re + im
    return z.real * abs(z) - z.imag


@program(0.6 - 0.3j, 1.2, features="complex argument and a real one")
def complex_and_real(z, x):
    w = x * z + 2.0
    u = (w * w.conjugate()).real + (w / z - x).imag
    return u * x


@program(0.7, -1.3, features="complex")
def real_through_complex(x, y):
    z = complex(x, y)
    w = z * z + 1j * z
    return w.real * 2.0 + w.imag


@program(np.float64(0.7), features="numpy scalar")
def numpy_scalar(x):
    return np.sin(x) * x + math.cos(x)


@program(np.array(0.7), features="0-d array")
def zero_dimensional_array(x):
    return np.sin(x) * x


@program(0.7, features="numpy on a float")
def numpy_functions_on_a_float(x):
    return np.exp(x) * np.tanh(x) + np.maximum(x, 0.0) + np.sqrt(x)


@program(2.5, features="tuple constant")
def horner(x):
    y = 0.0
    for c in reversed(COEFFICIENTS):
        y = y * x + c
    return y


@program(0.3, 0.5, features="docstring, pass, annotation")
def statements_without_effect(x: float, y: float) -> float:
    """A docstring."""
    pass
    ...
    z: float = x * y
    w: float  # noqa: F842
    "a string"
    return z


@program(0.3, 0.5, features="multiline expression, comments")
def several_lines(x, y):
    z = (
        x  # first
        + y * 2.0
        - math.sin(
            x * y,
        )
    )
    return z \
        * x  # fmt: skip


# fmt: off
@program(0.3, 0.5, features="several statements on a line")
def semicolons(x, y):
    a = x * y; b = a + x; c = a * b  # noqa: E702
    if c > 0.0: c = c * 2.0; b = c * a  # noqa: E701, E702
    return c * b; c = 0.0  # noqa: E702
# fmt: on


@program(0.3, 0.5, features="names like those the compiler makes")
def awkward_names(x, x_bar):
    y_bar = x * x_bar
    saved = y_bar + x
    tape = saved * saved
    t = tape + y_bar
    t_1 = t * x
    np_1 = t_1 * x_bar
    return np_1 + t


@program(0.3, 0.5, features="names like builtins")
def shadows_builtins(list, sum):
    max = list * sum
    len = max + list
    return len * max


@program(0.3, features="lambda")
def calls_a_lambda_on_the_spot(x):
    return (lambda t: t * t * 5.0)(x)


program(0.3, features="lambda")(lambda x: x * x + math.sin(x))
program(0.3, 0.9, features="lambda")(lambda x, y=2.0: x * y)


@program(2.0, 0, features="the names Ellipsis and NotImplemented")
def names_of_singletons(x, k):
    table = np.array([x, x * x])
    return (x * 3.0 if k is Ellipsis else table[Ellipsis, 1]) + (0.0 if k is NotImplemented else x)


@program(1.7, features="identity")
def product_with_one_is_another_object(x):
    y, z = x * 1.0, x**1
    return (3.0 if y is x else 5.0) * x + (7.0 if z is x else 11.0) * x
