"""A module of a user's that another one imports: functions, constants, a class and an object of it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

GRAVITY = 9.81
DRAG = {"linear": 0.3, "mass": 2.0}


def drag(v: float) -> float:
    return -DRAG["linear"] * v * abs(v) / DRAG["mass"]


def fall(x: float, n: int) -> float:
    v = 0.0
    for _ in range(n):
        v += (GRAVITY + drag(v)) * 0.01
        x += v * 0.01 * x
    return x


class Curve:
    scale = 2.5
    weights: ClassVar[list[float]] = [0.1, 0.2, 0.3]

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def at(self, x: float) -> float:
        total = 0.0
        for k, w in enumerate(self.weights):
            total += w * x**k
        return total * self.factor

    @staticmethod
    def wave(x: float) -> float:
        return x * math.sin(x)

    @classmethod
    def scaled(cls, x: float) -> float:
        return cls.scale * x


CURVE = Curve(2.0)
CURVES: dict[str, Any] = {"first": CURVE, "second": Curve(0.5)}


class Tripled(float):
    def __mul__(self, other: Any) -> Any:
        return 3.0 * float(self) * other

    __rmul__ = __mul__
