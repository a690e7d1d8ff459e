"""Run-time algebra of cotangents: their types, their sum, and their projection onto the values they belong to."""

from __future__ import annotations

from microgradpy.tangents.arithmetic import add_item as add_item
from microgradpy.tangents.arithmetic import conj as conj
from microgradpy.tangents.arithmetic import divide as divide
from microgradpy.tangents.arithmetic import field_cotangent as field_cotangent
from microgradpy.tangents.arithmetic import item_cotangent as item_cotangent
from microgradpy.tangents.arithmetic import own as own
from microgradpy.tangents.arithmetic import unbroadcast as unbroadcast
from microgradpy.tangents.arithmetic import zero_cotangent as zero_cotangent
from microgradpy.tangents.types import NoTangent as NoTangent
from microgradpy.tangents.types import Tangent as Tangent
from microgradpy.tangents.types import ZeroTangent as ZeroTangent
from microgradpy.tangents.types import accumulate as accumulate
from microgradpy.tangents.types import is_structural_zero as is_structural_zero
