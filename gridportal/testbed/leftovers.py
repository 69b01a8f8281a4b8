"""What a Grid that was killed cannot take away itself: its control groups, its socket and its record.

Processes, namespaces and links end with gridd by the kernel's doing. A control group is a folder that stays, so a small
shell script waits outside for the Grid's end and removes it; where that script was killed too, the next Grid does it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from gridportal.testbed import cgroups
from gridportal.testbed.state import State

_SCRIPT = Path(__file__).with_name("sweep.sh")
_watchers: list[subprocess.Popen[bytes]] = []


def watch(state: State, record: dict[str, Any], lives: int) -> None:
    """Clear away after the Grid of `record` once `lives`, the reading end of a pipe, says that its processes ended."""
    _watchers[:] = [watcher for watcher in _watchers if watcher.poll() is None]
    own = json.dumps({name: record[name] for name in ("pid", "start_time")})[1:-1]
    files = [str(state.lock), str(state.record_file), own, str(record["socket"])]
    groups = map(str, cgroups.everywhere(state))
    with contextlib.suppress(OSError):  # Then the next Grid clears away.
        _watchers.append(
            subprocess.Popen(
                ["sh", str(_SCRIPT), *files, *groups],
                stdin=lives,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},
                cwd="/",
                start_new_session=True,
            )
        )
