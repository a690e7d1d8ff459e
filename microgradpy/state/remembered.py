"""Functions with an `lru_cache` in runs that track writes.

The cache of such a function has values, and nobody knows how they were computed. So a run has a cache of its own: within it
each value is computed once, as the user's function would, and who reads it again adds to the same cotangent. The cache that
the function has is neither read nor filled, but where no derivative can flow.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Bars, Resolve, Resolved
from microgradpy.state.persistent import reads_state
from microgradpy.state.shadows import Shadows
from microgradpy.state.whole import whole_run
from microgradpy.tangents.types import Tangent, accumulate


def by_cache(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call of a function with an `lru_cache` through which a derivative may flow, or one that clears its cache; None for any
    other."""
    is_method = isinstance(f, types.BuiltinMethodType) and type(f.__self__) is functools._lru_cache_wrapper
    if is_method and f.__name__ == "cache_clear":
        f(*args, **kwargs)
        cache, order = _memory_of(f.__self__)
        order.clear()
        return resolve(dict.clear, (cache,), {})
    if type(f) is not functools._lru_cache_wrapper:
        return None
    if not (any(map(may_be_active, (*args, *kwargs.values()))) or reads_state(f)):
        return None
    options = f.cache_parameters()
    (cache, order), key = _memory_of(f), _key(args, kwargs, options["typed"])
    if key in cache and options["maxsize"] != 0:
        order.remove(key)
        order.append(key)
        y, read_back = resolve(operator.getitem, (cache, key), {})
        return y, lambda y_bar, shadows: (read_back(y_bar, shadows), Bars(None, (None,) * len(args), {}))[1]
    y, back = resolve(f.__wrapped__, args, kwargs)
    maxsize: int | None = options["maxsize"]
    is_full = maxsize is not None and 0 < maxsize <= len(order)
    evict_back = resolve(operator.delitem, (cache, order.pop(0)), {})[1] if is_full else None
    _, store_back = resolve(operator.setitem, (cache, key, y), {})
    order.append(key)

    def cache_back(y_bar: Any, shadows: Shadows) -> Bars:
        d = accumulate(y_bar, store_back(None, shadows).arguments[2])
        if evict_back is not None:
            evict_back(None, shadows)
        bars = back(d, shadows)
        own = shadows.settle(f.__wrapped__, bars.function)
        return Bars(None if own is None else Tangent(type(f), {"__wrapped__": own}), bars.arguments, bars.keywords)

    return y, cache_back


def _memory_of(f: Any) -> tuple[dict[Any, Any], list[Any]]:
    """The cache that a function has in this run, and its keys in the order of their use."""
    whole = whole_run()
    assert whole is not None
    _, cache, order = whole.caches.setdefault(id(f), (f, {}, []))
    return cache, order


def _key(args: tuple[Any, ...], kwargs: dict[str, Any], typed: bool) -> Any:
    """Calls with the same key have one value: `lru_cache` takes a single number or text as it is, and does not compare it with
    numbers of other types."""
    if not kwargs and not typed and len(args) == 1 and type(args[0]) in (int, str):
        return args[0]
    classes = tuple(map(type, (*args, *kwargs.values()))) if typed else ()
    return args, tuple(kwargs.items()), classes
