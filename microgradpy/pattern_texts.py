"""The functions of a pattern, as texts: what is read of the arguments of a call, their gradients, and the tangents of what is
read.

    def read(v0, v1):                                       def gather(b, h):
        try:                                                    t1 = fields(k9, h[1], {"w": b[0], "b": b[1]})
            if not (type(v0) is k0): return None                t0 = fields(k8, h[0], {"layers": t1})
            v2 = v0.layers                                      return [t0, b[2]]
            ...
            return [v5, v6, v1], (v0, v4)
        except (AttributeError, KeyError): return None

    def dots(d0, d1):
        d2 = of(d0, "layers")
        ...
        return [d5, d6, d1]
"""

from __future__ import annotations

import gc
import keyword
from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import Const
from microgradpy.originals import BUILTINS
from microgradpy.promotion import classes
from microgradpy.promotion.given import LITERALS
from microgradpy.promotion.parts import Variable
from microgradpy.promotion.places import Part
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import Tangent, is_structural_zero


def has_fields(part: Part) -> bool:
    return not part.is_leaf and not part.is_container and not classes.is_record(part.cls)


@final
@dataclass(frozen=True, slots=True)
class Form:
    """The names of the fields of objects of a class, with which `count` things are found in an object."""

    cls: type
    names: dict[str, None]
    count: int

    @classmethod
    def of(cls, x: Any) -> Form:
        return cls(type(x), dict.fromkeys(fields_of(x)), _count(x))


def _count(x: Any) -> int:
    """How many things an object refers to, which changes with the number of its fields; `__dict__` is not asked for, which
    would make the object slower, and counts where somebody has done that."""
    found = gc.get_referents(x)
    count = len(found)
    for each in found:
        if type(each) is dict:
            count += 1000 * len(each)
    return count


def fields(form: Form, x: Any, found: dict[str, Any]) -> Tangent:
    """The gradient of an object, with None for what was not used."""
    return Tangent(form.cls, form.names if _count(x) == form.count else dict.fromkeys(fields_of(x)), **found)


def items(x: Any, found: dict[int, Any]) -> Any:
    """The same of a list or tuple."""
    bars = [found.get(number) for number in range(len(x))]
    if type(x) is list:
        return bars
    return tuple(bars) if type(x) is tuple else named_like(x, bars)


def entries(x: Any, found: dict[Any, Any]) -> dict[Any, Any]:
    """The same of a dict."""
    return {**dict.fromkeys(x), **found}


def of(x_dot: Any, key: Any) -> Any:
    """The tangent of a part of something, by the name of a field, a key or a place."""
    if is_structural_zero(x_dot):
        return None
    return x_dot.get(key) if isinstance(x_dot, Tangent | dict) else x_dot[key]


class Texts:
    """The lines of `read`, `gather` and `dots`, and the objects that they name."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"fields": fields, "items": items, "entries": entries, "of": of}
        self.dots: list[str] = []
        self.leaves: list[str] = []
        self.tests: list[str] = []
        self.values: list[str] = []
        self.held: list[str] = []
        self.bars: list[str] = []
        self.objects: list[str] = []
        self.of_class: dict[type, list[str]] = {}
        self.written: dict[type, None] = {}
        self.others: list[str] = []
        self.names_of: dict[Part, str] = {}
        self.same: list[tuple[str, Part]] = []
        self.count = 0

    def constant(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def functions(
        self, count: int, parts: Mapping[int, Part], variables: tuple[Variable, ...], members: tuple[Any, ...]
    ) -> tuple[Any, Any, Any]:
        self.count = count
        self.tests += _tests_of_members(members, self.constant)
        gathered: list[str] = []
        for number in range(count):
            if number in parts:
                gathered.append(self.part(parts[number], f"v{number}"))
            else:
                gathered.append(f"b[{len(self.values)}]")
                self.values.append(f"v{number}")
                self.leaves.append(f"d{number}")
                self.others.append(f"v{number}")
        for variable in variables:
            name = f"v{self.count}"
            self.count += 1
            self.tests.append(f"{name} = {self.constant(variable.namespace)}[{variable.name!r}]")
            self.dots.append(f"d{name[1:]} = None")
            self.part(variable.part, name)
        self.values += self.objects
        self.apart()
        inputs = ", ".join(f"v{number}" for number in range(count))
        lines = [f"def read({inputs}):", "    try:"]
        lines += [f"        {test}" for test in self.tests]
        lines += [f"        return [{', '.join(self.values)}], ({''.join(f'{name}, ' for name in self.held)})"]
        lines += ["    except (AttributeError, KeyError, IndexError):", "        return None", "", "def gather(b, h):"]
        lines += [f"    {line}" for line in self.bars]
        lines += [f"    return [{', '.join(gathered)}]", ""]
        lines += [f"def dots({inputs.replace('v', 'd')}):"]
        lines += [f"    {line}" for line in self.dots]
        lines += [f"    return [{', '.join(self.leaves + ['None'] * len(self.objects))}]", ""]
        names = {**self.names, "__builtins__": BUILTINS}
        exec(compile("\n".join(lines), "<arguments in sight>", "exec", dont_inherit=True), names)
        return names["read"], names["gather"], names["dots"]

    def apart(self) -> None:
        """Make sure that what is written into is reached in no other ways than it was."""
        for name, first in self.same:
            self.holds(f"{name} is {self.names_of[first]}")
        for cls in self.written:
            names = self.of_class[cls] + (self.others if cls in (list, dict) else [])
            if len(names) == 2:
                self.holds(" is not ".join(names))
            elif len(names) > 2:
                self.holds(f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}")

    def holds(self, test: str) -> None:
        self.tests.append(f"if not ({test}): return None")

    def part(self, part: Part, name: str) -> str:
        """Look at a part that has this name; what its gradient is written as."""
        if isinstance(part.known, Const):
            self.static(part.value, name)
            return "None"
        self.holds(f"type({name}) is {self.constant(part.cls)}")
        if part.first is not None:
            self.same.append((name, part.first))
            return "None"
        self.note_written(part, name)
        if part.is_leaf:
            # What is written into is another one when the adjoint runs.
            self.values.append(f"{part.cls.__name__}({name})" if part.is_changed else name)
            self.leaves.append(f"d{name[1:]}")
            return f"b[{len(self.values) - 1}]"
        place = len(self.held)
        self.held.append(name)
        self.members(part, name)
        found: dict[Any, str] = {}
        for (how, key), child in part.children.items():
            if how == "keys":
                continue
            inner = f"v{self.count}"
            self.count += 1
            reads = {".": f"getattr({name}, {key!r})", "[]": f"{name}[{key!r}]"}
            is_plain = how == "." and key.isidentifier() and not keyword.iskeyword(key)
            self.tests.append(f"{inner} = {f'{name}.{key}' if is_plain else reads[how]}")
            self.dots.append(f"d{inner[1:]} = of(d{name[1:]}, {key!r})")
            bar = self.part(child, inner)
            if bar != "None":
                found[key] = bar
        return self.gathered(part, place, found) if found else "None"

    def note_written(self, part: Part, name: str) -> None:
        """Note what is to be known of a part if something is written into."""
        self.names_of[part] = name
        if part.itself is not None:
            self.objects.append(name)
        if part.assigned or part.is_changed:
            self.written[part.cls] = None
        if part.cls in (list, dict) or not part.is_leaf:
            self.of_class.setdefault(part.cls, []).append(name)

    def gathered(self, part: Part, place: int, found: dict[Any, str]) -> str:
        """Put the gradient of a part together from those of its parts."""
        result = f"t{place}"
        given = f"h[{place}], {{{', '.join(f'{key!r}: {bar}' for key, bar in found.items())}}}"
        unused = f"None if {' is '.join(found.values())} is None else "
        if has_fields(part):
            self.bars.append(f"{result} = {unused}fields({self.constant(Form.of(part.value))}, {given})")
        else:
            self.bars.append(f"{result} = {unused}{'entries' if part.cls is dict else 'items'}({given})")
        return result

    def members(self, part: Part, name: str) -> None:
        """What is relied on of a part but for what it is made of."""
        if part.is_changed:
            if part.is_read:
                self.holds(f"not {name}")
        elif part.cls in (list, tuple):
            self.holds(f"len({name}) == {len(part.value)}")
        if ("keys", None) in part.children:
            self.holds(f"(*{name},) == {self.constant(tuple(part.value))}")
        for method, function in part.methods.items():
            self.tests.append(f"m = getattr({name}, {method!r})")
            self.holds(f"m.__func__ is {self.constant(function)} and m.__self__ is {name}")
        for missing in part.missing:
            if part.cls is dict:
                self.holds(f"{missing!r} not in {name}")
                continue
            of_class = classes.member(part.cls, missing)
            if isinstance(of_class, classmethod):
                self.holds(f"getattr(getattr({name}, {missing!r}), '__func__', None) is {self.constant(of_class.__func__)}")
                continue
            default = self.constant(of_class.__func__ if isinstance(of_class, staticmethod) else of_class)
            self.holds(f"getattr({name}, {missing!r}, {default}) is {default}")

    def static(self, value: Any, name: str) -> None:
        known = self.constant(value)
        if type(value) in LITERALS and value is not None and type(value) is not bool:
            self.holds(f"type({name}) is {self.constant(type(value))} and {name} == {known}")
        else:
            self.holds(f"{name} is {known}")


def _tests_of_members(members: tuple[Any, ...], constant: Callable[[Any], str]) -> Iterator[str]:
    """That classes have what they had under names, and had not."""
    absent: dict[type, dict[str, None]] = {}
    present: dict[tuple[type, str], Any] = {}
    seen_classes: dict[type, None] = {}
    for names, name, _ in members:
        seen_classes[names.cls] = None
        for base in names.cls.__mro__[:-1]:
            if name in vars(base):
                present[base, name] = vars(base)[name]
                break
            if name != "__mro__":
                absent.setdefault(base, {})[name] = None
    for cls in seen_classes:
        yield f"if {constant(cls)}.__mro__ is not {constant(cls.__mro__)}: return None"
    for base, missing in absent.items():
        yield f"if not {constant(vars(base).keys())}.isdisjoint({constant(frozenset(missing))}): return None"
    for (base, name), value in present.items():
        yield f"if {constant(vars(base))}[{name!r}] is not {constant(value)}: return None"
