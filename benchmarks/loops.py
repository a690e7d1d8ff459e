"""Scalar loops of a thousand steps on Python floats, and their gradients written by hand with one tape of tuples."""

from __future__ import annotations

STEPS = 1000
STEP = 0.01


def lotka_volterra(x, y, a, b, c, d):
    """Prey plus predators after 1000 RK4 steps of x' = x (a - b y), y' = y (d x - c)."""
    h = STEP
    for _ in range(STEPS):
        u1 = x * (a - b * y)
        v1 = y * (d * x - c)
        x2 = x + 0.5 * h * u1
        y2 = y + 0.5 * h * v1
        u2 = x2 * (a - b * y2)
        v2 = y2 * (d * x2 - c)
        x3 = x + 0.5 * h * u2
        y3 = y + 0.5 * h * v2
        u3 = x3 * (a - b * y3)
        v3 = y3 * (d * x3 - c)
        x4 = x + h * u3
        y4 = y + h * v3
        u4 = x4 * (a - b * y4)
        v4 = y4 * (d * x4 - c)
        x = x + h / 6.0 * (u1 + 2.0 * (u2 + u3) + u4)
        y = y + h / 6.0 * (v1 + 2.0 * (v2 + v3) + v4)
    return x + y


def lotka_volterra_gradient_by_hand(
    x: float, y: float, a: float, b: float, c: float, d: float
) -> tuple[float, float, float, float, float, float]:
    """The gradient of `lotka_volterra` in all six arguments. A step keeps the state and its four stages' growth
    rates."""
    h, half, sixth = STEP, 0.5 * STEP, STEP / 6.0
    tape = []
    for _ in range(STEPS):
        p1, q1 = a - b * y, d * x - c
        u1, v1 = x * p1, y * q1
        x2, y2 = x + half * u1, y + half * v1
        p2, q2 = a - b * y2, d * x2 - c
        u2, v2 = x2 * p2, y2 * q2
        x3, y3 = x + half * u2, y + half * v2
        p3, q3 = a - b * y3, d * x3 - c
        u3, v3 = x3 * p3, y3 * q3
        x4, y4 = x + h * u3, y + h * v3
        p4, q4 = a - b * y4, d * x4 - c
        tape.append((x, y, p1, q1, x2, y2, p2, q2, x3, y3, p3, q3, x4, y4, p4, q4))
        x += sixth * (u1 + 2.0 * (u2 + u3) + x4 * p4)
        y += sixth * (v1 + 2.0 * (v2 + v3) + y4 * q4)

    x_bar = y_bar = 1.0
    a_bar = b_bar = c_bar = d_bar = 0.0
    for x, y, p1, q1, x2, y2, p2, q2, x3, y3, p3, q3, x4, y4, p4, q4 in reversed(tape):
        # Each stage: the cotangents u_bar, v_bar of its slopes give those of its state and of the products x p and y q.
        u_bar, v_bar = sixth * x_bar, sixth * y_bar
        p_bar, q_bar = u_bar * x4, v_bar * y4
        x4_bar, y4_bar = u_bar * p4 + d * q_bar, v_bar * q4 - b * p_bar
        a_bar += p_bar
        b_bar -= p_bar * y4
        c_bar -= q_bar
        d_bar += q_bar * x4

        u3_bar, v3_bar = 2.0 * u_bar + h * x4_bar, 2.0 * v_bar + h * y4_bar
        p_bar, q_bar = u3_bar * x3, v3_bar * y3
        x3_bar, y3_bar = u3_bar * p3 + d * q_bar, v3_bar * q3 - b * p_bar
        a_bar += p_bar
        b_bar -= p_bar * y3
        c_bar -= q_bar
        d_bar += q_bar * x3

        u2_bar, v2_bar = 2.0 * u_bar + half * x3_bar, 2.0 * v_bar + half * y3_bar
        p_bar, q_bar = u2_bar * x2, v2_bar * y2
        x2_bar, y2_bar = u2_bar * p2 + d * q_bar, v2_bar * q2 - b * p_bar
        a_bar += p_bar
        b_bar -= p_bar * y2
        c_bar -= q_bar
        d_bar += q_bar * x2

        u1_bar, v1_bar = u_bar + half * x2_bar, v_bar + half * y2_bar
        p_bar, q_bar = u1_bar * x, v1_bar * y
        x_bar += x2_bar + x3_bar + x4_bar + u1_bar * p1 + d * q_bar
        y_bar += y2_bar + y3_bar + y4_bar + v1_bar * q1 - b * p_bar
        a_bar += p_bar
        b_bar -= p_bar * y
        c_bar -= q_bar
        d_bar += q_bar * x
    return x_bar, y_bar, a_bar, b_bar, c_bar, d_bar


def newton(x, damping):
    """The square root of x by Newton's method with steps so short that some 1000 are needed."""
    y = x
    error = y * y - x
    while abs(error) > 1e-9:
        y = y - damping * error / (2.0 * y)
        error = y * y - x
    return y


def newton_gradient_by_hand(x: float, damping: float) -> tuple[float, float]:
    """The gradient of `newton` in both arguments; a step keeps y before it and the quotient error / (2 y)."""
    tape = []
    y = x
    error = y * y - x
    while abs(error) > 1e-9:
        double = 2.0 * y
        quotient = error / double
        tape.append((y, double, quotient))
        y -= damping * quotient
        error = y * y - x

    x_bar = damping_bar = 0.0
    y_bar = 1.0
    # The error of the last iterate is only compared, so each step's error belongs to the y that the step started from.
    for y, double, quotient in reversed(tape):
        damping_bar -= y_bar * quotient
        error_bar = -y_bar * damping / double
        y_bar += 2.0 * (error_bar * y - error_bar * quotient)
        x_bar -= error_bar
    return x_bar + y_bar, damping_bar
