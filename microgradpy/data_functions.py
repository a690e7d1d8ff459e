"""The functions of classes of data for each number of fields, to which `dataclasses` gives the names that a class has: `s0`
sets the first field, for objects that cannot be assigned to. They are written out because compiling texts would cost more than
all the rest of making a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Put = Callable[[Any, Any], None]


def init_0() -> Any:
    def __init__(self: Any) -> None:
        pass

    return __init__


def init_1(s0: Put) -> Any:
    def __init__(self: Any, a0: Any) -> None:
        s0(self, a0)

    return __init__


def init_2(s0: Put, s1: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any) -> None:
        s0(self, a0)
        s1(self, a1)

    return __init__


def init_3(s0: Put, s1: Put, s2: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)

    return __init__


def init_4(s0: Put, s1: Put, s2: Put, s3: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)

    return __init__


def init_5(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)

    return __init__


def init_6(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put, s5: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)
        s5(self, a5)

    return __init__


def init_7(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put, s5: Put, s6: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)
        s5(self, a5)
        s6(self, a6)

    return __init__


def init_8(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put, s5: Put, s6: Put, s7: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)
        s5(self, a5)
        s6(self, a6)
        s7(self, a7)

    return __init__


def init_9(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put, s5: Put, s6: Put, s7: Put, s8: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)
        s5(self, a5)
        s6(self, a6)
        s7(self, a7)
        s8(self, a8)

    return __init__


def init_10(s0: Put, s1: Put, s2: Put, s3: Put, s4: Put, s5: Put, s6: Put, s7: Put, s8: Put, s9: Put) -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any) -> None:
        s0(self, a0)
        s1(self, a1)
        s2(self, a2)
        s3(self, a3)
        s4(self, a4)
        s5(self, a5)
        s6(self, a6)
        s7(self, a7)
        s8(self, a8)
        s9(self, a9)

    return __init__


def assigned_0() -> Any:
    def __init__(self: Any) -> None:
        pass

    return __init__


def assigned_1() -> Any:
    def __init__(self: Any, a0: Any) -> None:
        self.a0 = a0

    return __init__


def assigned_2() -> Any:
    def __init__(self: Any, a0: Any, a1: Any) -> None:
        self.a0 = a0
        self.a1 = a1

    return __init__


def assigned_3() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2

    return __init__


def assigned_4() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3

    return __init__


def assigned_5() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4

    return __init__


def assigned_6() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4
        self.a5 = a5

    return __init__


def assigned_7() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4
        self.a5 = a5
        self.a6 = a6

    return __init__


def assigned_8() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4
        self.a5 = a5
        self.a6 = a6
        self.a7 = a7

    return __init__


def assigned_9() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4
        self.a5 = a5
        self.a6 = a6
        self.a7 = a7
        self.a8 = a8

    return __init__


def assigned_10() -> Any:
    def __init__(self: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any) -> None:
        self.a0 = a0
        self.a1 = a1
        self.a2 = a2
        self.a3 = a3
        self.a4 = a4
        self.a5 = a5
        self.a6 = a6
        self.a7 = a7
        self.a8 = a8
        self.a9 = a9

    return __init__


def compared_0() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return () == () if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(())

    return __eq__, __hash__


def compared_1() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (self.a0,) == (other.a0,) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash((self.a0,))

    return __eq__, __hash__


def compared_2() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (self.a0, self.a1) == (other.a0, other.a1) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1))

    return __eq__, __hash__


def compared_3() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2) == (other.a0, other.a1, other.a2)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2))

    return __eq__, __hash__


def compared_4() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2, self.a3) == (other.a0, other.a1, other.a2, other.a3)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2, self.a3))

    return __eq__, __hash__


def compared_5() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2, self.a3, self.a4) == (other.a0, other.a1, other.a2, other.a3, other.a4)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2, self.a3, self.a4))

    return __eq__, __hash__


def compared_6() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2, self.a3, self.a4, self.a5)
            == (other.a0, other.a1, other.a2, other.a3, other.a4, other.a5)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2, self.a3, self.a4, self.a5))

    return __eq__, __hash__


def compared_7() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6)
            == (other.a0, other.a1, other.a2, other.a3, other.a4, other.a5, other.a6)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6))

    return __eq__, __hash__


def compared_8() -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return (
            (self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6, self.a7)
            == (other.a0, other.a1, other.a2, other.a3, other.a4, other.a5, other.a6, other.a7)
            if other.__class__ is self.__class__
            else NotImplemented
        )

    def __hash__(self: Any) -> int:
        return hash((self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6, self.a7))

    return __eq__, __hash__


INITS = (init_0, init_1, init_2, init_3, init_4, init_5, init_6, init_7, init_8, init_9, init_10)
ASSIGNMENTS = (
    assigned_0,
    assigned_1,
    assigned_2,
    assigned_3,
    assigned_4,
    assigned_5,
    assigned_6,
    assigned_7,
    assigned_8,
    assigned_9,
    assigned_10,
)
COMPARISONS = (
    compared_0,
    compared_1,
    compared_2,
    compared_3,
    compared_4,
    compared_5,
    compared_6,
    compared_7,
    compared_8,
)
