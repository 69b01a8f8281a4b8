"""The experiments by name: where each is kept, and how it is made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gridportal.experiments import loadtraffic, skeletons, slowdown, telemetry
from gridportal.experiments.engine import Experiment, Found, failed, succeeded
from gridportal.experiments.laboratory import Laboratories, laboratories

NAMES = ("slowdown", "loadtraffic", "skeletons", "telemetry")
#: How long each takes on two cores, unless it is to take a night.
TAKES = {
    "slowdown": "about 10 minutes",
    "loadtraffic": "about half an hour",
    "skeletons": "about 45 minutes",
    "telemetry": "about 6 minutes",
}

#: Of seeds; more of them are not needed, and fit nowhere.
MOST_SEEDS = 2**31 - 1


def is_plan(plan: Mapping[str, Any]) -> bool:
    """Whether it is what an experiment writes into its folder first."""
    seed, full = plan.get("seed"), plan.get("full")
    return plan.get("name") in NAMES and type(seed) is int and 0 <= seed <= MOST_SEEDS and isinstance(full, bool)


def base_folder() -> Path:
    """Where experiments lie when nothing else is said: below GRIDPORTAL_HOME."""
    home = os.environ.get("GRIDPORTAL_HOME")
    return (Path(home) if home else Path(__file__).resolve().parents[2] / "var") / "experiments"


def folder_of(base: Path, name: str, seed: int, *, full: bool) -> Path:
    """Where the trials of one go in `base`."""
    return base / f"{name}-{seed}{'-full' if full else ''}"


@contextmanager
def made(name: str, seed: int, folder: Path, *, full: bool) -> Iterator[Experiment]:
    """The experiment with Grids of its own."""
    with laboratories(folder) as labs:
        yield _made(name, seed, folder, labs, full=full)


def _made(name: str, seed: int, folder: Path, labs: Laboratories | None, *, full: bool) -> Experiment:
    if name == "telemetry":
        return telemetry.Telemetry(40 if full else 10, seed, labs)
    if name == "loadtraffic":
        scale = loadtraffic.FULL if full else loadtraffic.SCALED
        return loadtraffic.LoadTraffic(scale, seed, folder, labs)
    if name == "skeletons":
        return skeletons.Skeletons(skeletons.FULL if full else skeletons.SCALED, seed, folder, labs)
    return slowdown.Slowdown(slowdown.FULL if full else slowdown.SCALED, seed, folder, labs)


def count(name: str, seed: int, folder: Path, *, full: bool) -> int:
    """How many trials it has, without any Grid."""
    return len(_made(name, seed, folder, None, full=full).trials())


def summary(name: str, seed: int, folder: Path, done: Mapping[str, Found], *, full: bool) -> dict[str, Any]:
    """The result of the trials so far, without any Grid."""
    found = _made(name, seed, folder, None, full=full).summarize(succeeded(done))
    return {**found, "failed": failed(done)}
