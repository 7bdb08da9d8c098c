"""Whether a table fits into memory: asked before it is allocated."""

import os
from pathlib import Path

from factorcomp.models.errors import InputError

try:
    import resource
except ImportError:  # Windows has no resource limits
    resource = None


def available() -> int | None:
    """The bytes that this process may still allocate, as far as the system says; `None` if it says nothing.

    The smallest of what is available on the machine (Linux; elsewhere the physical memory), the limit of the address
    space (`ulimit -v`) and that of the container (cgroup v2).
    """
    limits = [_machine(), _address_space(), _container()]
    return min((limit for limit in limits if limit is not None), default=None)


def require(needed: int, name: str, what: str) -> None:
    """Raises `InputError` if `needed` bytes are more than there are; `what` takes them, for the input `name`."""
    limit = available()
    if limit is not None and needed > limit:
        raise InputError(f"{name}: {what} takes {size(needed)}; there are {size(limit)} of memory")


def size(count: int) -> str:
    """Bytes for a reader.

    >>> size(999), size(1_500_000), size(8 * 50**12)
    ('999 bytes', '1.5 MB', '1.95e+12 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}" if count < 10**300 else f"more than 1e+290 {name}"
    return f"{count} bytes"


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _address_space() -> int | None:
    if resource is None or (soft := resource.getrlimit(resource.RLIMIT_AS)[0]) == resource.RLIM_INFINITY:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        used = 0
    return max(soft - used, 0)


def _container() -> int | None:
    try:
        folder = Path("/sys/fs/cgroup")
        return max(int((folder / "memory.max").read_text()) - int((folder / "memory.current").read_text()), 0)
    except (OSError, ValueError):  # no cgroup v2, or "max"
        return None
