"""The process that looks at the portal's rows while it is disturbed, and what it saw."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chaos import world
from tests.chaos.portal import Portal
from tests.chaos.verdict import Violation


class RowWatch:
    """`python -m tests.chaos.watch` from `start` to `stop`; its lines are kept in rows.log."""

    def __init__(self, portal: Portal, folder: Path) -> None:
        self._portal, self._lines = portal, folder / "rows.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.looks = 0

    def start(self) -> None:
        """Look from now on."""
        argv = [sys.executable, "-m", "tests.chaos.watch"]
        with self._lines.open("wb") as log:
            env = self._portal.environment()
            self._process = subprocess.Popen(argv, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=world.CHECKOUT)

    def stop(self) -> list[Violation]:
        """Look no more; what was broken at some moment. Nobody is to be deaf: no look at all is a violation, too."""
        if self._process is None:
            return []
        ended = self._process.poll()
        self._process.kill()
        self._process.wait(timeout=30)
        found = [entry for line in self._lines.read_text("utf-8", "replace").splitlines() if (entry := _entry(line))]
        self.looks = max((entry["looks"] for entry in found if "looks" in entry), default=0)
        broken = [Violation(entry["job"], entry["rule"], entry["story"]) for entry in found if "rule" in entry]
        if ended is not None or not self.looks:
            broken.append(Violation(None, "rows are watched", f"{self.looks} looks; it ended with {ended}."))
        return broken


def _entry(line: str) -> dict[str, Any] | None:
    """A line of the watch; None for what is none, such as the last one where it was cut off."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
