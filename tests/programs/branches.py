"""Programs that branch: statements, conditional expressions and boolean operators."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program


@program(1.5, features="if, else")
@program(-1.5, features="if, else")
def if_else(x):
    if x > 0.0:
        y = x * x
    else:
        y = -3.0 * x
    return y * x


@program(1.5, features="if without else")
@program(-1.5, features="if without else")
def if_alone(x):
    y = x
    if x > 0.0:
        y = y * x
    return y + x


@program(-2.0, features="elif")
@program(0.5, features="elif")
@program(2.0, features="elif")
@program(9.0, features="elif")
def elif_chain(x):
    if x < 0.0:
        y = x * x
    elif x < 1.0:
        y = math.sin(x)
    elif x < 5.0:
        y = math.exp(-x)
    else:
        y = 1.0 / x
    return y * 2.0


@program(0.5, features="conditional expression")
@program(-5.0, features="conditional expression")
def relu(x):
    return x if x > 0 else 0.0


@program(0.5, 0.9, features="conditional expression")
@program(0.9, 0.5, features="conditional expression")
def nested_conditional_expressions(x, y):
    return x * x if x > y else (y * y * x if y > 0.7 else math.sin(x * y))


@program(0.5, features="variable in one branch only")
@program(-0.5, features="variable in one branch only")
def variable_in_one_branch(x):
    if x > 0.0:
        z = x * x
    if x > 0.0:
        return z + x
    return 3.0 * x


@program(0.5, features="variable in one branch only")
@program(-0.5, features="variable in one branch only")
def variable_reset_in_one_branch(x):
    y = x * x
    z = y + x
    if x > 0.0:
        y = 4.0
        z = math.sin(z)
    return y * z


@program(0.5, features="early return")
@program(1.5, features="early return")
@program(-1.5, features="early return")
def early_returns(x):
    if x < 0.0:
        return -x * x
    y = math.sqrt(x)
    if y > 1.0:
        return y * x
    return y + x


@program(0.5, True, True, features="nested if")
@program(0.5, True, False, features="nested if")
@program(0.5, False, True, features="nested if")
@program(0.5, False, False, features="nested if")
def nested_ifs(x, a, b):
    y = x
    if a:
        y = y * x
        if b:
            y = math.sin(y)
        else:
            x = y + x
    else:
        if b:
            x = x * x
        y = x + 1.0
    return x * y


@program(1.0, False, False, False, features="critical edges")
@program(1.0, True, True, False, features="critical edges")
@program(1.0, False, True, True, features="critical edges")
@program(1.0, False, False, True, features="critical edges")
def critical_edges(x, a, b, c):
    y = x
    if a and b:
        y = 2 * x
    if b and c:
        y = 3 * x
    if c:
        y = y * 4
    return y


@program(0.3, 0.8, features="and, or")
@program(1.3, 0.8, features="and, or")
@program(1.3, -0.8, features="and, or")
def boolean_operators(x, y):
    z = x * y
    if x > 1.0 and y > 0.0:
        z = z + x
    if x > 1.0 or y > 0.5:
        z = z * y
    if not (x > 1.0):
        z = z - y
    return z


@program(0.0, 0.8, features="or as a value")
@program(0.3, 0.8, features="or as a value")
def or_gives_an_operand(x, y):
    z = (x if x > 0.1 else 0) or y
    return z * z


@program(0.3, 0.8, features="and as a value")
def and_gives_an_operand(x, y):
    return (x and y) * x + (x or y) * y


@program(0.3, 0.8, features="and, or, short circuit")
def short_circuit(x, y):
    if x > 0.0 or 1.0 / 0.0:
        return x * y
    return x


@program(0.5, 0.9, features="chained comparison")
@program(0.5, 0.3, features="chained comparison")
def chained_comparison(x, y):
    if 0.0 < x < y <= 1.0:
        return x * y
    return x + y * y


@program(0.5, features="chained comparison, middle evaluated once")
def chained_comparison_with_calls(x):
    return x * x if 0.0 < math.sin(x) < math.cos(x) else x


@program(0.5, features="comparison as a number")
def comparison_as_a_number(x):
    return x * (x > 0.0) + (x < 0.0) * x * x


@program(0.5, features="is, in")
def identity_and_membership(x):
    y = None
    if y is None and "a" in {"a": 1} and 3 not in [1, 2]:
        y = x * x
    return y


@program(0.5, features="if with pass")
@program(-0.5, features="if with pass")
def empty_branch(x):
    if x > 0.0:
        pass
    else:
        x = x * x
    return x * 3.0


@program(0.5, features="constant condition")
def constant_conditions(x):
    if True:
        x = x * x
    if 0:
        x = math.undefined(x)
    return x * 3.0 if not None else x


@program(0.5, features="swap in a branch")
@program(1.5, features="swap in a branch")
def swap_in_a_branch(x):
    a, b = x, x * x
    if x < 1.0:
        a, b = b, a
    return a + 10.0 * b * b


@program(0.5, 0.7, features="merge of three")
@program(1.5, 0.7, features="merge of three")
@program(1.5, 2.7, features="merge of three")
def three_way_merge(x, y):
    if x < 1.0:
        a, b, c = x, y, x * y
    elif y < 1.0:
        a, b, c = y, x, x + y
    else:
        a, b, c = x * y, x * y, y
    return a + b * b + c**3


@program(0.5, features="unreachable code")
def code_after_return(x):
    if x > 0.0:
        return x * x
    else:
        return x
    x = x * 100.0
    return x


@program(0.5, features="raise not taken")
def raises_if_negative(x):
    if x < 0.0:
        raise ValueError(f"negative: {x}")
    elif x > 100.0:
        raise OverflowError
    return math.sqrt(x)


@program(0.5, features="float or int")
@program(-0.5, features="float or int")
def float_in_one_branch_int_in_the_other(x):
    y = 0
    if x > 0.0:
        y = x * x
    return y * x + y


@program(0.5, features="float or array")
@program(-0.5, features="float or array")
def array_in_one_branch_float_in_the_other(x):
    y = x
    if x > 0.0:
        y = np.array([1.0, 2.0]) * x
    return np.sum(y * y)


@program(0.5, features="float or None")
@program(-0.5, features="float or None")
def none_in_one_branch(x):
    y = x * x if x > 0.0 else None
    if y is not None:
        return y + x
    return 2.0 * x


@program(0.5, features="branch on an inactive value")
def branch_on_a_computed_flag(x):
    positive = x > 0.0
    big = abs(x) > 1.0
    if positive and not big:
        return x**3
    return x


@program(1.5, features="return None paths not taken")
def falls_off_the_end_otherwise(x):
    if x > 1.0:
        return x * x


@program(0.7, features="active value unchanged in both branches")
def same_in_both(x):
    y = x * x
    if x > 0.0:
        z = y
    else:
        z = y
    return z * y


@program(np.array([0.4, -0.9]), np.array([1.5, 0.7]), True, features="if, masks")
@program(np.array([0.4, -0.9]), np.array([1.5, 0.7]), False, features="if, masks")
def mask_or_weights(x, y, masked):
    weight = x > 0.0 if masked else y
    z = weight * x / (weight + 1.0)
    return np.sum(z * y)


@program(np.array([0.4, -0.9]), np.array([1.5, 0.7]), True, features="if, masks")
@program(np.array([0.4, -0.9]), np.array([1.5, 0.7]), False, features="if, masks")
def product_of_masks_or_of_weights(x, y, masked):
    weight = np.concatenate([x > 0.0, y > 0.0]) if masked else np.concatenate([x, y])
    count = weight * weight + weight
    return count.sum() * np.sum(x * y)


@program(True, np.array([0.4, -0.9]), features="masks")
def truth_values_of_another_shape(on, x):
    return np.sum(np.atleast_1d(on) * np.array(x, dtype=float))
