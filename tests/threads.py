"""Work that is done by several threads at once, which take turns as often as they can."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable


def at_once(work: Callable[[int], None], count: int) -> None:
    """Call `work` with the numbers from 0 up to `count`, each in a thread of its own, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
