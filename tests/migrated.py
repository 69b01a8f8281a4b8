"""A database with every migration, made once for all processes of a run: to migrate takes seconds of a processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gridportal.base import file_lock

_CHECKOUT = Path(__file__).parents[1]
_NAME = "gridportal.sqlite3"


def put_into(home: Path) -> None:
    """Give the portal at `home`, which has no database yet, this one (SQLite)."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy2(_migrated(), home / _NAME)


def _migrated() -> Path:
    folder = Path(os.environ["TESTS_HOME"], "migrated")
    with file_lock.hold(folder.with_suffix(".lock"), patience=300) as ours:
        assert ours, "another process took too long to migrate a database"
        made = folder.with_suffix(".sqlite3")
        if not made.exists():
            settings = {"GRIDPORTAL_HOME": str(folder), "DJANGO_SETTINGS_MODULE": "gridportal.settings"}
            env = {**os.environ, **settings, "DATABASE_URL": "", "REDIS_URL": ""}
            argv = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(argv, cwd=_CHECKOUT, env=env, check=True, timeout=250)
            (folder / _NAME).rename(made)
    return made
