"""What each process of a portal imports when it starts, and leaves alone when it ends."""

from __future__ import annotations

import subprocess
import sys

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
