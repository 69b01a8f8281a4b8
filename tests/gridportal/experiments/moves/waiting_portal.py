"""Takes the place of a case's portal, and never comes to an end: `python -m ... CASE ANSWER`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    Path(sys.argv[2]).with_name("portal.pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
    time.sleep(3600)
