"""Objects of classes, and functions, of another module of the user's."""

from __future__ import annotations

from tests.programs import another_module
from tests.programs.another_module import Ball, Heavy, Room, integrate, new_ball, slow
from tests.programs.mutation.table import program

X, N = 0.6, 4
GRAVITY = 2.0


@program(X, N, features="class of another module")
def ball_of_another_module(x, n):
    ball = another_module.Ball(x)
    for _ in range(n):
        ball.step(0.1)
    return ball.x * GRAVITY + ball.energy


@program(X, N, features="class of another module")
def heavy_ball(x, n):
    ball = Heavy(x, x)
    for _ in range(n):
        slow(ball).step(0.1)
    return ball.x * ball.v


@program(X, N, features="class of another module")
def room_of_balls(x, n):
    return Room(3, x).run(n)


@program(X, N, features="class of another module")
def made_by_another_module(x, n):
    balls = [new_ball(x * i) for i in range(n)]
    for ball in balls:
        ball.v = ball.v + x * ball.x
    return sum(ball.v**2 for ball in balls)


@program(X, N, features="class of another module, generator")
def generator_of_another_module(x, n):
    ball, total = Ball(x), 0.0
    for value in ball.values(n):
        ball.x = ball.x + x
        total = total + value
    return total * ball.x


@program(X, N, features="class of another module, closure")
def function_made_in_another_module(x, n):
    ball = Ball(x)
    scaled = ball.scaled()
    for _ in range(n):
        ball.step(0.1)
    return scaled(x) * GRAVITY


@program(X, N, features="class of another module, closure")
def function_given_to_another_module(x, n):
    calls = [0.0]

    def rate(y):
        calls[0] = calls[0] + x
        return -x * y * another_module.GRAVITY

    return sum(integrate(rate, x, n, 0.1)) * calls[0]


@program(X, N, features="class of another module, try")
def raised_in_another_module(x, n):
    ball = Ball(x)
    ball.v = x * x
    try:
        ball.checked(100.0 * x)
    except ValueError:
        return ball.v * ball.x * n
    return x


@program(X, features="class of another module")
def class_variable_of_another_module(x):
    ball = Ball(x)
    ball.limit = x * ball.limit
    return ball.limit * Ball.limit


@program(X, features="class of another module, global")
def counted_by_another_module(x):
    ball = Ball(x)
    ball.x = another_module.counted(ball.x)
    return ball.x**2


@program(X, features="class of another module, imported in the function")
def imported_class_of_another_module(x):
    from tests.programs.another_module import Heavy as Light

    return Light.halved(x) * Light.share * Light.pulled(Light(x), x)


@program(X, N, features="module that is a default")
def function_of_a_module_that_is_a_default(x, n, module=another_module):
    return module.filled(x, n)
