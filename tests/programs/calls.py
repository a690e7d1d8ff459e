"""Programs that call: helpers, recursion, closures, every way to pass arguments."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.programs.table import program

SCALE = 2.5


def square(x):
    return x * x


def scaled(x, factor=SCALE, *, shift=0.0):
    return x * factor + shift


def first_above(values, bound):
    for v in values:
        if v > bound:
            return v
    return bound


def sine_and_cosine(x):
    return math.sin(x), math.cos(x)


def total_of(*values, **options):
    total = options["start"] if "start" in options else 0.0
    for v in values:
        total = total + v * v
    return total * options["factor"] if "factor" in options else total


def describe(x):
    return f"<{x}>"


@program(0.7, features="helper call")
def calls_a_helper(x):
    return square(x) + square(square(x)) * x


@program(0.7, features="helper call in a loop")
def calls_a_helper_in_a_loop(x):
    y = x
    for _ in range(4):
        y = square(y) + x
    return y


@program(0.7, features="helper call, unused result")
def ignores_a_helper(x):
    square(x)
    _ = sine_and_cosine(x)
    return x * x


@program(0.7, features="helper returns a tuple")
def helper_returns_a_tuple(x):
    s, c = sine_and_cosine(x)
    return s * c + sine_and_cosine(s)[1]


@program(0.7, features="helper used only for a comparison")
def helper_decides(x):
    if square(x) > 0.3:
        return x**3
    return x


@program(0.7, features="helper with inactive result")
def helper_formats(x):
    return x * len(describe("abc")) + (1.0 if describe(x) else 0.0)


@program(0.7, features="helper with early return")
@program(9.0, features="helper with early return")
def helper_with_early_return(x):
    return first_above([x, x * x, x + 1.0], 1.5) * x


@program(0.7, features="defaults")
def default_argument(x):
    return scaled(x) * scaled(x, x) + scaled(x, factor=3.0)


@program(0.7, features="default of the program itself")
def own_default(x, k=3.0):
    return x * k * k


@program(0.7, 0.3, features="keyword-only")
def keyword_only(x, y):
    return scaled(x, shift=y) * scaled(y, shift=x * x, factor=x)


@program(0.7, 0.3, features="arguments by keyword, other order")
def keywords_in_another_order(x, y):
    def subtract(a, b):
        return a - 3.0 * b

    return subtract(b=x, a=y) * subtract(x, b=y)


@program(0.7, 0.3, 1.5, features="*args")
def own_varargs(x, *rest):
    total = x
    for r in rest:
        total = total * r + x
    return total * len(rest)


@program(0.7, features="*args, zero of them")
def own_varargs_empty(x, *rest):
    return x * x + len(rest)


@program(0.7, 0.3, features="*args, **kwargs")
def passes_many(x, y):
    return total_of(x, y, x * y) + total_of(x, factor=y) + total_of(y, start=x, factor=2.0) + total_of()


@program(0.7, 0.3, features="star-call")
def star_call(x, y):
    pair = (x, y)
    values = [y, x, y]
    return total_of(*pair) * total_of(1.0, *values, *pair) + square(*[x])


@program(0.7, 0.3, features="double-star-call")
def double_star_call(x, y):
    options = {"factor": x, "shift": y}
    return scaled(y, **options) * scaled(x, **{"shift": x * y})


@program(0.7, 0.3, features="*args forwarded")
def forwards_arguments(x, y):
    def forward(function, *args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return forward(scaled, x, shift=y) + forward(square, y) + forward(math.sin, x)


@program(0.7, 4, features="recursion")
@program(0.7, 0, features="recursion")
def recursive_power(x, n):
    if n == 0:
        return 1.0
    return x * recursive_power(x, n - 1)


@program(0.7, features="recursion on a float")
def recursive_halving(x):
    if x < 0.1:
        return math.sin(x)
    return recursive_halving(x / 2.0) * x + recursive_halving(x / 3.0)


def grows(x, w, n):
    return np.cos(x) if n == 0 else grows(0.5 * x * w + w, w, n - 1)


@program(0.7, np.array([0.3, -0.4]), 2, features="recursion from a number to an array: units of one name call each other")
def recursive_growth(x, w, n):
    return np.sum(grows(x, w, n))


@program(0.7, 5, features="mutual recursion")
def mutual_even(x, n):
    if n == 0:
        return x
    return mutual_odd(x * 1.5, n - 1)


def mutual_odd(x, n):
    if n == 0:
        return 2.0 * x
    return math.sin(mutual_even(x, n - 1))


@program([1.0, [2.0, [3.0, 4.0]], 5.0], features="recursion over a nested list, isinstance")
def recursive_sum_of_squares(tree):
    if isinstance(tree, float):
        return tree * tree
    total = 0.0
    for branch in tree:
        total = total + recursive_sum_of_squares(branch)
    return total


@program(0.7, features="recursive inner function")
def recursive_inner_function(x):
    def go(y, n):
        if n == 0:
            return y
        return go(y * x, n - 1)

    return go(x, 3)


@program(0.7, 1.3, features="closure over active values")
def closure_over_arguments(x, y):
    def inner(t):
        return t * x + y * t * t

    return inner(2.0) * inner(x)


@program(0.7, features="closure over a local")
def closure_over_a_local(x):
    y = math.sin(x)

    def inner():
        return y * y * x

    return inner() + inner() * y


@program(0.7, features="closure, two levels")
def closure_two_levels(x):
    def outer(a):
        def inner(b):
            return a * b * x

        return inner(a) + inner(x)

    return outer(2.0 * x)


@program(0.7, features="closure returned")
def closure_returned(x):
    def make(factor):
        def multiply(t):
            return t * factor

        return multiply

    double = make(2.0 * x)
    triple = make(3.0)
    return double(x) * triple(double(1.0))


@program(0.7, features="lambda over an active value")
def lambda_over_a_value(x):
    f = lambda t, k=x: t * k + x  # noqa: E731
    g = lambda t: f(t) * f(t, 2.0)  # noqa: E731
    return g(x)


@program(0.7, features="list of functions")
def chain_of_functions(x):
    for f in [math.cos, math.sin, square, lambda t: t * 2.0]:
        x = f(x)
    return x


@program(0.7, features="dict of functions")
def table_of_functions(x):
    functions = {"s": math.sin, "q": square, "l": lambda t: t + x}
    return functions["s"](x) * functions["q"](x) * functions["l"](x)


@program(0.7, features="function chosen in a branch")
@program(1.7, features="function chosen in a branch")
def chosen_function(x):
    f = math.sin if x < 1.0 else square
    return f(x) * x


@program(0.7, math.sin, features="function argument")
@program(0.7, square, features="function argument")
@program(0.7, abs, features="function argument")
@program(0.7, np.tanh, features="function argument")
def applies_twice(x, f: Callable):
    return f(f(x) + x)


@program(0.7, features="same function, floats then arrays")
def floats_then_arrays(x):
    a = square(x)
    b = square(np.array([1.0, 2.0]) * x)
    return a + np.sum(b) * a


@program(0.7, features="closure made in a loop")
def closures_made_in_a_loop(x):
    total = 0.0
    for k in range(3):

        def term(t, k=k):
            return t**k * x

        total = total + term(x + k)
    return total


@program(0.7, features="captured variable rebound before the closure is made")
def rebound_before_capture(x):
    y = x * x
    y = y + 1.0
    f = lambda: y * x  # noqa: E731
    return f()


@program(0.7, features="inner function defined in a branch")
@program(-0.7, features="inner function defined in a branch")
def inner_function_in_a_branch(x):
    if x > 0:

        def f(t):
            return t * x
    else:

        def f(t):
            return t + x * x

    return f(x) * 2.0


@program(0.7, features="inner function without captures")
def inner_function_without_captures(x):
    def cube(t: float) -> float:
        """A docstring."""
        return t**3

    return cube(x) + cube(2.0)


@program(0.7, features="closure called in a loop, nested loops in the closure")
def closure_with_a_loop(x):
    def smooth(t):
        for _ in range(3):
            t = 0.5 * (t + x * x)
        return t

    y = x
    for _ in range(2):
        y = smooth(y) * 1.5
    return y


def make_affine(a, b):
    def affine(x):
        return a * x + b

    return affine


program(4.0, features="the program is a closure")(make_affine(2.0, 3.5))
program(4.0, features="the program is a lambda over values")((lambda k: lambda x: x * k * x)(1.5))


@program(0.7, features="builtin map-free higher order function")
def fold(x):
    def reduce(f, items, start):
        for item in items:
            start = f(start, item)
        return start

    return reduce(lambda a, b: a * b + x, [x, 2.0, x * x], 1.0)


@program(0.7, features="positional-only parameters")
def positional_only(x):
    def f(a, /, b, *, c):
        return a * b - c

    return f(x, b=2.0 * x, c=x * x * x) * f(1.0, x, c=0.0)


@program(0.7, features="call in the arguments of a call")
def nested_calls(x):
    return scaled(square(scaled(x, square(x))), shift=square(math.sin(square(x))))


@program(0.7, features="callee keeps local names of the caller")
def same_names_in_caller_and_callee(x):
    def f(y):
        x = y * 2.0
        y = x * y
        return y + x

    y = f(x)
    x = f(y)
    return x * y


@program(np.array([1.0, 2.0]), np.array([[3.0, 0.5], [1.5, 2.5]]), features="method read in a loop, kinds that widen")
def unused_method_result_in_a_loop(b, d):
    for _ in range(2):
        c = np.tanh(b.mean(keepdims=True))  # noqa: F841
        b = np.minimum(d, 2.75) * b
    return np.sum(b)


@program(np.array([1.0, 2.0]), True, features="method read as a value in both arms")
@program(np.array([1.0, 2.0]), False, features="method read as a value in both arms")
def method_read_in_both_arms(x, several):
    total = x.sum
    if several:
        methods = [total, total]
    else:
        methods = [total]
    return total() * 2.0 + methods[-1]()


@program(2.0, 3.0, features="closures, defaults of nested functions, keyword-only parameters")
def nested_functions_with_defaults(a, b):
    def scaled(x, factor=a * b, *, shift=b):
        return x * factor + shift * a

    def twice(x):
        return scaled(x) + scaled(x, 2.0, shift=1.5)

    return twice(a) * scaled(b, shift=a)


@program(1.5, 4, features="nested function that calls itself over a captured variable")
def nested_recursion(a, n):
    def power(k):
        if k == 0:
            return 1.0
        return a * power(k - 1)

    return power(n)


@program(1.3, 0.7, features="mutual recursion of nested functions")
def nested_functions_that_use_each_other(x, k):
    scale = x * 2.0

    def even(n):
        return 1.0 if n == 0 else odd(n - 1) * x

    def odd(n, d=scale):
        return scale if n == 0 else even(n - 1) * k + third(n - 1) * d

    def third(n):
        if n <= 0:
            return x
        return third(n - 1) * even(n - 1) * k

    def alone(n):
        return even(n) + odd(n)

    return even(5) + odd(4) * x + alone(2)


@program(1.3, features="nested functions that use later ones")
def nested_functions_in_reading_order(x):
    def main(y):
        return first(y) * second(y)

    def first(y):
        return second(y) + x

    def second(y):
        return y * y

    return main(x)


def second_of_three(x, y, place):
    values = [k for k in [y, x, 0.83]]
    x, y = (y, values[place] * 0.5)
    return y


@program(0.3, 0.4, features="callee that does not use an item")
def callee_that_picks_an_item(x, y):
    def helper(a):
        return second_of_three(math.cos(a + a), a, 2) + second_of_three(a, a * y, 0)

    return helper(x) * second_of_three(math.sin(y), x, 2)


def pairs_of(x):
    return (math.sin(x), math.cos(x)), (x * 2.0, [x * 3.0]), x


@program(0.7, features="tuples in a tuple that a callee returns, of which some items are used")
def items_of_tuples_in_a_tuple(x):
    first, second, _ = pairs_of(x)
    (_, cosine), _, _ = pairs_of(x * x)
    return first[1] * second[0] + cosine + pairs_of(cosine)[0][0] * pairs_of(x)[1][1][0]


@program(0.7, features="tuples in a tuple are returned, in a branch as well")
def returns_tuples_in_a_tuple(x):
    (a, b), rest, c = pairs_of(x) if x > 0.0 else ((x, x), (x, [x]), x)
    return (a, (b, c)), rest
