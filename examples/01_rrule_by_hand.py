"""The chain rule by hand: call a rule, keep its pullback, and walk back."""

from __future__ import annotations

import math

import numpy as np

from microgradpy import rrule


def main() -> None:
    x = 0.6
    y1, back1 = rrule(np.cos, x)
    y2, back2 = rrule(np.sin, y1)
    print(f"cos({x}) = {y1:.5f}, sin(cos({x})) = {y2:.5f}")

    # A pullback returns one cotangent for the function itself, then one for each argument.
    of_sin, y1_bar = back2(1.0)
    of_cos, x_bar = back1(y1_bar)
    print(f"back through sin: {of_sin}, {y1_bar:.5f}")
    print(f"back through cos: {of_cos}, {x_bar:.5f}")
    print(f"by hand:          {-math.sin(x) * math.cos(math.cos(x)):.5f}")

    print(f"a function without a rule gives {rrule(main)}: pullback() differentiates its source instead")


if __name__ == "__main__":
    main()
