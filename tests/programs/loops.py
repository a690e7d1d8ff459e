"""Programs that loop: while and for over everything, every way out, and values carried round."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program


@program(3.2, features="for range, power loop")
def power_loop(x):
    y = 1.0
    for _ in range(5):
        y *= x
    return y


@program(2.4, 4, features="while, power sum")
@program(11.11, 1, features="while, power sum")
@program(2.4, 0, features="while, zero trips")
def power_sum(x, n):
    total = 0.0
    i = 0
    while i < n:
        total = total + x**i
        i = i + 1
    return total


@program(1.7, features="for range, zero trips")
def zero_trips(x):
    y = x * x
    for i in range(0):
        y = y * 100.0 * i
    while y < 0.0:
        y = y + x
    return y * x


@program(0.9, features="range with step")
def range_with_step(x):
    y = x
    for i in range(2, 10, 3):
        y = y + i * x
    for j in range(5, 0, -2):
        y = y * x + j
    return y


@program(0.9, features="loop variable after the loop")
def loop_variable_after_the_loop(x):
    for i in range(4):
        y = x * i
    return y * i + x


@program(1.1, 0.7, features="swap in a loop, fibonacci")
def fibonacci(a, b):
    for _ in range(6):
        a, b = b, a + b
    return a * b


@program(1.1, 0.7, features="swap in a loop")
def swaps_in_a_loop(a, b):
    for _ in range(5):
        a, b = b, a * 1.5
    return a * a + 10.0 * b


@program(1.1, 0.7, -0.4, features="rotation in a loop")
def rotates_in_a_loop(a, b, c):
    for _ in range(4):
        a, b, c = b, c, math.sin(a) + b
    return a + 10.0 * b + 100.0 * c


@program(1.1, 0.7, features="swap in a while loop")
def swap_in_a_while_loop(a, b):
    n = 0
    while n < 3:
        t = a
        a = b * t
        b = t
        n += 1
    return a + b * b


@program(1.1, 0.7, -0.4, features="rotation in a loop, pure copy")
def pure_rotation(a, b, c):
    for _ in range(5):
        a, b, c = c, a, b
    return a + 10.0 * b * b + 100.0 * c**3


@program(1.1, 0.7, features="duplicated loop state")
def both_names_one_value(a, b):
    for _ in range(3):
        a, b = b, b
        b = b * 1.5
    return a * b


@program(1.0, 1025.0, features="swap in a while loop, data-dependent condition")
def average_until_close(x, y):
    while abs(y - x) > 1e-6:
        x, y = y, (x + y) / 2.0
    return x


@program(2.0, features="while, data-dependent condition")
@program(7.5, features="while, data-dependent condition")
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2.0 * x)
    return x


@program(2.0, 0.05, features="while, break, if")
def root(x, tol):
    y = x
    k = 0
    while k < 50:
        r = y * y - x
        if r < tol:
            break
        y = y - r / (2.0 * y)
        k = k + 1
    return y


@program(0.7, features="while True, break")
def while_true(x):
    y = x
    while True:
        y = y * 1.7
        if y > 10.0:
            break
        y = y + x
    return y * x


@program(0.7, features="break")
@program(2.7, features="break")
def break_carries_changed_values(x):
    y, z = x, 1.0
    for i in range(6):
        z = z * y
        if z > 4.0:
            y = y + z
            break
        y = y + 0.5
    return y * z


@program(0.7, features="continue")
def continue_skips(x):
    y = x
    for i in range(6):
        if i % 2:
            continue
        y = y * x + i
    return y


@program(0.7, features="continue, break")
def continue_and_break(x):
    y, n = x, 0
    while n < 20:
        n += 1
        if n % 3 == 0:
            y = y + x
            continue
        y = y * 1.1
        if y > 4.0:
            break
        y = y + 0.1 * x
    return y * n


@program(0.7, features="for-else, no break")
@program(1.7, features="for-else, break")
def for_else(x):
    y = x
    for i in range(4):
        y = y * x
        if y > 4.0:
            z = y * 2.0
            break
    else:
        z = y * y
        y = y + x
    return y * z


@program(0.7, features="while-else, no break")
@program(1.7, features="while-else, break")
def while_else(x):
    y, n = x, 0
    while n < 4:
        y = y * x
        n += 1
        if y > 4.0:
            break
    else:
        y = math.sin(y)
    return y * x


@program(0.7, features="for-else with return")
@program(1.9, features="for-else with return")
def for_else_return(x):
    y = x
    for i in range(3):
        y = y * x
        if y > 5.0:
            return y + x
    else:
        return y * y


@program(0.7, features="break in nested loops, else")
@program(1.3, features="break in nested loops, else")
def search_in_nested_loops(x):
    y = x
    for i in range(3):
        for j in range(3):
            y = y + 0.1 * x * j
            if y > 2.0:
                break
        else:
            continue
        y = y * x
        break
    else:
        y = y + 5.0 * x
    return y * y


@program(0.3, features="return from nested loops")
@program(0.9, features="return from nested loops")
@program(2.9, features="return from nested loops")
def return_from_nested_loops(x):
    total = x
    for i in range(4):
        for j in range(i):
            total = total + x * j
            if total > 5.0:
                return total * i + x
        total = total * 1.2
    return total * x


@program(0.3, features="return from three loops")
@program(1.4, features="return from three loops")
def return_from_three_loops(x):
    y = x
    n = 0
    while n < 3:
        for i in range(3):
            for j in range(2):
                y = y + 0.3 * x
                if y > 4.0:
                    return y * x + i
            if i == n:
                break
        n += 1
    return y


@program(0.9, features="nested loops")
def nested_loops(x):
    total = 0.0
    for i in range(3):
        row = x
        for j in range(i + 1):
            row = row * x + total
        total = total + row
    return total


@program(0.9, features="nested loops, inner resets")
def inner_loop_variable_reset(x):
    s = 0.0
    for i in range(3):
        t = 1.0
        while t < 3.0:
            t = t * (1.0 + x)
        s = s + t * x
    return s


@program(0.9, features="if in a loop")
def branch_in_a_loop(x):
    y = x
    for i in range(6):
        if y > 1.0:
            y = y / 2.0
        else:
            y = y * 1.5 + 0.1 * x
    return y * x


@program(0.9, features="variable in one branch only, loop")
def variable_from_an_earlier_iteration(x):
    total = 0.0
    for i in range(5):
        if i % 2 == 0:
            last = x * i
        total = total + last * x
    return total


@program(0.9, features="unused results in a loop")
def dead_work_in_a_loop(x):
    y = x
    dead = 1.0
    for i in range(4):
        dead = dead * y
        y = y + x
    return y


@program(0.7, features="float then array")
def float_in_one_iteration_array_in_the_next(x):
    y = x
    for k in range(3):
        y = y * np.array([1.0, 2.0]) if k == 1 else y * x
    return np.sum(y)


@program(0.7, features="float then array, addition")
def array_grows_out_of_zero(x):
    total = 0
    for k in range(3):
        total = total + np.array([1.0, 2.0, 3.0]) * x**k
    return np.sum(total * total)


@program(0.7, features="int then float")
def int_in_the_first_iteration(x):
    y = 1
    for _ in range(3):
        y = y * x
    return y


@program(0.7, features="bool state")
def flag_in_the_state(x):
    done = False
    y = x
    n = 0
    while not done:
        y = y * 1.5
        n += 1
        done = y > 4.0 or n >= 10
    return y


@program(0.7, features="string state")
def string_in_the_state(x):
    state = "grow"
    y = x
    for _ in range(6):
        if state == "grow":
            y = y * 1.7
            if y > 2.0:
                state = "shrink"
        else:
            y = y - 0.3 * x
    return y * y


@program(0.7, features="None state")
def none_in_the_state(x):
    best = None
    for k in range(4):
        y = math.sin(x * k)
        if best is None or y > best:
            best = y
    return best * x


@program(0.7, features="tuple state")
def tuple_in_the_state(x):
    state = (x, 1.0)
    for _ in range(4):
        a, b = state
        state = (b, a * b + x)
    return state[0] * state[1]


@program(0.7, features="list state")
def list_in_the_state(x):
    state = [x, 1.0, 2.0]
    for k in range(3):
        state = [state[1], state[2] * x, state[0]]
    return state[0] + 10.0 * state[1] + 100.0 * state[2]


@program([0.5, 1.5, 2.5], features="loop-invariant active value")
def invariant_list_read_in_a_loop(values):
    total = 0.0
    for i in range(3):
        for j in range(3):
            total = total + values[i] * values[j] * (i + 1)
    return total


@program(0.7, features="while, condition with work")
def condition_does_work(x):
    y = x
    while math.sin(y) * x < 0.6:
        y = y + 0.25 * x
    return y


@program(0.7, features="while, condition and")
def condition_with_and(x):
    y, n = x, 0
    while n < 10 and y < 3.0:
        y, n = y * 1.4 + 0.1 * x, n + 1
    return y


@program(0.7, features="loop after loop")
def two_loops_share_state(x):
    y = x
    for _ in range(3):
        y = y * 1.3
    z = y
    for _ in range(2):
        z = z * y
        y = y + z
    return y * z


@program(0.7, features="loop in a branch")
@program(1.7, features="loop in a branch")
def loop_in_a_branch(x):
    if x < 1.0:
        y = 1.0
        for i in range(3):
            y = y * x + i
    else:
        y = x
        while y < 10.0:
            y = y * x
    return y + x


@program(0.7, features="infinite generator avoided, for with break at once")
def breaks_at_once(x):
    y = x
    for _ in range(10):
        y = y * 2.0
        break
    return y * x


@program(0.7, features="always returns in the loop")
def returns_in_the_first_iteration(x):
    for i in range(3):
        return x * x + i


@program(0.7, features="raise in the loop not taken")
def raises_in_a_loop(x):
    y = x
    for i in range(4):
        if y > 100.0:
            raise OverflowError(f"step {i}: {y}")
        y = y * 1.5
    return y


@program(np.array([0.3, 0.9, 0.5]), features="number before the loop, array by break")
def break_with_an_array_for_a_number(x):
    w = 0.0
    for i in range(3):
        if x[i] > 0.6:
            w = x[i:]
            break
    w = w * 2.0
    return np.sum(x * x) + np.sum(w)


@program(np.array([0.3, 0.9, 0.5]), features="number before the loop, list by break")
def break_with_a_list_for_a_number(x):
    w, i = 0.0, 0
    while True:
        if x[i] > 0.6:
            w = [x[i], x[i] * x[0]]
            break
        i += 1
        w = x[i]
    return w[0] * w[1]
