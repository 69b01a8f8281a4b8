"""Telling the portal of an event: one more line of the progress file, where there is a run directory."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from gridportal.base.run_files import PROGRESS, RUN_DIR_VARIABLE
from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import ProgressEvent


def tell(event: ProgressEvent) -> None:
    """Append the event in one write, so that a reader never sees half of a line as complete, whoever else writes.

    Nothing without GRIDPORTAL_RUN_DIR. A program goes on where that cannot be written; standard error says so.
    """
    directory = os.environ.get(RUN_DIR_VARIABLE)
    if not directory:
        return
    line = json.dumps(progress_events.written(event, time.time()), allow_nan=False)
    try:
        with (Path(directory) / PROGRESS).open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())
    except OSError as error:
        sys.stderr.write(f"The portal does not hear of “{event.WORD}”: {error}\n")
