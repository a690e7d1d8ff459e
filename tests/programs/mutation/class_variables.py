"""Attributes of classes that code assigns: `Meter.total += x`, `cls.count += 1`, `type(self).total = x`."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tests.programs.mutation.table import program


class Meter:
    total = 0.0
    count = 0

    def __init__(self, k):
        self.k = k

    def use(self, x):
        Meter.total += x * self.k
        return Meter.total

    @classmethod
    def add(cls, x):
        cls.total = cls.total + x * x
        cls.count += 1
        return cls.total

    def typed(self, x):
        type(self).total = type(self).total * x
        return self.total


@program(1.5, features="class variable")
def accumulated_by_name(x):
    Meter.total = 0.0
    for i in range(3):
        Meter.total += x * i
    return Meter.total * x


@program(1.5, features="class variable")
def accumulated_by_class_methods(x):
    Meter.total = x
    Meter.count = 0
    Meter.add(x)
    Meter.add(2 * x)
    return Meter.total * Meter.count


@program(1.5, features="class variable")
def accumulated_by_objects(x):
    Meter.total = 0.0
    m = Meter(x)
    m.use(x)
    m.use(x * x)
    m.typed(x)
    return m.total * x


class Base:
    made = []
    energy = 0.0


class Derived(Base):
    pass


@program(1.5, features="class variable")
def inherited_and_deleted(x):
    Base.energy = x
    a = Derived.energy * x
    Derived.energy = x * x
    b = Derived.energy + Base.energy
    del Derived.energy
    return a * b * Derived.energy


@program(1.5, features="class variable")
def by_the_class_of_an_object(x):
    Base.energy = x
    s = Derived()
    s.__class__.energy = x * 2  # Derived
    r = s.energy * Base.energy
    del Derived.energy
    return r * s.energy


class Empty:
    pass


@program(1.5, features="class variable")
def fresh_attribute(x):
    Empty.value = x
    Empty.value *= x
    return Empty.value + getattr(Empty, "value")


@program(1.5, features="class variable")
def by_setattr(x):
    setattr(Empty, "v2", x * x)
    return getattr(Empty, "v2") * x


@program(1.5, features="class variable")
def class_that_is_made_here(x):
    class C:
        n = 0
        s = 0.0

        def f(self, y):
            C.n += 1
            C.s += y
            return y * C.n

    c = C()
    for i in range(3):
        c.f(x * i)
    return C.s * C.n * x


class Counter:
    instances = 0

    def __init__(self, w):
        Counter.instances += 1
        self.id = Counter.instances
        self.w = w


@program(1.5, 2.0, features="class variable")
def number_of_objects(x, y):
    a, b = Counter(x), Counter(y)
    return a.w * (b.id - a.id) + b.w**2


class Tally:
    total = 0.0

    @classmethod
    def reset(cls):
        cls.total = 0.0

    @staticmethod
    def zero():
        Tally.total = 0.0

    def zero2(self):
        type(self).total = 0.0

    def zero3(self):
        self.__class__.total = 1.0

    @classmethod
    def make(cls, k):
        return cls(k)

    def __init__(self, k):
        self.k = k
        self.t = type(self).total

    @classmethod
    def get(cls):
        return cls.total


_m = Tally(2.0)


def reset_it():
    Tally.total = 2.0


@program(1.5, features="class variable")
def written_by_what_gets_constants(x):
    Tally.total = x
    a = Tally.total * x
    Tally.reset()
    b = Tally.total + x
    Tally.total = x * x
    Tally.zero()
    c = Tally.total + x * b
    Tally.total = x**3
    d = Tally.get()
    _m.zero2()
    e = Tally.total + 3 * x
    Tally.total = 4 * x
    f = _m.total
    _m.zero3()
    g = _m.total * x
    Tally.total = x
    reset_it()
    h = Tally.total * x
    return a * b * c * d * e * f * g * h


@program(1.5, features="class variable")
def read_by_what_gets_constants(x):
    Tally.total = x * x
    m = Tally(2.0)
    n = Tally.make(3.0)
    o = _m.make(4.0)
    p = type(m)(5.0)
    return m.t * n.t + o.t * p.t + p.k


@program(1.5, features="class variable")
def classes_in_containers(x):
    Tally.total = x
    d = {"a": Tally}
    q = [Tally]
    r = d["a"].total * q[0].total
    c = q[0]
    return r * c.total + getattr(c, "total")


def helper(c):
    return c.total * 2.0


def helper2(o):
    return o.total * 2.0


@program(1.5, features="class variable")
def classes_given_to_functions(x):
    Tally.total = x
    return helper(Tally) * helper2(_m) + helper(type(_m)) * helper2(Tally(1.0))


class Sub(Tally):
    pass


class Redefined(Tally):
    total = 5.0


@program(1.5, features="class variable")
def shadowed_by_derived_classes(x):
    Tally.total = x
    a = Sub.total * Redefined.total
    Sub.reset()
    Tally.total = 3 * x
    b = Sub.total + Redefined(1.0).total * Tally.total
    del Sub.total
    c = Sub.total
    Sub.total = x
    d = Sub(2.0).t
    del Sub.total
    return a * b * c * d


class Stepping(abc.ABC):
    energy = 0.0

    @abc.abstractmethod
    def step(self, x): ...


class Stepper(Stepping):
    def step(self, x):
        Stepping.energy += x
        return Stepping.energy


@program(1.5, features="class variable")
def of_an_abstract_class(x):
    Stepping.energy = x
    s = Stepper()
    return s.step(x) * s.step(x * x) + s.energy


@dataclass
class Counted:
    v: float
    total: ClassVar[float] = 0.0
    n: ClassVar[int] = 0

    def __post_init__(self):
        Counted.total += self.v
        Counted.n += 1


@program(1.5, features="class variable")
def counted_after_init(x):
    Counted.total = 0.0
    Counted.n = 0
    ds = [Counted(x * i) for i in range(4)]
    return Counted.total * Counted.n + sum(d.v for d in ds) * ds[0].total


class Registry:
    items = []
    by_name = {}

    def __init__(self, v):
        self.v = v
        Registry.items.append(self)
        Registry.by_name[str(len(Registry.items))] = v


@program(1.5, features="class variable")
def registry_of_objects(x):
    Registry.items = []
    Registry.by_name = {}
    Registry(x)
    Registry(x * x)
    return sum(r.v for r in Registry.items) * Registry.by_name["2"]


class Holder:
    w = np.zeros(3)


@program(np.array([1.0, 2.0, 3.0]), features="class variable")
def arrays_of_a_class(x):
    Holder.w = np.zeros(3)
    Holder.w += x
    Holder.w[1] *= x[0]
    v = Holder.w
    Holder.w = Holder.w * x
    v[0] = 7.0
    return (Holder.w * v).sum()


class Described:
    def __get__(self, o, t):
        return 1.0


class Hidden:
    d = Described()
    a = 0.0


@program(1.5, features="class variable")
def field_before_the_class_variable(x):
    Hidden.a = x
    o = Hidden()
    r = o.a
    o.a = x * x
    Hidden.a = 3 * x
    del o.a
    return r * o.a * o.d


class Slots:
    __slots__ = ("v",)
    scale = 1.0

    def __init__(self, v):
        self.v = v

    def f(self):
        return self.v * self.scale


@program(1.5, features="class variable")
def beside_slots(x):
    Slots.scale = x
    s = Slots(x)
    a = s.f()
    Slots.scale *= x
    return a * s.f()


@program(1.5, 2.0, features="class variable")
def until_the_class_is_full(x, y):
    Tally.total = 0.0
    i = 0
    while Tally.total < 20.0:
        Tally.total += x * y + Tally.total * 0.1
        i += 1
    return Tally.total * i


@program(1.5, features="class variable")
def class_variable_in_a_try(x):
    Tally.total = x
    try:
        Tally.total = x * x
        if Tally.total > 1:
            raise ValueError(x)
        Tally.total = 100.0
    except ValueError:
        Tally.total *= 2
    finally:
        Tally.total += x
    return Tally.total


def gen(x):
    for i in range(3):
        Tally.total += x
        yield Tally.total * x


@program(1.5, features="class variable")
def written_by_a_generator(x):
    Tally.total = x
    return sum(gen(x)) * Tally.total


@program(1.5, features="class variable")
def counted_recursion(x):
    class Count:
        n = 0
        s = 0.0

    def f(k):
        Count.n += 1
        Count.s += x * k
        return x if k == 0 else f(k - 1) * x

    return f(3) * Count.n + Count.s


@program(1.5, features="class variable")
def read_when_called(x):
    Tally.total = x
    g = lambda: Tally.total * x
    Tally.total = x * x
    return g() + sum(map(lambda k: Tally.total * k, [1, 2]))


class Singleton:
    _inst = None

    def __new__(cls, *a):
        if cls._inst is None:
            cls._inst = super().__new__(cls)
        return cls._inst

    def __init__(self, x):
        self.x = x


@program(1.5, features="class variable")
def single_object(x):
    Singleton._inst = None
    a = Singleton(x)
    b = Singleton(x * x)
    return a.x * b.x


class Memo:
    cache = {}

    @classmethod
    def get(cls, n, x):
        if n not in cls.cache:
            cls.cache[n] = x**n
        return cls.cache[n]


@program(1.5, features="class variable")
def remembered_in_a_class(x):
    Memo.cache = {}
    return Memo.get(2, x) * Memo.get(3, x) + Memo.get(2, 5.0)


class Settings:
    lr = 0.1
    steps = 3


@program(1.5, features="class variable")
def constants_beside(x):
    t = [x]
    for _ in range(Settings.steps):
        t[0] -= Settings.lr * t[0] ** 2
    return t[0]


@program(1.5, features="class variable")
def two_classes_at_once(x):
    Tally.total, Settings.lr2 = x, x * x
    return Tally.total * Settings.lr2


@program(1.5, features="class variable")
def by_setattr_of_type(x):
    type.__setattr__(Tally, "total", x)
    a = Tally.total
    type.__setattr__(Tally, "total", 2.0)
    return a * Tally.total * x


class SettingMeta(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)


class OfMeta(metaclass=SettingMeta):
    total = 0.0


@program(1.5, features="class variable")
def setattr_of_a_metaclass(x):
    OfMeta.total = x
    a = OfMeta.total
    OfMeta.total = 2.0
    b = OfMeta.total * x
    for name, v in (("p", x), ("q", x * x)):
        setattr(Tally, name, v)
    return a * b * Tally.p * Tally.q


@program(1.5, features="class variable")
def by_delattr_of_type(x):
    type.__setattr__(Sub, "total", x)
    Tally.total = x * x
    a = Sub.total
    type.__delattr__(Sub, "total")
    return a * Sub.total
