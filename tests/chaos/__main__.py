"""`python -m tests.chaos --minutes 5 --seed 1 --kind both`: what `make chaos` runs. Exit code 1 on any violation."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.chaos import clock, report, world

_KINDS = ("production", "embedded")
#: A production set in which jobs are moved all the while; only when it is asked for.
_MOVE = "move"
_TAKEN_AT_MOST = 2400.0  # seconds beside the disturbances: coming up, settling, going down


def main() -> int:
    """Run each kind in namespaces of its own, show how it goes, and tell what came of it."""
    asked = _arguments()
    console = Console(stderr=asked.json, soft_wrap=True, highlight=False)
    if os.geteuid() != 0:
        console.print("This needs root: it mounts file systems, and PostgreSQL runs as a person of its own.")
        return 2
    if clock.compiler() is None:
        console.print("Note: there is no C compiler, so no clock is moved; apt-get install gcc.")
    folder = world.CHECKOUT / "var" / "chaos" / time.strftime("%Y%m%d-%H%M%S")
    kinds = _KINDS if asked.kind == "both" else (asked.kind,)
    console.print(f"Everything is logged to {folder}.")
    runs = [_Run(kind, asked, folder / kind, console) for kind in kinds]
    for run in runs:
        run.start()
        if asked.in_turn:
            run.join()
    for run in runs:
        run.join()
    reports = [run.report for run in runs if run.report]
    for each in reports:
        report.show(each, console)
    if asked.json:
        sys.stdout.write(json.dumps({"runs": reports}) + "\n")
    if len(reports) < len(runs):
        return 2
    return 1 if any(each["violations"] for each in reports) else 0


class _Run(threading.Thread):
    """One kind of portal: a process in its own namespaces, whose lines are shown and kept."""

    def __init__(self, kind: str, asked: argparse.Namespace, folder: Path, console: Console) -> None:
        super().__init__(daemon=True)
        self.folder, self.console = folder, console
        self.seconds = 60 * asked.minutes
        self.argv = ["tests.chaos.inside", kind, str(asked.seed), str(self.seconds), str(folder), *asked.only]
        self.report: dict[str, Any] | None = None

    def run(self) -> None:
        self.folder.mkdir(parents=True)
        output = self.folder / "progress.log"
        with output.open("wb") as log:
            process = world.enter(self.argv, log.fileno())
            until = time.monotonic() + self.seconds + _TAKEN_AT_MOST
            shown = 0
            while process.poll() is None and time.monotonic() < until:
                shown = self._show(output, shown)
                time.sleep(0.5)
            self._show(output, shown)
            _end(process)
        if (path := self.folder / "report.json").exists():
            self.report = json.loads(path.read_text(encoding="utf-8"))

    def _show(self, output: Path, shown: int) -> int:
        with output.open("rb") as file:
            file.seek(shown)
            new = file.read()
        if new:
            self.console.print(new.decode(errors="replace"), end="", markup=False)
        return shown + len(new)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=30)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=(*_KINDS, "both", _MOVE), default="both")
    parser.add_argument("--only", action="append", default=[], help="Only this disturbance; may be repeated.")
    parser.add_argument("--in-turn", action="store_true", help="One kind after the other.")
    parser.add_argument("--json", action="store_true", help="One JSON document.")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
