"""What a portal's home holds before its first start, made once for all processes of a run: a database with every
migration and the catalogue, and the static files. To make it takes seven seconds of a processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gridportal.base import file_lock

_CHECKOUT = Path(__file__).parents[1]
_NAME = "gridportal.sqlite3"
_STATIC = "staticfiles"
_PREPARE = "from gridportal.serve.prepare import prepare; prepare()"


def put_into(home: Path) -> None:
    """Give the portal at `home`, which has no database yet, this one (SQLite)."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy2(_prepared() / _NAME, home / _NAME)


def put_static_files_into(home: Path) -> None:
    """Give the portal at `home` what it would gather and compress, for a browser."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(_prepared() / _STATIC, home / _STATIC)


def _prepared() -> Path:
    folder = Path(os.environ["TESTS_HOME"], "migrated")
    with file_lock.hold(folder.with_suffix(".lock"), patience=300) as ours:
        assert ours, "another process took too long to prepare a home"
        if not folder.exists():
            making = folder.with_suffix(".making")
            settings = {"GRIDPORTAL_HOME": str(making), "DJANGO_SETTINGS_MODULE": "gridportal.settings"}
            env = {**os.environ, **settings, "DATABASE_URL": "", "REDIS_URL": ""}
            subprocess.run([sys.executable, "-c", _PREPARE], cwd=_CHECKOUT, env=env, check=True, timeout=250)
            making.rename(folder)
    return folder
