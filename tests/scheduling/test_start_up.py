"""What each process of a portal imports when it starts, and leaves alone when it ends."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

_IMPORT = """
import sys
import django
django.setup()
import gridportal.urls, scheduling.tasks
late = "numba networkx mpi4py jwt ldap3 qrcode redis"
print({name for name in late.split() if name in sys.modules})
"""


@pytest.mark.timeout(120)
def test_what_takes_long_to_import_is_not_imported_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "set()\n"


#: Processes that are started often, by their modules, and what those of them that do not use it leave alone.
_WITHOUT = {
    "gridportal.workloads.cg": "gridportal.runtime.srs.stop_restart concurrent.futures",
    "gridportal.runtime.srs.stop_restart": "concurrent.futures gridportal.base.compiled_c",
    "scheduling.matching.services.mapper_process, scheduling.matching.core.mapping.line_mapper": "numpy django",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("modules", _WITHOUT, ids=lambda modules: modules.partition(",")[0])
def test_a_process_that_is_started_often_imports_what_it_uses(modules: str) -> None:
    code = f"import sys, {modules}; print({{name for name in {_WITHOUT[modules]!r}.split() if name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "set()\n"


#: What is registered first is called last.
_END = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count() > 10_000))
"""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("last", ["import gridportal.settings", "from gridportal import cli; cli.main()"])
def test_who_ends_does_not_look_for_garbage_in_all_that_it_imported(last: str) -> None:
    words = [sys.executable, "-c", _END + last, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.splitlines()[-1] == "True"


@pytest.mark.timeout(120)
def test_who_ends_leaves_all_in_the_file_of_its_database(tmp_path: Path) -> None:
    """SQLite's log beside the file would be left out by whoever copies the file alone."""
    code = """
import django
django.setup()
from django.db import connection
connection.cursor().execute("CREATE TABLE kept (x)")
"""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "gridportal.settings", "GRIDPORTAL_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", code], env=env | {"DATABASE_URL": ""}, timeout=100, check=True)
    file = tmp_path / "home" / "gridportal.sqlite3"
    assert not file.with_name(f"{file.name}-wal").exists()
    assert sqlite3.connect(file).execute("SELECT name FROM sqlite_master").fetchall() == [("kept",)]
