"""Memory that a function makes for itself and writes into where an exception may be caught, retry loops and `with` included."""

# Exceptions that are raised in sight, and blocks of which one statement raises, are what is tried here.
# ruff: noqa: B012, PERF203, SIM105, TRY

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from tests.programs.mutation.table import program

X = 0.7


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.count = 0
        self.log = []

    def withdraw(self, amount):
        self.count += 1
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        self.log.append(("withdrawn", amount))

    def deposit(self, amount):
        self.balance += amount
        self.log.append(("deposited", amount))

    def try_to_withdraw(self, amount):
        try:
            self.withdraw(amount)
            return True
        except ValueError:
            self.balance += 2.1 * amount
            return False


class Cautious(Account):
    def withdraw(self, amount):
        try:
            super().withdraw(amount)
        except ValueError:
            self.balance *= 0.45
            raise


@program(X, features="try, object")
def accounts_in_a_dict(x):
    accounts = {"checking": Account(1.1 * x), "savings": Account(0.0)}
    missed = 0
    for month in range(8):
        accounts["checking"].deposit(0.4 * x)
        try:
            accounts["checking"].withdraw(0.31 * x * month)
        except ValueError:
            missed += 1
        accounts["savings"].deposit(accounts["checking"].balance * 0.1)
    withdrawn = sum(amount for kind, amount in accounts["checking"].log if kind == "withdrawn")
    return accounts["savings"].balance * accounts["checking"].balance + withdrawn - missed


@program(X, features="try, object")
def written_half_way(x):
    account = Account(x)
    try:
        account.balance = account.balance * 2.0
        root = math.sqrt(account.balance - 5.0)
        account.balance = root
    except ValueError:
        account.balance = account.balance * account.balance
    return account.balance


@program(X, features="try, object")
def raised_again_by_a_subclass(x):
    account = Cautious(x)
    for _ in range(4):
        try:
            account.withdraw(0.43 * x)
        except ValueError:
            account.balance += 0.1 * x
    return account.balance**2


@program(X, features="try, object")
def handler_with_else_and_finally(x):
    account = Account(x)
    for _ in range(4):
        try:
            account.withdraw(0.43 * x)
        except ValueError:
            account.balance += x
        else:
            account.balance *= 1.3
        finally:
            account.count += 1
            account.balance = account.balance + 0.1 * x
    return account.balance**2 * account.count


@program(X, features="try, object")
def tries_again(x):
    account = Account(x)
    for _ in range(3):
        for _ in range(3):
            try:
                account.withdraw(0.52 * x)
                break
            except ValueError:
                account.deposit(0.3 * x)
        else:
            account.balance = account.balance * 0.5
    return account.balance**2 + account.count


@program(X, features="try, object")
def nested_handlers(x):
    account = Account(x)
    for k in range(6):
        try:
            account.balance = account.balance * 1.1
            try:
                account.balance = account.balance + x
                if k == 2:
                    raise KeyError(k)
                if k == 3:
                    raise ValueError(k)
                account.balance = account.balance * 1.2
            except KeyError:
                account.balance = account.balance - 0.5 * x
                raise ValueError("again") from None
            account.balance = account.balance + 0.1
        except ValueError:
            account.balance = account.balance * 0.7
    return account.balance**2


@program(X, features="try, object")
def names_and_fields(x):
    account, spent = Account(x), x
    for k in range(6):
        try:
            if k % 2:
                spent = spent * 1.2
            account.withdraw(0.4 * spent)
            spent = spent + account.balance
        except ValueError:
            account.balance = account.balance + spent * spent
            spent = x
    return account.balance * spent


@program(X, features="try, object")
def methods_that_catch(x):
    account, done = Account(x), 0.0
    for _ in range(5):
        if account.try_to_withdraw(0.31 * x):
            done += account.balance
    return account.balance**2 + done


@program(X, features="try, object")
def money_moved_half_way(x):
    left, right = Account(x), Account(2.0 * x)
    for k in range(6):
        try:
            amount = 0.31 * x * k
            left.withdraw(amount)
            right.deposit(amount)
            if right.balance > 4.0 * x:
                raise OverflowError
        except ValueError:
            left.balance, right.balance = right.balance, left.balance
        except OverflowError:
            right.balance -= 2.0 * amount
    return left.balance * right.balance


@program(X, features="try, object")
def loop_of_withdrawals(x):
    account, spent = Account(x), x
    try:
        for _ in range(5):
            account.withdraw(0.31 * x)
            spent = spent + account.balance
    except ValueError:
        account.balance = account.balance * 5.0 + spent
    return account.balance**2 * spent + account.count


@program(X, features="try, object")
def condition_that_raises(x):
    account = Account(x)
    try:
        while math.sqrt(account.balance) > 0.01:
            account.balance = account.balance - 0.31 * x
            account.count += 1
    except ValueError:
        account.balance = account.balance**2 * x
    return account.balance * account.count


@program(X, features="try, object")
def loops_in_loops(x):
    account, factor = Account(2.0 * x), x
    try:
        for _ in range(4):
            for j in range(3):
                if j == 2:
                    break
                account.withdraw(0.46 * x)
                factor = factor * 1.1
            account.balance += 0.1 * x
    except ValueError:
        account.balance = account.balance * 3.0
    return account.balance * factor


def spends(account, amount):
    for _ in range(4):
        account.withdraw(amount)
    return account.balance


@program(X, features="try, object")
def loop_of_a_callee(x):
    account = Account(x)
    try:
        left = spends(account, 0.31 * x)
    except ValueError:
        left = account.balance * 5.0
    return left * account.balance + account.count


@program(X, features="try, object")
def loop_with_a_finally(x):
    account = Account(x)
    try:
        try:
            for k in range(3):
                account.balance = account.balance * x
                if k == 1:
                    raise KeyError
        finally:
            account.balance = account.balance + x
    except KeyError:
        account.balance = account.balance**2
    return account.balance


class Depth:
    def __init__(self, x):
        self.depth = 0
        self.total = x

    def __enter__(self):
        self.depth += 1
        self.total = self.total * 1.1
        return self

    def __exit__(self, cls, exception, traceback):
        self.depth -= 1
        if cls is None:
            self.total = self.total + 0.3
        else:
            self.total = self.total * 0.5
        return cls is not None and issubclass(cls, ValueError)


@program(X, features="try, object")
def contexts(x):
    depth, other = Depth(x), Depth(2.0 * x)
    for k in range(5):
        with depth as entered, other:
            entered.total = entered.total * x
            if k == 1:
                continue
            other.total += entered.total * entered.depth
            if k == 2:
                raise ValueError("ends the block")
            depth.total = depth.total + k
            if k == 3:
                break
    return depth.total * other.total + depth.depth


@program(X, features="try, object")
def loop_in_a_context(x):
    depth, account = Depth(x), Account(x)
    with depth:
        for _ in range(5):
            account.withdraw(0.31 * x)
            depth.total += account.balance
    return depth.total * account.balance


@program(X, features="try, dict")
def keys_as_they_come(x):
    totals = {}
    for k in (1, 2, 1, 3, 2, 1):
        try:
            totals[k] += x * k
        except KeyError:
            totals[k] = x * x
    return totals[1] * totals[2] + totals[3]


class Remembered:
    def __init__(self, x):
        self.x = x
        self.table = {}

    def value(self, k):
        try:
            return self.table[k]
        except KeyError:
            found = self.table[k] = math.sin(self.x * k)
            return found


@program(X, features="try, dict, object")
def values_remembered(x):
    table, total = Remembered(x), 0.0
    for k in (1, 2, 1, 2, 3):
        total += table.value(k)
    return total**2


@program(X, features="try, list")
def stack_used_up(x):
    stack, total = [x, x * x, 3.0 * x], 0.0
    while True:
        try:
            item = stack.pop()
        except IndexError:
            break
        total = total * 0.5 + item * item
        if total > 1.0 and len(stack) < 2 and item > 0.6:
            stack.append(item * 0.3)
    return total


@program(X, features="try, list")
def queue_used_up(x):
    queue, total = deque([x, 2.0 * x]), 0.0
    for k in range(6):
        try:
            value = queue.popleft()
        except IndexError:
            queue.append(x * k)
            continue
        total += value * value
        if value < 1.5:
            queue.append(value * 1.3)
    return total


@program(X, features="try, list")
def two_lists(x):
    values, roots = [], []
    for k in range(6):
        try:
            values.append(x * k)
            roots.append(math.sqrt(x * k - 2.0))
            values[-1] = values[-1] * roots[-1]
        except ValueError:
            roots.append(values[-1] * values[0] + x)
            values[0] = values[0] + x
    return sum(a * b for a, b in zip(values, roots, strict=True))


@program(X, features="try, list")
def list_left_by_a_handler(x):
    values = [x]
    for k in range(6):
        try:
            values.append(values[-1] * x)
            values[0] = values[0] + math.sqrt(3.0 - k)
        except ValueError:
            values[-1] = values[-1] * values[0]
            return sum(v * v for v in values)
    return sum(values) * values[0]


@program(X, features="try, array")
def array_past_its_end(x):
    a = np.zeros(5)
    for k in range(8):
        try:
            a[k] += x * k
            a[k - 1] *= a[k]
            if k == 2:
                raise KeyError
        except IndexError:
            a[0] = a[1] * x + a[0]
        except KeyError:
            a[2] = 7.0 * x
    return np.sum(a * a)


@program(X, features="try, list")
def table_past_its_end(x):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(4):
        for j in range(4):
            try:
                table[i][j] = x * (i + j) + (table[i - 1][j] if i else x)
            except IndexError:
                table[0][0] += table[2][2] * 0.1
    return table[2][2] * table[0][0]


@program(X, features="try, object, list")
def objects_in_a_list_that_raise(x):
    accounts = [Account(x * k) for k in range(4)]
    for _ in range(3):
        for account in accounts:
            try:
                account.withdraw(0.52 * x)
            except ValueError:
                account.balance += x
    return sum(account.balance**2 + account.count for account in accounts)


@program(X, features="try, cells, closure")
def cell_in_a_try(x):
    total, count = x, 0

    def bump(k):
        nonlocal total, count
        count += 1
        try:
            total = total * x
            total = total + math.sqrt(2.0 - k)
        except ValueError:
            total = total - 1.0
        return total

    seen = 0.0
    for k in range(4):
        seen += bump(k)
    return seen * total + count


@dataclass(frozen=True)
class State:
    a: float
    b: float

    def after(self):
        if self.a > 2.0:
            raise OverflowError
        return State(self.a * 1.3, self.b + self.a)


@program(X, features="try, object")
def states_that_are_replaced(x):
    state = State(2.0 * x, x * x)
    for k in range(6):
        try:
            state = state.after()
            if k == 3:
                raise ValueError
        except OverflowError:
            state = State(state.a * 0.3, state.b)
        except ValueError:
            state = State(state.b, state.a)
    return state.a * state.b


class Settings:
    def __init__(self, x):
        try:
            self.rate = math.sqrt(x - 1.0)
        except ValueError:
            self.rate = x * x
        if x > 2.0:
            self.scale = x
        else:
            self.scale = 2.0 * self.rate


@program(X, features="try, object")
def fields_of_a_constructor_that_catches(x):
    settings = Settings(x)
    settings.scale = settings.scale * settings.rate
    return settings.scale


class WithDefault:
    rate = 5.0

    def __init__(self, x):
        self.x = x


@program(X, features="try, object")
def field_over_an_attribute_of_the_class(x):
    settings = WithDefault(x)
    try:
        settings.rate = math.sqrt(x)
        settings.x = math.sqrt(x - 2.0)
    except ValueError:
        settings.x = settings.x * settings.rate
    return settings.x * settings.rate


@program(X, features="try, object")
def two_names_of_one_object(x):
    account = Account(x)
    other = account
    try:
        account.balance = account.balance * x
        other.withdraw(100.0 * x)
    except ValueError:
        if other is account:
            other.balance = account.balance + other.balance * x
    return account.balance


class Holder:
    def __init__(self, x):
        self.value = x
        self.exception = None

    def __enter__(self):
        return self

    def __exit__(self, cls, exception, traceback):
        self.exception = exception
        return True


class Valued(Exception):
    def __init__(self, value):
        super().__init__("has a value")
        self.value = value


@program(X, features="try, object")
def context_that_keeps_the_exception(x):
    holder = Holder(x)
    with holder:
        holder.value = holder.value * 2.0
        raise Valued(x * x)
    return holder.value + holder.exception.value


@program(X, features="try")
def a_body_that_never_comes_to_its_end(x):
    b = x
    try:
        b = b * x
        raise KeyError
    except ValueError:
        b = b + 1.0
    except KeyError:
        b = b * 3.0
    return b


class Insufficient(Exception):
    def __init__(self, needed, there):
        super().__init__(f"{needed} needed, {there} there")
        self.needed, self.there = needed, there


class Overdrawn(Insufficient):
    def __init__(self, needed, there, rate):
        super().__init__(needed, 2.0 * there)
        self.fee = rate * needed


def taken(balance, amount):
    if amount > balance:
        raise Insufficient(amount, balance)
    return balance - amount


@program(X, features="try, exceptions")
def fields_of_an_exception(x):
    account, short = Account(x), 0.0
    for k in range(5):
        try:
            account.balance = taken(account.balance, 0.41 * x * k)
        except Insufficient as error:
            short += (error.needed - error.there) ** 2
            account.balance += 0.5 * error.there
    return account.balance * short


@program(X, features="try, exceptions")
def exceptions_of_two_classes(x):
    balance, fees = x, 0.0
    for k in range(6):
        try:
            if k == 2:
                raise Overdrawn(x * k, balance, x)
            balance = balance * 1.1
            if k == 4:
                raise Insufficient(balance, x)
            balance = balance + x
        except Overdrawn as error:
            fees += error.fee * balance + error.there
        except Insufficient as error:
            fees += error.needed * error.there
            print(error)
    return balance * fees


class Ratio(Exception):
    def __init__(self, a, b):
        self.ratio = a / b


@program(X, features="try, exceptions")
def an_exception_that_cannot_be_made(x):
    total = x
    for k in range(3):
        try:
            raise Ratio(x, k)
        except Ratio as error:
            total = total + error.ratio
        except ZeroDivisionError:
            total = total * 2.0
    return total


@program(X, features="try, exceptions")
def an_exception_that_is_kept(x):
    last, value = None, x
    for k in range(3):
        try:
            raise Insufficient(value * k, x)
        except Insufficient as error:
            last = error
            value = value * 1.5
    return last.needed * last.there


@program(X, features="try, exceptions")
def an_exception_that_is_written_into(x):
    value = x
    try:
        try:
            raise Insufficient(value, x)
        except Insufficient as error:
            error.needed = error.needed * 2.0
            value = error.needed
            raise
    except Insufficient as error:
        value = value * error.needed
    return value


class Raising:
    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        raise Insufficient(self.value * self.value, other)


@program(X, features="try, exceptions")
def an_exception_of_an_operator(x):
    value, factor = x, Raising(x)
    for k in range(2):
        try:
            if k:
                raise Insufficient(value, x)
            value = factor * value
        except Insufficient as error:
            value = error.needed * error.there + value
    return value
