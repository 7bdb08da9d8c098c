"""The memory that a piece of work takes at its highest, beyond what the process held before (Linux; elsewhere `None`).

The kernel keeps the highest resident size of a process (`VmHWM`) and forgets it when 5 is written to `clear_refs`.
"""

import ctypes
import gc
from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """From its making on: `megabytes()` is the peak so far beyond what was held then."""

    def __init__(self):
        gc.collect()
        _give_back()
        try:
            FORGET.write_text("5")
            self.before: int | None = _kilobytes("VmRSS")
        except OSError:
            self.before = None

    def megabytes(self) -> float | None:
        """10^6 bytes; `None` where the system does not say."""
        if self.before is None:
            return None
        return max(0, _kilobytes("VmHWM") - self.before) * 1024 / 1e6


def _kilobytes(field: str) -> int:
    """A field of the process's status; raises `OSError` where there is none."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise OSError(f"{STATUS} has no {field}")


def _give_back() -> None:
    """Freed memory returns to the system: what an earlier work left behind must not hide what this one takes."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library than glibc
        return
