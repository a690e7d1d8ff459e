"""The part of an exported module that its user calls: the check of the arguments, `value_and_gradient`, `pullback`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, final

from microgradpy.exporting import parts
from microgradpy.exporting.kinds import Spec, gradient_hint, has_number, hint, is_array, leaves
from microgradpy.exporting.layout import WIDTH
from microgradpy.exporting.target import Argument, Constant, Target
from microgradpy.ir.kinds import Array, Inert, Kind, Scalar, Sequence, TupleOf
from microgradpy.state.array_shadows import ArrayShadows

Use = Callable[[Any], str]
"""The name of a function of `parts` in the module."""


@final
@dataclass
class Driver:
    """Writes the functions. `primal` and `adjoint` are the names of the generated ones, `use` says what parts and inputs
    that belong to the module are called there; `taken` are the names that mean something else."""

    target: Target
    use: Use
    primal: str
    adjoint: str
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.arguments = self.target.arguments
        self.taken |= {argument.name for argument in self.arguments} | {self.primal, self.adjoint, "value_and_gradient"}
        self.value, self.saved, self.seed = self._own("value"), self._own("saved"), self._own("seed")
        self.shadows = self._own("shadows")
        self.check = self._own("check_arguments")
        self.bars = [self._own(f"{name}_bar") for name in self._input_names()]

    def _own(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _input_names(self) -> list[str]:
        return [name for name, flag in zip(self.target.inputs, self.target.unit.active, strict=True) if flag]

    def lines(self) -> list[str]:
        """The text of the functions."""
        text = [] if is_no_number(self.target.unit.result_kind) else [*self._value_and_gradient(), "", ""]
        text += [*self._pullback()]
        if self.arguments:
            text += ["", "", *self._check()]
        return text

    # Signatures

    @property
    def parameters(self) -> str:
        found = [f"{a.name}: {hint(a.spec)}" for a in self._named()]
        if self.target.variadic is not None:
            found.append(f"*{self._variadic_name()}: Any")
        return ", ".join(found)

    def _named(self) -> tuple[Argument, ...]:
        return self.arguments[: self.target.variadic]

    def _variadic_name(self) -> str:
        inputs = [name for name in self.target.inputs if isinstance(name, str)]
        return inputs[self.target.variadic or 0]

    def _given(self) -> str:
        """The arguments, as they are passed on."""
        names = [argument.name for argument in self._named()]
        return ", ".join([*names, f"*{self._variadic_name()}"] if self.target.variadic is not None else names)

    def _inputs(self) -> str:
        return ", ".join(self.use(each) if isinstance(each, Constant) else each for each in self.target.inputs)

    # The check

    def _check(self) -> list[str]:
        lines = [f"def {self.check}({self.parameters}) -> None:", *docstring("Refuse arguments that this module is not for.")]
        if self.target.variadic is not None:
            name, count = self._variadic_name(), len(self.arguments) - self.target.variadic
            lines += [f"    if len({name}) != {count}:", "        raise TypeError("]
            lines += [f'            f"{{len({name})}} arguments are given as {name}; this module was made for {count}"']
            lines.append("        )")
        has_axes = any(" array[" in leaf for argument in self.arguments for leaf in leaves(argument.spec))
        if any(not isinstance(argument.spec, str) or argument.spec not in _ALONE for argument in self.arguments):
            lines.append("    lengths: dict[str, int] = {}")
        lines += [f"    {self._check_one(argument)}" for argument in self.arguments]
        if has_axes:
            lines.append(f"    {self.use(parts.check_lengths)}(lengths, {self.target.known_lengths})")
        return lines

    def _check_one(self, argument: Argument) -> str:
        name, of = argument.name, argument.spec
        if of in _NUMBERS:
            return f'{self.use(parts.check_number)}("{name}", {name}, "{of}")'
        if of == "data":
            return f'{self.use(parts.check_data)}("{name}", {name})'
        if is_array(of):
            return f'{self.use(parts.check_array)}("{name}", {name}, "{of}", lengths)'
        return f'{self.use(parts.check_kind)}("{name}", {name}, {quoted(of)}, lengths)'

    # The functions

    def _value_and_gradient(self) -> list[str]:
        kind = self.target.unit.result_kind
        wanted = [argument for argument in self.arguments if argument.is_wanted]
        hints = ", ".join(gradient_hint(a.spec, a.is_absent and self.target.argnums is None) for a in wanted)
        single = isinstance(self.target.argnums, int)
        returned = hints if single else f"tuple[{hints or '()'}]"
        name = self.target.function.__name__
        seed = f'{self.use(parts.unit_seed)}({self.value}, "{name}")'
        lines = [
            f"def value_and_gradient({self.parameters}) -> tuple[{result_hint(kind)}, {returned}]:",
            *docstring(f"The value of `{name}`, a real number, and its gradient with respect to {self._wanted_names()}."),
            *self._start(),
            *self._call_adjoint(seed, "    "),
        ]
        gradients = [self._gradient(argument, fills=self.target.argnums is not None) for argument in wanted]
        return [*lines, f"    return {self.value}, {gradients[0] if single else as_tuple(gradients)}"]

    def _start(self) -> list[str]:
        check = [f"    {self.check}({self._given()})"] if self.arguments else []
        arrays = [argument.name for argument in self.arguments if is_array(argument.spec)]
        if self.target.unit.tracks and len(arrays) > 1:
            pairs = ", ".join(f'"{name}": {name}' for name in arrays)
            check.append(f"    {self.use(parts.check_apart)}({{{pairs}}})")
        return [*check, f"    {self.value}, {self.saved} = {self.primal}({self._inputs()})"]

    def _call_adjoint(self, seed: str, indent: str) -> list[str]:
        if all(argument.is_absent for argument in self.arguments) or not self.bars:
            return []
        shown = [bar if self._is_used(number) else "_" for number, bar in enumerate(self.bars)]
        if not self.target.unit.tracks:
            return [f"{indent}{', '.join(shown)} = {self.adjoint}({self.saved}, {seed})"]
        given = f"{self.shadows}.{'born' if self.target.unit.takes_value else 'settle'}({self.value}, {seed})"
        return [
            f"{indent}{self.shadows} = {self.use(ArrayShadows)}()",
            f"{indent}{', '.join(shown)} = {self.adjoint}({self.saved}, {given}, {self.shadows})",
            f"{indent}{self.shadows}.check_taken()",
        ]

    def _is_used(self, number: int) -> bool:
        return any(argument.bar == number and not argument.is_absent for argument in self.arguments)

    def _gradient(self, argument: Argument, *, fills: bool = False) -> str:
        """The text of the gradient of an argument."""
        if argument.is_absent or argument.bar is None or not argument.is_wanted:
            return self._filled(argument, "None") if fills else "None"
        bar = self.bars[argument.bar]
        if self.target.unit.tracks and is_array(argument.spec):
            bar = f"{self.shadows}.read({argument.name}, {bar})"
        function: Any = parts.gradient_of if has_number(argument.spec) else parts.argument_gradient
        if "[" in argument.name:
            rest, _, place = argument.name.rstrip("]").partition("[")
            missing = f"{bar} is None"
            if not any(has_number(each.spec) for each in self.arguments[self.target.variadic :]):
                missing += f" or {self.use(parts.carries_nothing)}({rest})"
            bar, function = f"(None if {missing} else {bar}[{place}])", parts.gradient_of
        if argument.spec in _NUMBERS:
            function = parts.number_gradient
        elif is_array(argument.spec):
            function = parts.array_gradient
        found = f"{self.use(function)}({argument.name}, {bar})"
        return self._filled(argument, found) if fills and function in _OF_CONTAINERS else found

    def _filled(self, argument: Argument, found: str) -> str:
        return f"{self.use(parts.with_zeros)}({argument.name}, {found})"

    def _pullback(self) -> list[str]:
        kind = self.target.unit.result_kind
        container = not isinstance(kind, Scalar | Array)
        seed_check = self.use(parts.container_seed if container else parts.number_seed)
        has_default = not is_no_number(kind)
        parameter = f"{self.seed}: Any = 1.0" if has_default else f"{self.seed}: Any"
        gradients = ["None", *(self._gradient(argument) for argument in self.arguments)]
        name = self.target.function.__name__
        seed = f"{seed_check}({self.value}, {self.seed})"
        copied, checked = self._watch()
        body = [
            *docstring(f"The cotangents of `{name}` itself (None) and of {self._names() or 'nothing'}.", "        "),
            *checked,
            *(self._call_adjoint(seed, "        ") or [f"        {seed}"]),
        ]
        return [
            f"def pullback({self.parameters}) -> tuple[{result_hint(kind)}, Callable[..., tuple[Any, ...]]]:",
            *docstring(f"The value of `{name}`, and the function from a cotangent of the value to those of the arguments."),
            *self._start(),
            *copied,
            "",
            f"    def back({parameter}) -> tuple[Any, ...]:",
            *body,
            returning("        ", gradients),
            "",
            f"    return {self.value}, back",
        ]

    def _watch(self) -> tuple[list[str], list[str]]:
        """What notes what arrays, lists and dicts hold, and what looks whether it is the same. Numbers do not change."""
        if isinstance(self.target.unit.result_kind, Scalar) and all(each.spec in _NUMBERS for each in self.arguments):
            return [], []
        copies = self._own("copies")
        changing = f"{self.use(parts.changing_in)}([{', '.join(filter(None, [self._given(), self.value]))}])"
        noted = f"    {copies} = [(each, each.copy()) for each in {changing}]"
        return [noted], [f"        {self.use(parts.check_unchanged)}({copies})"]

    def _names(self) -> str:
        return listed([argument.name for argument in self.arguments])

    def _wanted_names(self) -> str:
        return listed([argument.name for argument in self.arguments if argument.is_wanted]) or "nothing"


_NUMBERS = ("float", "int", "bool", "complex")
_OF_CONTAINERS = (parts.gradient_of, parts.argument_gradient)
_ALONE = (*_NUMBERS, "data")
"""What is checked without knowing lengths of axes."""


def docstring(text: str, indent: str = "    ") -> list[str]:
    return [f'{indent}"""{text}"""']


def listed(names: Iterable[str]) -> str:
    """`x, y and z`."""
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def returning(indent: str, items: list[str]) -> str:
    """The statement that returns a tuple of these."""
    text = f"{indent}return {', '.join(items)}"
    return text if len(items) > 1 and len(text) <= WIDTH else f"{indent}return {as_tuple(items)}"


def as_tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def quoted(of: Spec) -> str:
    """The text of a spec as a literal with double quotes."""
    match of:
        case str():
            return f'"{of}"'
        case tuple():
            return as_tuple([quoted(item) for item in of]) if of else "()"
        case list():
            return f"[{quoted(of[0])}]"
    return "{" + ", ".join(f"{key!r}: {quoted(item)}" for key, item in of.items()) + "}"


def is_no_number(kind: Kind) -> bool:
    """Whether a value is proven to be none that has a gradient."""
    match kind:
        case Scalar(name="bool" | "complex") | TupleOf() | Sequence() | Inert():
            return True
        case Array(ndim=int(rank)) if rank > 0:
            return True
    return False


def result_hint(kind: Kind) -> str:
    match kind:
        case Scalar(name="float" | "int" | "bool" | "complex" as name):
            return name
        case Array(ndim=int(rank)) if rank > 0:
            return "np.ndarray"
    return "Any"
