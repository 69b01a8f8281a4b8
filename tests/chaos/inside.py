"""`python -m tests.chaos.inside KIND SEED SECONDS FOLDER [DISTURBANCE...]`: one run, inside namespaces of its own.

This process is the first of its process namespace, so it also collects whoever lost its parent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path


def main(argv: list[str]) -> int:
    """The report goes to report.json in the folder. 0: no violation, 1: some, 2: it could not be run."""
    child = os.fork()
    if child:
        return _collect(child)
    kind, seed, seconds, folder, *only = argv
    from tests.chaos.scenario import Scenario

    try:
        report = Scenario(kind, int(seed), float(seconds), Path(folder), tuple(only)).run()
    except Exception:  # noqa: BLE001 - whatever it was, it is told, and the exit code says so
        traceback.print_exc()
        return 2
    (Path(folder) / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 1 if report["violations"] else 0


def _collect(child: int) -> int:
    """Wait for everybody until `child` has ended; pass signals on to it."""
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda number, frame: os.kill(child, number))
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
