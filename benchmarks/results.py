"""Everything that one run measured, with versions and machine: written as data, for the figures."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import engines
from benchmarks.engine import Task, installed
from benchmarks.floor import cores
from benchmarks.measurement import Absent, Measurement
from benchmarks.workloads import Size

SCHEMA = "factorcomp-benchmarks/1"


@dataclass
class Results:
    """The measurements of one run on one machine.

    **Fields:** `bandwidth`: bytes per second by way of measuring, each the best so far. `start_up`, `finite_state`,
    `on_the_fly`, `processes`: what the modules of these names return.
    """

    subject: str
    bandwidth: dict[str, float] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    start_up: dict[str, float] = field(default_factory=dict)
    finite_state: list[dict[str, Any]] = field(default_factory=list)
    on_the_fly: list[dict[str, Any]] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=lambda: machine())
    versions: dict[str, str] = field(default_factory=lambda: versions())
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def faster(self, bandwidth: dict[str, float]) -> None:
        """Notes a bandwidth, where it is the best so far."""
        for way, found in bandwidth.items():
            self.bandwidth[way] = max(found, self.bandwidth.get(way, 0.0))

    def floor_s(self, size: Size) -> float:
        """The seconds in which the three tables of a size can be read once."""
        return tables_bytes(*size) / max(self.bandwidth.values())

    def of(self, engine: str, task: Task, size: Size) -> Measurement | None:
        """The measurement, if there is one."""
        keys = (engine, task, *size)
        return next((m for m in self.measurements if (m.engine, m.task, m.vocab, m.length) == keys), None)

    def failed(self, engine: str, size: Size) -> bool:
        """Whether the engine was asked about this size, and gave no answer."""
        return any(a.asked and (a.engine, a.vocab, a.length) == (engine, *size) for a in self.absent)

    @property
    def sizes(self) -> Sequence[Size]:
        """Those that were measured, in their order."""
        return list(dict.fromkeys((m.vocab, m.length) for m in (*self.measurements, *self.absent)))

    def write(self, path: Path) -> None:
        """As JSON, with the floors."""
        floors = [
            {"vocab": v, "length": t, "bytes": tables_bytes(v, t), "seconds": self.floor_s((v, t))}
            for v, t in self.sizes
        ]
        text = json.dumps({"schema": SCHEMA, **asdict(self), "floors": floors}, indent=1, allow_nan=False)
        path.write_text(text + "\n")


def tables_bytes(vocab: int, length: int) -> int:
    """Of three tables of float64."""
    return 3 * 8 * sum(vocab ** (t + 1) for t in range(length))


def versions() -> dict[str, str]:
    """Of Python, and of every package that an engine names and that is installed."""
    packages = dict.fromkeys(name for engine in engines.ENGINES for name in engine.packages)
    found = {name: version for name in packages if (version := installed(name))}
    return {"python": platform.python_version(), **found}


def machine() -> dict[str, Any]:
    """What a reader needs to judge absolute times."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    return {
        "processor": _processor(),
        "cores": cores(),
        "memory_gb": memory and round(memory / 1e9, 1),
        "system": platform.system(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
