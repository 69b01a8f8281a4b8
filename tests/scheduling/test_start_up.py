"""What each process of a portal imports when it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

_IMPORT = """
import sys
import django
django.setup()
import gridportal.urls, scheduling.tasks
late = "numba networkx mpi4py jwt ldap3 qrcode"
print({name for name in late.split() if name in sys.modules})
"""


@pytest.mark.timeout(120)
def test_what_takes_long_to_import_is_not_imported_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "set()\n"
