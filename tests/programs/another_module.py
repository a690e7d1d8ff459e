"""A module of the user's with classes and functions that the programs of `mutation/modules.py` use."""

from __future__ import annotations

GRAVITY = 9.81
RATES = [0.5, 0.25, 0.75]
KEPT: list[object] = []


def pull(x):
    return -GRAVITY * x


class Ball:
    limit = 40.0

    def __init__(self, x, v=0.0):
        self.x, self.v = x, v

    @property
    def energy(self):
        return 0.5 * self.v**2 + 0.5 * GRAVITY * self.x**2

    def step(self, dt):
        self.v = self.v + pull(self.x) * dt
        self.x = self.x + self.v * dt

    def values(self, n):
        for i in range(n):
            self.x = self.x * RATES[i % 3]
            yield self.x * GRAVITY

    def scaled(self):
        return lambda y: y * GRAVITY * self.x

    def checked(self, y):
        if y > self.limit:
            raise ValueError("too high")
        return self.x / (y - 1.0)


    def shrunk(self):
        return self.v * RATES[0] + self.x * RATES[1]

    def missing(self):
        self.v = self.x * self.x
        return self.v * NOWHERE  # noqa: F821


class Heavy(Ball):
    share = 0.25

    def step(self, dt):
        super().step(0.5 * dt)
        self.v = self.v * RATES[0]

    @staticmethod
    def halved(x):
        return 0.5 * x * x

    def pulled(self, x):
        return self.x * pull(x)


class Room:
    def __init__(self, n, x):
        self.balls = [Ball(x * (1 + i)) for i in range(n)]

    def run(self, n):
        for _ in range(n):
            for ball in self.balls:
                ball.step(0.01)
        return sum(ball.energy * GRAVITY for ball in self.balls)


def new_ball(x):
    return Ball(x, 0.1)


def filled(x, n):
    found = [0.0] * n
    KEPT.append(found)
    for i in range(n):
        found[i] = x * (i + 1) + found[i - 1]
    return sum(KEPT.pop())


def slow(ball, rate=RATES[1]):
    ball.v = ball.v * rate
    return ball


def integrate(f, y, n, dt):
    ys = [y]
    for _ in range(n):
        y = y + dt * f(y)
        ys.append(y)
    return ys


count = 0


def counted(x):
    global count
    count = count + 1
    return x * 2


class Masking:
    """A layer that notes what it has masked, in a list that others have too."""

    def __init__(self, least):
        self.least = least
        self.masks = {"mask": []}

    def forward(self, x):
        mask = abs(x) >= self.least
        self.masks["mask"].append(mask)
        return 2.0 * (mask * x)


class Layered:
    def __init__(self, inner):
        self.inner, self.noted = inner, inner.masks["mask"]

    def forward(self, x):
        return self.inner.forward(x) * x
