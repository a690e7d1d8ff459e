"""A page that shows what is made of a function, line by line: `explain(f, *args)` returns it as HTML."""

from __future__ import annotations

from microgradpy.explaining.page import explain as explain
from microgradpy.explaining.page import explained as explained
