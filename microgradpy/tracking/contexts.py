"""Contexts: what is looked into, and what is remembered of each statement.

A context is a subclass of `Context` that overrides some of its methods and calls `super()` for the rest. `compose(A(), B())`
is both: the methods of `A` come first, and what `super()` leads to in `A` is `B`.

    class Named(Context):
        def tracked_primitive(self, call):
            node = super().tracked_primitive(call)
            node.metadata["name"] = ...
            return node
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.binding import Binding, bind
from microgradpy.runtime.frames import call_as_user
from microgradpy.tracking.callees import NO_RESULT, Target, is_library, target_of
from microgradpy.tracking.control_flow import JumpNode, ReturnNode
from microgradpy.tracking.data_flow import ArgumentNode, ConstantNode, PrimitiveCallNode
from microgradpy.tracking.nodes import CallNode, NestedCallNode, Node, Reference, TapeValue
from microgradpy.tracking.recording import Frame, Run, frame_of
from microgradpy.tracking.sites import CallSite
from microgradpy.tracking.snapshots import is_atom
from microgradpy.tracking.values import BINARY, OF_OPERATORS, Constant, describe, owner_of

_MISSING: Any = object()
_COMPARISONS = ("<=", ">=", "==", "!=")
_IN_PLACE = {id(function) for sign, function in BINARY.items() if sign[-1] == "=" and sign not in _COMPARISONS}
_IN_PLACE |= {id(operator.setitem), id(operator.delitem)}
_READING = frozenset(
    id(getattr(builtins, name))
    for name in "abs bool callable chr complex dict divmod float format frozenset getattr hasattr hash id int isinstance "
    "issubclass len list max min ord pow range repr reversed round set slice sorted str sum tuple type zip enumerate".split()
)


@final
class Call:
    """A call that is about to be made: what is called, `f`, with `args` and `kwargs`; and as what they are on the tape,
    `function`, `arguments` and `keywords`. `level` counts calls from the tracked function, which has 1."""

    __slots__ = (
        *("_target", "args", "arguments", "f", "frame", "function", "hooks", "keywords", "kwargs", "level", "recorded"),
        *("run", "site"),
    )

    def __init__(
        self,
        frame: Frame | None,
        site: CallSite | None,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        run: Run,
        hooks: Hooks,
    ) -> None:
        self.frame, self.site, self.f, self.args, self.kwargs, self.run, self.hooks = frame, site, f, args, kwargs, run, hooks
        self._target: Target | None = _MISSING
        self.recorded: CallNode | None = None  # the node of this call, where it was left by an exception
        self.level = 1 if frame is None else frame.level + 1
        if frame is None or site is None:
            self.function: TapeValue = Constant(f, describe(f))
            self.arguments: tuple[TapeValue, ...] = tuple(Constant(arg, describe(arg)) for arg in args)
            self.keywords: tuple[tuple[str, TapeValue], ...] = tuple(
                (name, Constant(value, describe(value))) for name, value in kwargs.items()
            )
        else:
            self.function = frame.value(site.function)
            self.arguments = frame.operands(site.arguments)
            self.keywords = tuple([(name, frame.value(operand)) for name, operand in site.keywords])

    def operands(self) -> Iterator[TapeValue]:
        """What is called, and with what."""
        yield from (self.function, *self.arguments, *(value for _, value in self.keywords))

    @property
    def target(self) -> Target | None:
        """The function with a text that the call runs, if it runs one."""
        if self._target is _MISSING:
            self._target = target_of(self.f, self.args, self.kwargs)
        return self._target

    @property
    def location(self) -> Any:
        return None if self.site is None else self.site.location

    def following(self, context: Context) -> Context | None:
        """The context after one, in those that were composed."""
        return self.hooks.following(context)

    def inside(self, context: Context, other: Context) -> None:
        """Let `other` stand for `context` in what is called."""
        self.hooks = self.hooks.with_other(context, other)


class Context:
    """Looks into every function that has a text, those of libraries excepted, and remembers nothing more."""

    def can_recur(self, call: Call) -> bool:
        """Whether a call is looked into. What has no text in Python never is, whatever the answer."""
        following = call.following(self)
        if following is not None:
            return following.can_recur(call)
        return call.target is not None and not is_library(call.target.function)

    def tracked_call(self, call: Call) -> CallNode:
        """Make a call, and return its node: by `tracked_nested` or `tracked_primitive`."""
        following = call.following(self)
        if following is not None:
            return following.tracked_call(call)
        if call.hooks.can_recur(call) and call.target is not None:
            return call.hooks.tracked_nested(call)
        return call.hooks.tracked_primitive(call)

    def tracked_nested(self, call: Call) -> CallNode:
        """Make a call that is looked into."""
        following = call.following(self)
        return record_nested_call(call) if following is None else following.tracked_nested(call)

    def tracked_primitive(self, call: Call) -> CallNode:
        """Make a call that is not looked into."""
        following = call.following(self)
        return record_primitive_call(call) if following is None else following.tracked_primitive(call)

    def tracked_argument(self, node: ArgumentNode) -> None:
        """An argument of a function or of a block was recorded."""
        if (following := _following(self, node)) is not None:
            following.tracked_argument(node)

    def tracked_constant(self, node: ConstantNode) -> None:
        """A module variable was read."""
        if (following := _following(self, node)) is not None:
            following.tracked_constant(node)

    def tracked_special(self, node: CallNode) -> None:
        """A statement that calls nothing was executed, such as the making of a tuple."""
        if (following := _following(self, node)) is not None:
            following.tracked_special(node)

    def tracked_jump(self, node: JumpNode) -> None:
        """Control went to another block."""
        if (following := _following(self, node)) is not None:
            following.tracked_jump(node)

    def tracked_return(self, node: ReturnNode) -> None:
        """A function returns."""
        if (following := _following(self, node)) is not None:
            following.tracked_return(node)

    def tracked_error(self, node: CallNode, error: BaseException) -> None:
        """An exception left a call; it goes on its way afterwards."""
        if (following := _following(self, node)) is not None:
            following.tracked_error(node, error)


def _following(context: Context, node: Node) -> Context | None:
    frame = None if node.parent is None else frame_of(node.parent)
    return None if frame is None else hooks_of(frame).following(context)


class DepthLimitContext(Context):
    """Looks into calls down to a level: with 1 only into the tracked function, with 2 into what it calls, ..."""

    def __init__(self, max_level: int) -> None:
        self.max_level = max_level

    def can_recur(self, call: Call) -> bool:
        return call.level <= self.max_level and super().can_recur(call)


@final
class Composed:
    """Several contexts, the outermost first."""

    def __init__(self, contexts: tuple[Context, ...]) -> None:
        self.contexts = contexts


def compose(*contexts: Context | Composed) -> Composed:
    """Several contexts as one: a method of the first is asked first, and gets to the next by `super()`."""
    found = [one for context in contexts for one in contexts_of(context)]
    if len(set(map(id, found))) != len(found):
        raise ValueError("one context is composed with itself: make another object of its class")
    return Composed(tuple(found))


def contexts_of(context: Context | Composed | None) -> tuple[Context, ...]:
    """The contexts that one consists of, the plain one if there is none."""
    if isinstance(context, Context):
        return (context,)
    if context is None or isinstance(context, Composed):
        return (context and context.contexts) or (Context(),)
    raise TypeError(f"{context!r} is no context: give an object of a subclass of Context, or what compose() returns")


def _nothing(*_: Any) -> None:
    return None


_NAMES = tuple(name for name in vars(Context) if name.startswith("tracked_") or name == "can_recur")
_OF_NODES = ("tracked_argument", "tracked_constant", "tracked_special", "tracked_jump", "tracked_return", "tracked_error")


@final
class Hooks:
    """The methods of contexts, found once: of each the first context that has its own."""

    can_recur: Callable[[Call], bool]
    tracked_call: Callable[[Call], CallNode]
    tracked_nested: Callable[[Call], CallNode]
    tracked_primitive: Callable[[Call], CallNode]
    tracked_argument: Callable[[ArgumentNode], None]
    tracked_constant: Callable[[ConstantNode], None]
    tracked_special: Callable[[CallNode], None]
    tracked_jump: Callable[[JumpNode], None]
    tracked_return: Callable[[ReturnNode], None]
    tracked_error: Callable[[CallNode, BaseException], None]

    def __init__(self, contexts: tuple[Context, ...], run: Run) -> None:
        self.contexts, self.run = contexts, run
        last = contexts[-1]
        for name in _NAMES:
            own = next((one for one in contexts if getattr(type(one), name) is not getattr(Context, name)), None)
            default = _nothing if name in _OF_NODES else getattr(last, name)
            setattr(self, name, default if own is None else getattr(own, name))

    def call(self, frame: Frame, site: CallSite, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        return Call(frame, site, f, args, kwargs, self.run, self)

    def following(self, context: Context) -> Context | None:
        """The next context that is not the plain one."""
        contexts = self.contexts
        for index, one in enumerate(contexts[:-1]):
            if one is context:
                return contexts[index + 1]
        return None

    def with_other(self, context: Context, other: Context) -> Hooks:
        return Hooks(tuple(other if one is context else one for one in self.contexts), self.run)

    def tracked_primitive_node(self, node: CallNode) -> None:
        """The steps of a `for` are special: nothing could be called in another way."""
        self.tracked_special(node)


def hooks_of(frame: Frame) -> Hooks:
    """The contexts that a frame tells of what it records."""
    assert isinstance(frame.hooks, Hooks)
    return frame.hooks


_SETTERS = (setattr, delattr, operator.setitem, type.__setattr__, type.__delattr__)


def record_primitive_call(call: Call) -> CallNode:
    """Make a call without looking into it. What it writes into its arguments is noted."""
    node = PrimitiveCallNode(call.location, call.function, call.arguments, call.keywords)
    writable = _writable(call)
    frame, run = call.frame, call.run
    if any(call.f is setter for setter in _SETTERS) and is_atom(call.args[0]):
        run.assign(f"{node.text().partition(' → ')[0]} changes {describe(call.args[0])}")
    if frame is not None and run.writers:
        owner = owner_of(call.f)
        operands = (call.function, call.function, *call.arguments, *(value for _, value in call.keywords))
        node.after = frame.writers_of(operands, (call.f, owner, *call.args, *call.kwargs.values()))
    before = [run.snapshots.take(value) for _, value in writable]
    try:
        live = call_as_user(call.f, call.args, call.kwargs)
    except BaseException as error:
        _note_error(call, node, error)
        raise
    if writable:
        _note_writes(call, node, writable, before)
    run.keep(node, live)
    return node


def _note_error(call: Call, node: CallNode, error: BaseException) -> None:
    node.error, call.recorded = error, node
    if call.frame is not None and node.parent is None:
        call.frame.add(node)
    call.hooks.tracked_error(node, error)


def _writable(call: Call) -> list[tuple[int, Any]]:
    """The values that a call might write into, with their positions on the tape."""
    f = call.f
    if id(f) in _IN_PLACE:
        found = [(1, call.args[0])]
    elif isinstance(f, np.ufunc):
        found = [(position, value) for position, value in enumerate(call.args, 1) if position > f.nin]
        found += [(-1, value) for value in (call.kwargs.get("out"),) if value is not None]
    elif _only_reads(f):
        return []
    else:
        found = [(0, owner_of(f)), *enumerate(call.args, 1), *((-1, value) for value in call.kwargs.values())]
    return [(position, value) for position, value in found if not is_atom(value)]


def _only_reads(f: Any) -> bool:
    return id(f) in OF_OPERATORS or id(f) in _READING


def _note_writes(call: Call, node: CallNode, writable: list[tuple[int, Any]], before: list[Any]) -> None:
    changes = []
    for (position, value), earlier in zip(writable, before, strict=True):
        now = call.run.snapshots.take(value)
        if now is not earlier:
            changes.append((max(position, 0), now))
            for shown in _shown(value):
                call.run.writers[id(shown)] = node
    node.changes = tuple(changes)


def _shown(value: Any) -> Iterator[Any]:
    """A value, and the arrays that it is a view of."""
    while value is not None:
        yield value
        value = value.base if isinstance(value, np.ndarray) else None


def record_nested_call(call: Call) -> CallNode:
    """Make a call, and record what is executed in it."""
    target = call.target
    if target is None:
        return record_primitive_call(call)
    bound = bind(target.function, target.args, dict(target.kwargs))
    node = NestedCallNode(call.location, call.function, call.arguments, call.keywords, call.run, target.code.ir)
    node.given = _given(call, target, bound)
    if target.code.assigns:
        call.run.assign(f"{target.function.__qualname__} assigns the module variable {target.code.assigns}")
    former = None
    if call.frame is not None:
        if call.run.writers:
            node.after = call.frame.writers_of((call.function, *call.arguments), (call.f, *call.args))
        call.frame.add(node)
        former = None if call.frame.former is None else call.frame.former.inner(target.code)
    frame = Frame(node, target.code, call.run, call.hooks, former)
    try:
        live = target.code.run(frame, *frame.begin(target.function, bound.values))
    except BaseException as error:
        _note_error(call, node, error)
        raise
    finally:
        frame.refs.clear()
    if target.made is not NO_RESULT:
        live = target.made
    call.run.keep(node, live)
    return node


def _given(call: Call, target: Target, bound: Binding) -> tuple[TapeValue | None, ...]:
    """What the caller gave for each parameter: the function itself, then in their order."""
    count = len(bound.values) - bound.captured
    given: list[TapeValue | None] = [call.function, *[None] * count]
    owner = call.function if target.shift and isinstance(call.function, Reference) else None
    for position in range(bound.positions):
        if position < target.shift:
            given[position + 1] = owner
        elif position - target.shift < len(call.arguments):
            given[position + 1] = call.arguments[position - target.shift]
    keywords = dict(call.keywords)
    for name, index in bound.names.items():
        if name in keywords and index >= bound.captured:
            given[index - bound.captured + 1] = keywords[name]
    return tuple(given)
