"""Every kind of syntax of the running Python is shown by a program that is differentiated or refused."""

from __future__ import annotations

import ast
import copy
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import gradient, pullback
from microgradpy.compiler import always_dispatch
from tests import finite_differences as fd
from tests.generated_text import assert_is_as_generated
from tests.syntax_corpus import COMMAND, PAGE, Entry, entries, page

RUNNING = [entry for entry in entries() if sys.version_info >= entry.since]

# Bases whose direct subclasses are kinds of syntax, and the kinds that have none.
FAMILIES = ["stmt", "expr", "pattern", "boolop", "operator", "unaryop", "cmpop", "excepthandler", "expr_context", "type_param"]
SINGLE = ["comprehension", "arguments", "arg", "keyword", "alias", "withitem", "match_case"]


def function_of(entry: Entry) -> Callable[..., Any]:
    """The function `f` of the entry's program, in a module whose text can be found."""
    name = f"<{entry.id}>"
    linecache.cache[name] = (len(entry.text), None, entry.text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "syntax_corpus_program"}
    exec(compile(entry.text, name, "exec", dont_inherit=True), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def kinds_of_syntax() -> Iterator[str]:
    """The names of the classes of `ast` that stand for syntax, without those kept for old programs only."""
    for name in FAMILIES:
        for kind in getattr(ast, name, type).__subclasses__() if hasattr(ast, name) else ():
            if kind.__module__ == "ast" and kind.__name__ not in DEPRECATED:
                yield kind.__name__
    yield from SINGLE


DEPRECATED = {"AugLoad", "AugStore", "Param", "Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"}


def test_every_kind_of_syntax_has_a_program() -> None:
    shown = {kind for entry in RUNNING for kind in entry.shows}
    assert not set(kinds_of_syntax()) - shown
    assert not shown - set(kinds_of_syntax())


@pytest.mark.parametrize("entry", RUNNING, ids=str)
def test_a_program_shows_what_it_says(entry: Entry) -> None:
    found = {type(node).__name__ for node in ast.walk(ast.parse(entry.text))}
    assert set(entry.shows) <= found


@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
@pytest.mark.parametrize("entry", [entry for entry in RUNNING if entry.refused is None], ids=str)
def test_what_is_differentiated(entry: Entry, dispatched: bool) -> None:
    function = function_of(entry)
    expected = function(*copy.deepcopy(entry.args))
    with always_dispatch() if dispatched else nullcontext():
        y, back = pullback(function, *copy.deepcopy(entry.args))
        cotangents = back(1.0)[1:]
    assert repr(y) == repr(expected)
    differences = fd.differences(lambda *args: function(*copy.deepcopy(args)), entry.args)
    assert np.any(differences), "the program has nothing to differentiate"
    np.testing.assert_allclose(fd.flatten_cotangent(entry.args, cotangents), differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("entry", [entry for entry in RUNNING if entry.refused is not None], ids=str)
def test_what_is_refused(entry: Entry) -> None:
    assert entry.refused is not None
    with pytest.raises(entry.refused.error) as caught:
        gradient(function_of(entry), *copy.deepcopy(entry.args))
    message = str(caught.value)
    assert all(word.lower() in message.lower() for word in entry.refused.words.split()), message
    assert caught.value.remedy
    assert f"<{entry.id}>:" in message or entry.id == "no text"


def test_the_page_is_that_of_the_table() -> None:
    assert_is_as_generated(PAGE, page(), COMMAND)


def test_names_are_unique() -> None:
    names = [entry.id for entry in entries()]
    assert len(set(names)) == len(names)
