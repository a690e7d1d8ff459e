"""The callables that the compiler treats by themselves; filled by the modules that define them."""

from __future__ import annotations

from typing import Any

NESTED_DIFFERENTIATION: set[Any] = set()
"""Callables that differentiate (`gradient`, `pullback` ...): refused inside differentiated code."""
