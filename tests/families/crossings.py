"""Where mechanisms meet: objects of the module and those that a program makes, exceptions half way, recursion, lists and dicts
that are arguments, and other names for all of these.

Variables of the module begin as they are in each call, so that programs can be called again and again.
"""

from __future__ import annotations

import random
from contextlib import nullcontext

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

_HEAD = f"""\
{HEAD}class Short(Exception):
    def __init__(self, need, by):
        super().__init__(need)
        self.need, self.by = need, by


class Account:
    def __init__(self, a, b=0.5):
        self.a, self.b = a, b

    def push(self, k):
        self.a += 0.5 * k * self.b
        return 0.3 * self.a + k

    def take(self, k):
        self.b += 0.1 * k
        if k > self.a:
            raise Short(k - self.a, self)
        self.a -= 0.5 * k
        return self.b

    @property
    def both(self):
        return math.sin(self.a) * self.b

    def __enter__(self):
        self.b *= 1.1
        return self

    def __exit__(self, cls, error, trace):
        self.a *= 0.9
        return cls is Short


class Saving(Account):
    def push(self, k):
        self.b = 0.9 * self.b + 0.1 * k
        return super().push(0.5 * k)


class Bank:
    def __init__(self, a, b):
        self.first, self.all = Account(a, b), [Saving(b, a), Account(0.5 * a)]
        self.log, self.rates = [a, b], {{"p": a, "q": 0.7 * b}}

    def step(self, k):
        self.log.append(self.first.push(k))
        self.rates["p"] = 0.5 * self.rates["p"] + 0.1 * self.log[-1]
        if k > 0.9:
            return self.first.b
        self.all[0].a += 0.2 * k
        return self.log[0]


OWN, LOG, RATES = Account(0.4), [0.2, 0.6], {{"p": 0.3, "q": 0.8}}
BANK = Bank(0.5, 0.6)


def deeper(account, n, k):
    if n == 0:
        return account.a * k
    account.b += 0.2 * k
    found = deeper(account, n - 1, math.sin(k + account.a))
    account.a = 0.5 * account.a + 0.1 * found
    return found + 0.1 * account.b


def filled(log, n, k):
    if n <= 0:
        return log[-1]
    log.append(0.5 * k + 0.3 * log[0])
    found = filled(log, n - 1, 0.7 * k) + filled(log, n - 2, 0.3 * k)
    log[0] += 0.1 * found
    return found * k


def spread(accounts, i, k):
    if i >= len(accounts):
        return k
    accounts[i].a += 0.1 * k
    return 0.5 * spread(accounts, i + 1, accounts[i].b * k) + accounts[i].a


"""
_BEGINNING = (
    "OWN.__init__(0.4)", "LOG[:] = [0.2, 0.6]", "RATES.clear()", "RATES.update(p=0.3, q=0.8)", "BANK.__init__(0.5, 0.6)",
    "bank, own = Bank(x, y), Account(y, x)", "all = [own, Saving(x), Account(0.8, y)]", "log, total = [x, y], 0.0",
)  # fmt: skip
_ACCOUNTS = ("own", "OWN", "bank.first", "BANK.first", "all[0]", "all[-1]", "bank.all[0]", "other")
_LISTS = ("log", "LOG", "items", "bank.log", "BANK.log")
_DICTS = ("d", "RATES", "bank.rates", "BANK.rates")
_MANY = ("all", "bank.all", "BANK.all")
_CONDITIONS = ("x > 0.1", "y < 0.2", "len(log) > 2", "own is other", "isinstance(other, Saving)", "all[0] is own")
_CHANGES = (
    "{o}.{f} = {n}", "{o}.{f} += 0.3 * {n}", "total += {o}.push({n})", "{o}.push({n})", "other = {o}", "own = {o}",
    "{l}.append({n})", "{l}[0] = {n}", "{l}[-1] *= {n}", "log = {l}", "total += {l}.pop() if len({l}) > 2 else {n}",
    "{e}['p'] = {n}", "{e}['q'] += {n}", "total += {e}.get('z', {n})", "bank.log = {l}", "bank.first = {o}", "all[1] = {o}",
    "{m}.append({o})", "{m}[0], {m}[-1] = {m}[-1], {m}[0]", "all = list({m})", "bank.all = {m}", "other = Saving({n}, {n})",
    "total += bank.step({n})", "total += BANK.step({n})", "total += deeper({o}, 2, {n})", "total += filled({l}, 2, {n})",
    "total += spread({m}, 0, {n})", "total += {o}.both", "own.a, own.b = own.b, {n}", "total += sum(p.a for p in {m})",
)  # fmt: skip
_RAISING = ("{o}.take({n})", "total += {l}[7]", "total += {e}['y']", "if {c}: raise Short({n}, {o})")
_HANDLERS = ("except Short as error:", "except (Short, LookupError):", "except Exception:")


def write(writer: ProgramWriter) -> None:
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        for line in (*_BEGINNING, "other = all[1]"):
            writer.write(line)
        _statements(writer, writer.random.randint(1, 4), 0)
        state = "own.a + 0.5 * OWN.b + other.a + log[0] + LOG[-1] + items[0] + d['p'] + RATES['q'] + bank.first.a"
        writer.write(f"total += {state} + BANK.first.b + all[0].a + BANK.all[-1].a")
        writer.write("return math.sin(total) + 0.1 * x * y * u[0] * m[0, 1] * d['q']")


def _filled(draw: random.Random, text: str) -> str:
    """A text with objects, lists, dicts and numbers in their places."""
    numbers = ("x", "y", "0.7", "0.5 * total", "math.sin(total)", f"{draw.choice(_ACCOUNTS)}.b", f"{draw.choice(_LISTS)}[0]")
    places = {"o": _ACCOUNTS, "l": _LISTS, "e": _DICTS, "m": _MANY, "n": numbers, "f": "ab", "c": _CONDITIONS}
    return text.format(**{name: draw.choice(choices) for name, choices in places.items()})


def _statements(writer: ProgramWriter, count: int, depth: int) -> None:
    draw = writer.random
    for _ in range(count):
        shape = draw.random() if depth < 2 else 1.0
        if shape < 0.15:
            heads = ("for i in range(2):", "for other in list({m}):", "for v in list({l})[:3]:", "for name, v in {e}.items():")
            with writer.indented(_filled(draw, draw.choice(heads))):
                _statements(writer, draw.randint(1, 2), depth + 1)
                if writer.chance(0.2):
                    writer.write(_filled(draw, draw.choice(("if {c}: break", "if {c}: continue"))))
        elif shape < 0.25:
            with writer.indented(_filled(draw, "if {c}:")):
                _statements(writer, 1, depth + 1)
            with writer.indented("else:") if writer.chance(0.5) else nullcontext():
                _statements(writer, 1, depth + 1)
        elif shape < 0.45:
            _attempt(writer, depth)
        elif shape < 0.5:
            with writer.indented(_filled(draw, "with {o} as other:")):
                _statements(writer, 1, depth + 1)
        else:
            writer.write(_filled(draw, draw.choice(_CHANGES)))


def _attempt(writer: ProgramWriter, depth: int) -> None:
    draw = writer.random
    with writer.indented("try:"):
        _statements(writer, draw.randint(1, 2), depth + 1)
        writer.write(_filled(draw, draw.choice(_RAISING)))
    head = draw.choice(_HANDLERS)
    with writer.indented(head):
        if "error" in head:
            writer.write(draw.choice(("total += error.need", "other = error.by", "total += error.args[0] * x")))
        _statements(writer, 1, depth + 1)
    if "LookupError" not in head and "Exception:" not in head:
        with writer.indented("except LookupError:"):
            _statements(writer, 1, depth + 1)
    if writer.chance(0.2):
        with writer.indented("finally:"):
            _statements(writer, 1, depth + 1)


FAMILY = Family("crossings", write, refused=0.01, point=usual_point, head=_HEAD, points=1)
