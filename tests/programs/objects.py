"""Programs that read objects: dataclasses, slots, callable objects, bound methods, chains of layers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tests.programs.table import program


@dataclass
class Point:
    x: float
    y: float

    def norm(self) -> float:
        return math.sqrt(self.x**2 + self.y**2)

    def dot(self, other: Point) -> float:
        return self.x * other.x + self.y * other.y

    def shifted_norm(self, shift: float = 0.5, *, scale: float = 2.0) -> float:
        return scale * (self.norm() + shift)


@dataclass(frozen=True, slots=True)
class Segment:
    start: Point
    end: Point
    label: str = "segment"


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: float, b: float) -> None:
        self.a = a
        self.b = b


class Affine:
    """A callable object."""

    offset = 1.5

    def __init__(self, a: float, b: float) -> None:
        self.a = a
        self.b = b

    def __call__(self, x):
        return self.a * x + self.b + self.offset

    @staticmethod
    def twice(x):
        return 2.0 * x

    @classmethod
    def moved(cls, x):
        return x + cls.offset


class Scaled(Affine):
    def __call__(self, x):
        return Affine.__call__(self, x) * self.a


@dataclass
class Dense:
    W: np.ndarray
    b: np.ndarray
    activation: object = np.tanh

    def __call__(self, x):
        return self.activation(x @ self.W + self.b)


@dataclass
class Chain:
    layers: list = field(default_factory=list)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def identity_activation(x):
    return x


POINT = Point(0.6, 1.7)
SEGMENT = Segment(Point(0.6, 1.7), Point(2.0, -0.5))
X = np.array([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]])
NET = Chain(
    [
        Dense(np.array([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]]), np.array([0.01, 0.02])),
        Dense(np.array([[0.7], [-0.8]]), np.array([0.03]), identity_activation),
    ]
)


@program(POINT, features="dataclass argument")
def dataclass_argument(p):
    return p.x * p.y + math.sin(p.x)


@program(POINT, features="method call")
def method_call(p):
    return p.norm() * p.x


@program(POINT, 0.8, features="method with defaults and keyword-only")
def method_with_defaults(p, s):
    return p.shifted_norm() + p.shifted_norm(s) * p.shifted_norm(s, scale=s)


@program(POINT, Point(2.0, -0.5), features="two objects")
def method_of_two_objects(p, q):
    return p.dot(q) * p.x + q.norm()


@program(POINT, features="one object twice")
def object_with_itself(p):
    return p.dot(p)


@program(SEGMENT, features="nested objects, slots")
def nested_objects(s):
    return (s.end.x - s.start.x) * s.start.norm() * len(s.label)


@program(Slotted(0.6, 1.7), features="slots")
def slotted_object(s):
    return s.a * s.b * s.a


@program(Affine(0.6, 1.7), 0.9, features="callable object")
def callable_object(f, x):
    return f(f(x)) * f.a


@program(Affine(0.6, 1.7), 0.9, features="class attribute, staticmethod, classmethod")
def class_members(f, x):
    return f.offset * x + f.twice(x) * f.moved(x) + Affine.twice(f.a)


@program(Scaled(0.6, 1.7), 0.9, features="inheritance")
def inherited(f, x):
    return f(x) * x


@program(POINT, features="bound method as a value")
def bound_method_as_a_value(p):
    norm = p.norm
    dot = p.dot
    return norm() * dot(p)


@program([Point(0.6, 1.7), Point(2.0, -0.5)], features="list of objects")
def list_of_objects(points):
    total = 0.0
    for p in points:
        total = total + p.x * p.norm()
    return total + sum([p.y for p in points])


@program({"a": Point(0.6, 1.7)}, features="dict of objects")
def dict_of_objects(points):
    return points["a"].x * points["a"].norm()


@program(NET, X, features="chain of layers")
def chain_of_layers(net, x):
    return np.sum(net(x) ** 2)


@program(NET, features="chain of layers, fields read by hand")
def reads_layers_by_hand(net):
    h = np.tanh(X @ net.layers[0].W + net.layers[0].b)
    return np.mean(h @ net.layers[1].W)


@program(NET, features="weight decay over layers")
def weight_decay(net):
    total = 0.0
    for i, layer in enumerate(net.layers):
        total = total + (i + 1) * np.sum(layer.W**2)
    return total


@program(POINT, 2, features="object in the loop state")
def object_in_the_loop_state(p, n):
    q = p
    total = p.x
    for _ in range(n):
        total = total * q.y + q.norm()
        q = POINT
    return total


@program(POINT, Point(2.0, -0.5), True, features="object chosen in a branch")
@program(POINT, Point(2.0, -0.5), False, features="object chosen in a branch")
def object_chosen_in_a_branch(p, q, first):
    r = p if first else q
    return r.x * r.norm() + p.y * q.y + p.x * q.x


@program(POINT, features="fields not read")
def reads_one_field(p):
    return p.x**2


@program(POINT, features="getattr with a constant name")
def builtin_getattr(p):
    return getattr(p, "x") * p.y  # noqa: B009


program(0.9, features="the program is a bound method")(Affine(0.6, 1.7).__call__)


class Scaled:
    def __init__(self, scale):
        self.scale = scale
        self.__private = scale * 2.0

    def apply(self, x):
        return self.scale * x * self.__private

    @classmethod
    def fixed(cls, x):
        return x * 3.0

    def __call__(self, x):
        return self.apply(x) * x


class Shifted(Scaled):
    def __init__(self, scale, shift):
        super().__init__(scale)
        self.shift = shift
        self.__private = shift * 3.0

    def apply(self, x):
        return super().apply(x) * self.shift + super().fixed(x) * self.__private

    def __call__(self, x):
        above = super()
        rows = [[Scaled.apply(self, k * x) for k in range(3)] for _ in range(2)]
        return above.__call__(x) + super(Shifted, self).apply(x) + __class__.fixed(x) + rows[0][1] * self.__private


@program(Shifted(2.0, 1.5), 3.0, features="super without arguments, private names")
def methods_of_the_class_above(model, x):
    return model(x) * model.apply(x)


class Weighted(dict):
    def values(self):
        return [5.0 * value for value in dict.values(self)]


class Holder:
    def __init__(self, weights):
        self.weights = weights


@program(Holder(Weighted(a=2.0, b=3.0)), features="method that calls the one it overrides")
def values_of_a_dict_with_values_of_its_own(model):
    total = 1.0
    for value in model.weights.values():
        total = total * value
    return total


class Placed:
    """A class that may stand anywhere among the bases of another."""

    def __init__(self, *args, place=0.5, **kwargs):
        self.place = place
        super().__init__(*args, **kwargs)


class Heavy(Placed):
    def __init__(self, mass, **kwargs):
        super().__init__(**kwargs)
        self.mass = mass
        object.__init__(self)


@program(0.7, features="super().__init__ that ends at object")
def constructor_that_asks_all_classes_above(x):
    first, second = Heavy(x), Heavy(2.0, place=x * x)
    return first.mass * first.place + second.mass * second.place


class Table:
    """What is read by its keys, and shows its items in a way of its own."""

    def __init__(self, **values):
        self.values_by_name = values

    def keys(self):
        return list(self.values_by_name)

    def __getitem__(self, name):
        return self.values_by_name[name] * 2.0

    def items(self):
        return [(name, value * 3.0) for name, value in self.values_by_name.items()]


def of_two(a, b):
    return a * a * b


@program(Table(a=1.1, b=0.4), 1.2, features="double star of an object with keys")
def spread_by_keys(table, x):
    merged = {**table, "a": x}
    return of_two(**table) * of_two(b=x, **{"a": table["a"]}) + merged["a"] * merged["b"] * dict(table)["a"]


@program(Table(a=1.1, b=0.4), 1.2, features="items of an object with a method of this name")
def loop_over_own_items(table, x):
    total = 0.0
    for _, value in table.items():
        total = total * value + value * x
    for place, (name, value) in enumerate(table.items()):
        total = total + value * place + (value if name == "b" else x)
    return total + sum(value * value for _, value in table.items())


class Doubling(np.ndarray):
    """An array whose product is twice that of arrays, and whose items are three times its entries."""

    def __mul__(self, other):
        return np.multiply(np.asarray(self), np.asarray(other)) * 2.0

    def __getitem__(self, place):
        return np.asarray(self)[place] * 3.0


class Plain(np.ndarray):
    def __new__(cls, values):
        return np.asarray(values).view(cls)


@program(np.array([1.3, 0.4]), features="class of arrays with operators of its own")
def views_with_operators_of_their_own(x):
    doubling = x.view(Doubling)
    return np.sum(doubling * x) + float(doubling[0]) * float(doubling[1])


@program(np.array([1.3, 0.4]), features="class of arrays, __new__")
def views_of_a_plain_class(x):
    plain = Plain(x * 2.0)
    return float(np.sum(np.asarray(plain * plain))) + float(plain[0])


class Tree:
    def __init__(self, value, *kids):
        self.value = value
        self.kids = list(kids)

    def __iter__(self):
        yield self.value
        for kid in self.kids:
            yield from kid


@program(Tree(0.4, Tree(0.8, Tree(0.7)), Tree(0.3)), 0.5, features="yield from the children of a tree")
def values_of_a_tree(tree, x):
    product = x
    for value in tree:
        product = product * value + 0.2
    return product * sum(tree)
