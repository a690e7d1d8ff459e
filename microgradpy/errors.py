"""One class per way in which microgradpy refuses. The words of a message are where it is raised."""

from __future__ import annotations


class DifferentiationError(Exception):
    """Base of every refusal. The message says what was found, where in the user's file, and what to do instead."""

    def __init__(self, found: str, where: object = None, remedy: str = "") -> None:
        self.found = found
        self.where = where
        self.remedy = remedy
        super().__init__(self._message())

    def locate(self, where: object) -> None:
        """Say where it was found, if that was not known when it was raised."""
        self.where = where
        self.args = (self._message(),)

    def _message(self) -> str:
        place = f"\n  at {self.where}" if self.where else ""
        advice = f"\n  {self.remedy}" if self.remedy else ""
        return f"{self.found}{place}{advice}"


class UnsupportedSyntaxError(DifferentiationError):
    """A statement or expression that cannot be differentiated yet."""


class MissingRuleError(DifferentiationError):
    """A callee with neither a rule nor readable source was reached with active data."""


class MutationError(DifferentiationError):
    """An in-place write whose gradient would be wrong."""


class SourceNotFoundError(DifferentiationError):
    """The text of a function cannot be found, or is not the code that runs."""


class CotangentShapeError(DifferentiationError):
    """A seed, or a cotangent a rule returned, does not have the structure and shape of its primal value."""


class NonScalarOutputError(DifferentiationError):
    """`gradient` was asked of a function that does not return a real scalar."""


class AnomalyError(DifferentiationError, FloatingPointError):
    """A NaN or an infinity, where it came up for the first time inside of `detect_anomaly`. No refusal: the program itself
    makes it, or its derivative does."""


class PerformanceWarning(UserWarning):
    """Something was asked for that makes a derivative faster, and is not possible for this one."""


class CompilerBug(Exception):
    """A failed internal check: never the user's fault. Please report it with the function that caused it."""

    def __str__(self) -> str:
        return f"{super().__str__()}\n  This is a bug in microgradpy. Please report it, with the function that caused it."
