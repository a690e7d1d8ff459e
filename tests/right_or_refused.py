"""Programs that need not be supported yet: their gradients must be right, or they must be refused."""

# The cases are written the way users write them, good style or not.
# ruff: noqa: B905, E731, RUF015

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgradpy import grad, gradient, pullback, value_and_gradient
from tests.programs.objects import Affine, Point

CASES: list[tuple[Any, tuple[Any, ...]]] = []


def case(*args: Any) -> Any:
    def enter(function: Any) -> Any:
        CASES.append((function, args))
        return function

    return enter


class Vector:
    """Operators and item access by the user's own methods."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return self.x + other.x * 2.0

    def __rmul__(self, factor):
        return factor * self.y

    def __matmul__(self, other):
        return self.x * other.y

    def __neg__(self):
        return -self.x

    def __getitem__(self, name):
        return self.x if name == "x" else self.y

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __float__(self):
        return self.x * self.y

    def __bool__(self):
        return self.x > 0.0

    def __lt__(self, other):
        return self.x < other.x

    def __contains__(self, value):
        return value == self.x


class Computed:
    scale = 3.0

    def __init__(self, a):
        self.a = a

    @property
    def double(self):
        return 2.0 * self.a

    @functools.cached_property
    def triple(self):
        return 3.0 * self.a

    def __getattr__(self, name):
        if name == "virtual":
            return self.a * self.a
        raise AttributeError(name)


class Derived(Affine):
    def __call__(self, x):
        return super().__call__(x) * self.a


@dataclass
class Made:
    u: float
    v: float = 2.0

    def product(self):
        return self.u * self.v


@dataclass
class Checked:
    u: float

    def __post_init__(self):
        self.w = self.u * 3.0


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2.0 * function(*args)

    return wrapper


@twice
def decorated_square(x):
    return x * x


@functools.lru_cache
def remembered(x):
    return x * x


def generate(x):
    for k in range(3):
        yield x**k


V = Vector(0.6, 1.7)


@case(V, Vector(2.0, -0.5))
def operators_of_a_class(v, w):
    return (v + w) * (2.0 * v) + (v @ w) + (-v)


@case(V)
def items_of_a_class(v):
    return v["x"] * v["y"] * len(v)


@case(V)
def iterates_a_class(v):
    a, b = v
    return a * b + sum([c * c for c in v])


@case(V)
def builtins_of_a_class(v):
    return abs(v) * float(v)


@case(V, Vector(2.0, -0.5))
def truth_and_order_of_a_class(v, w):
    return (v.x if v and v < w and v.x in v else v.y) * w.x


@case(Computed(0.6))
def reads_a_property(c):
    return c.double * c.a


@case(Computed(0.6))
def reads_a_cached_property(c):
    return c.triple * c.a


@case(Computed(0.6))
def reads_by_getattr(c):
    return c.virtual * c.scale


@case(Derived(0.6, 1.7), 0.9)
def uses_super(f, x):
    return f(x)


@case(0.6)
def constructs_an_object(x):
    return Made(x, x * x).product() + Made(x).u


@case(0.6)
def constructs_an_object_with_post_init(x):
    return Checked(x).w * x


@case(0.6)
def constructs_a_point(x):
    p = Point(x, 2.0 * x)
    return p.norm() * p.x


@case(0.6)
def calls_a_decorated_function(x):
    return decorated_square(x) * x


@case(0.6)
def calls_a_cached_function(x):
    return remembered(x) * x


@case(0.6)
def generator_expression(x):
    return sum(x**k for k in range(4)) + max(x * k for k in (1.0, 2.0)) * x


@case(0.6)
def any_and_all(x):
    return x * x if any(x > k for k in (0.5, 5.0)) and all(k > 0.0 for k in (x, x)) else x


@case(0.6)
def generator_function(x):
    total = 0.0
    for v in generate(x):
        total = total + v
    return total


@case(0.6)
def walrus(x):
    if (y := x * x) > 0.1:
        return y * x
    return x


@case(0.6)
def walrus_in_a_loop(x):
    y = x
    while (z := y * 1.5) < 4.0:
        y = z + 0.1 * x
    return z * y


@case(0.6)
def deletes_a_name(x):
    y = x * x
    del y
    y = x * 3.0
    return y * x


@case(0.6)
def local_import(x):
    import math as m

    return m.sin(x)


@case(0.6)
def local_class(x):
    class Local:
        value = 3.0

    return x * x * Local.value


@case(0.6)
def set_comprehension(x):
    return sum({x * k for k in (1.0, 2.0)}) * x


@case((0.5, 1.5, 2.5))
def map_filter_sorted(values):
    return (
        sum(map(lambda v: v * v, values))
        + sum(filter(lambda v: v > 1.0, values))
        + sorted(values, key=lambda v: -v)[0] * 3.0
    )


@case((0.5, 1.5, 2.5))
def reduce_and_accumulate(values):
    return functools.reduce(lambda a, b: a * b, values) + functools.reduce(operator.add, values, 1.0)


@case(0.6)
def partial_inside(x):
    return functools.partial(math.pow, x)(3.0) + functools.partial(lambda a, b: a * b, b=x)(2.0)


@case((0.5, 1.5))
def next_of_iter(values):
    it = iter(values)
    return next(it) * next(it)


@case(0.6)
def closure_rebound_later(x):
    y = x
    f = lambda: y * x
    y = x * x * 3.0
    return f() + y


@case(0.6)
def closure_over_a_loop_variable(x):
    functions = [lambda: x * k for k in (1.0, 2.0, 3.0)]
    total = 0.0
    for v in (x, 2.0 * x):
        f = lambda: v * v
        total = total + f()
    return functions[0]() + total


@case(0.6)
def closure_over_a_rebound_parameter(x):
    def f(t):
        return t * x

    x = x * 2.0
    return f(3.0) * x


@case(0.6)
def inner_function_used_before_a_later_one(x):
    def f(t):
        return g(t) * x

    def g(t):
        return t * t

    return f(x)


@case(0.6)
def star_unpacking_in_the_middle(x):
    a, *b, c = (x, x * x, 3.0 * x, 4.0)
    return a * b[0] * b[1] * c


@case(0.6)
def through_a_string(x):
    return eval("x * x") + x


@case(0.6)
def through_a_format_string(x):
    return len(f"{x:.1f}") * x


@case(0.6)
def locals_and_vars(x):
    y = x * x
    return locals()["y"] * x


@case({"a": 0.6, "b": 1.7})
def dict_methods(d):
    return d.get("a", 0.0) * d.get("c", 2.0) + sum(d.values()) * len(d.keys()) + d.get("z", d["b"]) ** 2


@case(0.6)
def dict_with_active_default(x):
    return {"a": 1.0}.get("b", x) * x


@case(0.6)
def dict_keyed_by_a_value(x):
    return {x: x * x}[x] * x


@case(0.6)
def other_containers(x):
    return deque([x, x * x])[1] * defaultdict(float, a=x)["a"] + OrderedDict(a=x)["a"]


@case((0.5, 1.5, 2.5))
def list_and_tuple_constructors(values):
    a, b = list(values), tuple([v * v for v in values])
    return (
        a[0] * b[1]
        + dict(a=a[1])["a"]
        + list(reversed(values))[0] * list(zip(a, b))[1][1]
        + list(enumerate(a))[2][1] ** 2
    )


@case((0.5, 1.5))
def copies_of_lists(values):
    return list(values).copy()[0] ** 2 * copy.copy(list(values))[1]


@case(np.array([0.5, 1.5, 2.5]))
def array_to_list(x):
    values = x.tolist()
    return values[0] * values[1] + float(x[2]) ** 2 + x.item(1) ** 3


@case(np.array([0.5, 1.5, 2.5]))
def array_views(x):
    y = x.view()
    z = np.asarray(x)
    w = np.broadcast_to(x, (2, 3))
    return np.sum(y * z) + np.sum(w**2) + np.sum(np.atleast_2d(x) * x[None, :]) + np.sum(np.diff(x) ** 2)


@case(np.array([0.5, 1.5, 2.5]))
def array_of_lists(x):
    return np.sum(np.array([x, x * x, [1.0, 2.0, 3.0]]) ** 2) + np.sum(np.array(list(x)) * x)


@case(np.array([[0.5, 1.5], [2.5, 0.3]]))
def linear_algebra(a):
    return np.linalg.det(a) + np.trace(a) + np.sum(np.linalg.inv(a)) + np.linalg.norm(a)


@case(np.array([0.5, 1.5, 2.5]))
def sorting_and_scanning(x):
    return (
        np.sum(np.sort(x) * np.arange(3))
        + np.sum(np.cumsum(x) ** 2)
        + np.prod(x)
        + x[np.argmax(x)] * np.var(x)
        + np.median(x)
    )


@case(np.array([0.5, 1.5, 2.5]))
def vectorised_and_applied(x):
    return np.sum(np.vectorize(lambda v: v * v)(x)) + np.sum(np.apply_along_axis(np.sum, 0, x))


@case(np.array([0.5, 1.5, 2.5]))
def ufunc_methods(x):
    return np.add.reduce(x * x) + np.sum(np.multiply.outer(x, x)) + np.sum(np.add.accumulate(x) ** 2)


@case(np.array([0.5, 1.5, 2.5]))
def ufunc_with_where_or_dtype(x):
    return np.sum(x * x, where=np.array([True, False, True])) + np.sum(np.multiply(x, x, dtype=np.float64))


@case(2.0 + 1.0j)
def complex_attributes(z):
    return z.real * z.imag + abs(z) + (z.conjugate() * z).real


@case(np.array([2.0 + 1.0j, 0.5 - 1.0j]))
def complex_arrays(z):
    return np.sum(np.abs(z) ** 2) + np.sum(np.real(z * z)) + np.sum((z * np.conj(z)).real) + np.sum(z.imag)


@case(0.6)
def exceptions_as_values(x):
    error = ValueError(x)
    return error.args[0] * x


@case(0.6)
def nested_gradient(x):
    (inner,) = gradient(lambda t: t**3, x)
    return inner * x


@case(0.6)
def nested_gradient_of_a_closure(x):
    return value_and_gradient(lambda t: t * x, 2.0)[0] * grad(lambda t: t * t * x)(3.0)


@case(0.6)
def nested_pullback(x):
    y, back = pullback(math.sin, x)
    return y * back(1.0)[1]


@case(0.6)
def stored_in_an_object_and_read_back(x):
    p = Point(0.0, 0.0)
    p.x = x
    return p.x * x


@case(0.6)
def default_argument_evaluated_at_definition(x):
    def f(t, k=x * x):
        return t * k

    x = 2.0 * x
    return f(x)


@case(0.6)
def variable_unbound_on_other_paths(x):
    for k in range(3):
        if k == 1:
            y = x * x
    return y * x


@case(0.6, 2)
def match_statement(x, n):
    match n:
        case 1:
            return x
        case 2:
            return x * x
    return 0.0


@case(0.6)
def exception_caught(x):
    try:
        y = [x][1]
    except IndexError:
        y = x * x
    return y * x


@case(0.6)
def chained_assignment_to_targets(x):
    a = (b, c) = (x, x * x)
    return a[0] * b * c


@case(0.6)
def lambda_in_default(x, f=lambda t: t * 3.0):
    return f(x) * x


@case(0.6)
def matrix_of_lists(x):
    m = [[x * i * j for j in range(1, 3)] for i in range(1, 3)]
    return sum([sum(row) for row in m]) + sum(m[0] + m[1])


@case(0.63)
def int_of_active_in_arithmetic(x):
    return int(x * 10.0) * x + x // 0.25 + round(x, 1) * x + math.floor(x + 3.0) * x


@case(0.6)
def star_star_merge(x):
    def f(**kwargs):
        total = 0.0
        for name, value in kwargs.items():
            total = total + value * len(name)
        return total

    return f(**{"a": x}, **{"bb": x * x}) * f(c=x)


@case([0.5, 1.5])
def iterates_while_indexing(values):
    total = 0.0
    for i, v in enumerate(values):
        for w in values[i:]:
            total = total + v * w
    return total


@case(0.63)
def rarer_math_functions(x):
    a = math.nextafter(x, 3.0) * x + math.fmod(5.0 * x, 2.0) + math.remainder(5.0 * x, 2.0) + math.copysign(x, -1.0)
    b = (
        math.ldexp(x, 2)
        + math.frexp(x)[0] * x
        + math.modf(3.3 * x)[0]
        + math.degrees(x)
        + math.radians(x)
        + math.trunc(x)
    )
    c = math.gamma(x) + math.lgamma(x) + math.erfc(x) + math.cbrt(x) + math.exp2(x) + math.dist([x, 1.0], [2.0, x])
    return a + b + c + math.fsum([x, x * x]) + math.prod([x, x * x]) + math.ulp(x)


@case(0.6)
def union_of_dicts(x):
    d = {"a": x} | {"b": x * x}
    return d["a"] * d["b"]


@case(0.6)
def union_of_dicts_by_augmented_assignment(x):
    d = {"a": x}
    d |= {"b": x * x}
    return d["a"] * d["b"]


@case(0.6)
def several_double_stars(x):
    def f(**kwargs):
        return kwargs["a"] * kwargs["b"]

    return f(a=x, **{"b": x * x}) + f(**{"a": x}, **{"b": x * x})


@case(0.6)
def executes_text(x):
    scope = {"x": x}
    exec("y = x * x", scope)
    return scope["y"] * x


@case(0.6)
def reads_vars_and_globals(x):
    p = Point(x, 2.0)
    return vars(p)["x"] * x + p.__dict__["x"]


@case(Point(0.6, 1.7))
def reads_vars_of_an_argument(p):
    return vars(p)["x"] * p.y + p.__dict__["x"]


@case(0.6)
def repeats_and_extends_by_augmented_assignment(x):
    values = [x]
    values += [x * x]
    values *= 2
    p = (x,)
    p += (x * x,)
    return values[1] * values[2] + p[1]


@case(np.array([0.5, 1.5, 2.5]))
def augmented_assignment_of_an_alias(x):
    y = x * 1.0
    z = y
    y += x
    return np.sum(z * y)


@case(np.array([0.5, 1.5, 2.5]))
def augmented_assignment_of_a_view(x):
    y = x * 1.0
    z = y[1:]
    z *= 3.0
    return np.sum(y * y)


@case(np.array([0.5, 1.5, 2.5]))
def augmented_assignment_after_a_nonlinear_use(x):
    y = x * 1.0
    s = np.sum(y * y)
    y *= 2.0
    return s + np.sum(y**3)


@case(np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]))
def augmented_assignment_in_a_loop(x, w):
    total = np.zeros(3)
    for k in range(3):
        total += x * k
        total *= w
    return np.sum(total)


@case(0.6)
def global_list_is_written(x):
    STORE[0] = x
    return STORE[0] * x


STORE = [0.0]


def store(value):
    STORE[0] = value


@case(0.6)
def helper_writes_a_global_list(x):
    store(x)
    return STORE[0] * x


@case(0.6)
def attribute_of_a_function(x):
    store.value = x
    return store.value * x


@case([0.5, 1.5])
def returns_from_the_middle_of_an_unpacked_list(values):
    for i, v in enumerate(values):
        if i == 1:
            return v * values[0]
    else:
        return values[0]


@case(0.6)
def format_then_parse(x):
    return float(str(x)) * 0.0 + x


@case(0.6)
def hash_and_compare(x):
    return x * (1.0 if hash(x) == hash(x + 0.0) else 2.0) + x * (x in [x]) + x * [x].count(x)


@case(0.6)
def sum_with_start_list(x):
    return functools.reduce(operator.iadd, [[x], [x * x]], [])[1] * x


@case(0.6)
def max_with_key_and_default(x):
    return max([x, -2.0 * x], key=abs) * x + max([], default=x) + min([x, 2.0 * x], key=lambda v: -v)


@case((0.5, 1.5, 2.5))
def negative_step_slices(p):
    a, b = p[::-2], p[-1:0:-1]
    return a[0] * b[1] + p[slice(0, 2)][1]


@case(np.array([[0.5, 1.5], [2.5, 0.3]]))
def transposed_reshaped_written_views(a):
    b = a.T.reshape(-1)
    c = b[::2] + a[:, ::-1].ravel()[1:3]
    return np.sum(c * c) + a.T[0] @ a[1] + np.swapaxes(a, 0, 1)[0, 1]


@dataclass(eq=False)
class Doubling:
    """A class whose operators are not those of numbers."""

    x: float

    def __add__(self, other):
        return Doubling(2.0 * self.x + (other.x if isinstance(other, Doubling) else other))

    __radd__ = __add__

    def __pos__(self):
        return Doubling(3.0 * self.x)

    def __neg__(self):
        return Doubling(5.0 * self.x)

    def __lt__(self, other):
        return self.x < other.x


class Constant:
    """Answers for the number on the other side, and not linearly."""

    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return other * self.a * 3.0

    def __mul__(self, other):
        return other * self.a + 7.0

    __radd__, __rmul__ = __add__, __mul__


def make_doubling(x):
    return Doubling(x)


def make_constant():
    return Constant(2.0)


@case(0.7, make_doubling)
def operators_on_what_a_parameter_returns(x, make):
    v = make(x)
    return (v + v).x + (+make(x)).x + (-make(x)).x


@case(0.7)
def operators_on_the_values_of_a_dict(x):
    made = {1: Doubling(x), 2: Doubling(2.0 * x)}
    return (made[1] + made[2]).x


@case([0.5, 1.5])
def operators_on_mapped_objects(values):
    total = Doubling(0.0)
    for v in map(Doubling, values):
        total = total + v
    return total.x + sum(map(Doubling, values)).x + sorted(map(Doubling, values))[0].x


@case(0.7)
def constants_that_answer_for_a_number(x):
    return x + make_constant() + (make_constant() + x) + x * Constant(3.0) + make_constant() * 2.0 * x


@case(0.7, Constant)
def constants_made_by_a_parameter(x, make):
    return x * make(3.0) + make(2.0) * x


@case([0.5, 1.5, 2.5, 0.1])
def one_iterator_read_at_several_places(values):
    items = iter(values)
    first = next(items)
    return first * sum([a * b for a, b in zip(items, items)])


@case([0.5, 1.5])
def iterators_kept_in_a_container(values):
    kept = {"squares": map(lambda v: v * v, values)}
    a, b = zip(*[(v, v * v) for v in values])
    return sum(kept["squares"]) * sum(a) * sum(b)


@case([0.5, 1.5])
def groups_whose_key_is_used(values):
    return sum([key * sum(group) for key, group in itertools.groupby(values)])


@dataclass
class Hidden:
    """The property takes the place of the field that the constructor is given."""

    a: float

    @property
    def a(self):
        return 3.0 * self._a

    @a.setter
    def a(self, value):
        vars(self)["_a"] = value


@case(0.7)
def constructor_through_a_property(x):
    return Hidden(x).a * x


class Weights(list):
    """A list with items of its own, which nobody but the program reads."""

    def __getitem__(self, index):
        return list.__getitem__(self, index) * 2.0


@case(Weights([0.5, 1.5]))
def subclass_of_list(w):
    return w[0] * w[1] + sum(w)


class Doubled(list):
    def __getitem__(self, key):
        return 2.0 * list.__getitem__(self, key)

    def __iter__(self):
        return iter([3.0 * value for value in list.__iter__(self)])


@case(Doubled([2.0, 3.0]))
def item_of_a_list_that_reads_in_its_own_way(xs):
    return xs[0] * 2.0


@case(Doubled([2.0, 3.0]))
def loop_over_a_list_that_reads_in_its_own_way(xs):
    total = 0.0
    for x in xs:
        total = total + x
    return total


@case(Doubled([2.0, 3.0]))
def sum_of_a_list_that_reads_in_its_own_way(xs):
    return sum(xs)


def shown(x):
    return (x * 2.0)[1:]


@case(np.array([0.4, -0.9, 1.3]))
def the_array_behind_a_view_is_used(x):
    view = shown(x)
    behind = view.base
    behind[1] *= 3.0
    return behind[0] * view[0]
