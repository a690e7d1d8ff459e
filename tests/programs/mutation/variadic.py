"""Parameters with stars, fields that `__post_init__` assigns, and functions made inside that call themselves or yield."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.programs.mutation.table import K, program


class Polynomial:
    def __init__(self, *coefficients, scale=1.0, **named):
        self.coefficients = coefficients
        self.scale = scale
        self.named = named

    def __call__(self, t):
        total = 0.0
        for coefficient in self.coefficients:
            total = total * t + coefficient
        return total * self.scale

    def degree(self):
        return len(self.coefficients) - 1


class Box:
    def __init__(self, value):
        self.value = value

    def mixed(self, *others, **named):
        return self.value * sum(others) + named["offset"]


def raised(*boxes, by=1.0):
    for box in boxes:
        box.value = box.value + by
    return boxes[0].value


def doubled(**named):
    named["a"] = 2.0 * named["a"]
    return named["a"] + named.get("b", 1.0)


def product(*values):
    return values[0] if len(values) == 1 else values[0] * product(*values[1:])


@program(K, features="variadic parameters, constructors")
def coefficients_by_position(x):
    first, second = Polynomial(1.0, x, 2.0, scale=x), Polynomial(x * x)
    return first(x) * first.degree() + second(2.0) + Polynomial()(x)


@program(K, features="variadic parameters, dicts")
def keywords_are_kept_and_written_into(x):
    options = {"a": x, "b": x * x}
    polynomial = Polynomial(x, **options)
    polynomial.named["c"] = polynomial.named["a"] * 3.0
    total = sum(polynomial.named.values()) + doubled(**options)
    for name, value in polynomial.named.items():
        total = total + len(name) * value
    return total * options["a"]


@program(K, features="variadic parameters, objects")
def objects_by_position_are_written_into(x):
    a, b = Box(x), Box(x * x)
    first = raised(a, b, by=x) + raised(a, a, by=x * x)
    return first * a.value * b.value + a.mixed(x, 2.0, offset=x) + b.mixed(offset=x)


@program(K, features="variadic parameters, recursion")
def values_are_handed_on_with_a_star(x):
    return product(x, 2.0, x) + product(x)


@dataclass
class Beam:
    length: float
    inertia: float = field(init=False)
    loads: list = field(default_factory=list)
    factor: float = field(default=2.0, init=False)

    def __post_init__(self):
        self.inertia = self.length**4 / 12.0
        self.loads.append(self.length)


@dataclass
class Unset:
    a: float
    b: float = field(init=False)


@program(K, features="dataclasses")
def fields_are_assigned_after_the_constructor(x):
    beam, other = Beam(x), Beam(x * x, [x])
    beam.loads.append(3.0 * x)
    return beam.inertia * beam.factor * sum(beam.loads) + other.inertia * sum(other.loads)


@program(K, features="dataclasses, try")
def field_without_a_value_is_read(x):
    unset = Unset(x)
    try:
        return unset.b
    except AttributeError:
        unset.b = unset.a * 3.0
    return unset.b * x


@program(K, features="closures, recursion")
def functions_made_inside_call_themselves(x):
    def fibonacci(n):
        return x if n < 2 else fibonacci(n - 1) + 0.5 * fibonacci(n - 2)

    def even(n):
        return x if n == 0 else odd(n - 1) * 1.1

    def odd(n):
        return 2.0 * x if n == 0 else even(n - 1) + x

    return fibonacci(5) + even(3) * odd(2) + sum(map(fibonacci, [1, 2]))


@program(K, features="closures, recursion")
def function_that_calls_itself_is_replaced(x):
    def power(n):
        return x if n == 0 else power(n - 1) * x

    kept = power

    def power(n):
        return 10.0 * x

    return kept(2) + power(0)


@program(K, features="closures, generators")
def function_made_inside_yields(x):
    def averages(values, weight):
        mean = None
        for value in values:
            mean = value if mean is None else weight * value + (1.0 - weight) * mean
            yield mean

    iterator = averages([x, x * x, 3.0], 0.5)
    first = next(iterator)
    return sum(averages([x, 2.0 * x, x * x], 0.3)) + first * sum(iterator)
