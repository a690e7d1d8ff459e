"""Functions that look at objects of their module which write into the argument, and which nothing calls by name.

The argument is put into `STATE` by the judge, so that the objects have it by another way than the function.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import gradient
from tests.families.family import HEAD, Family, Point, numbers
from tests.program_writer import ProgramWriter

_LOOKS = (
    "SENSOR.reading", "getattr(SENSOR, NAME)", "BOX.sensor.reading", "SENSORS[0].reading", "NAMESPACE.sensor.reading",
    "(SENSOR + 1.0)", "(1.0 + SENSOR)", "(-SENSOR)", "SENSOR[0]", "GET(SENSOR)", "looked()", "CLOSED()", "Sensor().reading",
    "sum([each.reading for each in SENSORS])", "(1.0 if ANSWER else 2.0)", "len(ANSWER)", "next(iter(IN_SET)).reading",
    "max(SENSORS, key=GET).idle", "PARTIAL()", "DESCRIBED.reading", "ANSWER.anything", "SENSOR.idle", "VIEW['sensor'].reading",
)  # fmt: skip
_WRITES = (
    "state[0] = state[0] * 1.3", "state[1] += state[0]", "state.__setitem__(0, state[1])", "SET(state, 0, state[1] * state[0])",
    "state[:] = state[::-1]", "state[0], state[2] = state[2], state[0]", "scaled(state)",
)  # fmt: skip
_READS = ("s[0]", "s[1]", "s[-1]", "sum(s)", "a", "t")
_KINDS = ("read", "read", "look", "add", "own", "loop", "branch")
_TAIL = '''

def scaled(values):
    values[0] = values[0] * values[1]


class Sensor:
    idle = 1.0

    @property
    def reading(self):
        return write()

    def method(self):
        return write()

    def __add__(self, other):
        return write()

    __radd__ = __getitem__ = __add__

    def __neg__(self):
        return write()


class Answer:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return write()

    def __bool__(self):
        return write() == 1.0

    def __len__(self):
        return int(write())


class Descriptor:
    def __get__(self, owner, cls=None):
        return write()


class Described:
    reading = Descriptor()


class Box:
    def __init__(self, sensor):
        self.sensor = sensor


def looked():
    return SENSOR.reading


def closed(sensor):
    return lambda: sensor.reading


SENSOR, ANSWER, DESCRIBED, NAME, GET = Sensor(), Answer(), Described(), "reading", operator.attrgetter("reading")
BOX, SENSORS, NAMESPACE, CLOSED = Box(SENSOR), [SENSOR], types.SimpleNamespace(sensor=SENSOR), closed(SENSOR)
IN_SET, PARTIAL, VIEW = {SENSOR}, functools.partial(Sensor.method, SENSOR), types.MappingProxyType({"sensor": SENSOR})
'''


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    writer.lines += ["STATE, COUNT, SET = [], [0], operator.setitem", "", ""]
    with writer.indented("def write():"):
        with writer.indented("if STATE and COUNT[0] < 4:"):
            writer.write("COUNT[0] += 1")
            writer.write("state = STATE[0]")
            for _ in range(draw.randint(1, 2)):
                writer.write(draw.choice(_WRITES))
        writer.write("return 1.0")
    writer.lines += [*_TAIL.split("\n"), ""]
    with writer.indented("def program(s):"):
        writer.write("a, t = s[0], 1.0")
        _statements(writer, draw.randint(3, 6))
        writer.write("return math.tanh(a * t) + s[0] * s[1]")


def _statements(writer: ProgramWriter, count: int) -> None:
    draw = writer.random
    for _ in range(count):
        kind = draw.choice(_KINDS if writer.depth < 3 else _KINDS[:4])
        looked, value = draw.choice(_LOOKS), draw.choice(_READS)
        if kind == "read":
            writer.write(f"t = math.tanh({value} * {draw.choice(_READS)})")
        elif kind == "look":
            writer.write(f"t = t * {looked} * 0.7 + {value}")
        elif kind == "add":
            writer.write(f"a = 0.5 * a + {value}")
        elif kind == "own":
            name = writer.fresh("own")
            writer.write(f"{name} = [t, {looked}]")
            writer.write(f"{name}[0] = {name}[0] * {value}")
            writer.write(f"t = math.tanh({name}[0])")
        elif kind == "loop":
            with writer.indented(f"for {writer.fresh('k')} in range({draw.randint(1, 3)}):"):
                _statements(writer, 2)
        else:
            with writer.indented(f"if {looked} == 1.0:"):
                _statements(writer, 1)


def point(draw: random.Random) -> Point:
    values = numbers(draw, 3)
    return (values if draw.random() < 0.9 else np.array(values),)  # an array that the module has too is refused


def judge(function: Callable[..., Any], given: Point) -> str | None:
    """What is wrong with the gradient, by differences."""
    variables = function.__globals__

    def entered(values: Any) -> Any:
        variables["STATE"][:], variables["COUNT"][0] = [copy.deepcopy(values)], 0
        return variables["STATE"][0]

    wanted = []
    for place in range(3):
        moved = []
        for step in (1e-6, -1e-6):
            values = copy.deepcopy(given[0])
            values[place] += step
            moved.append(function(entered(values)))
        wanted.append((moved[0] - moved[1]) / 2e-6)
    (found,) = gradient(function, entered(given[0]))
    got = [0.0 if bar is None else bar for bar in ([None] * 3 if found is None else found)]
    variables["STATE"].clear()
    if not np.allclose(got, wanted, rtol=1e-4, atol=1e-5):
        return f"gradient {got}, by differences {wanted}"
    return None


_IMPORTS = "import functools\nimport operator\nimport types\n"
FAMILY = Family("unseen", write, refused=0.45, point=point, judge=judge, head=_IMPORTS + HEAD)
