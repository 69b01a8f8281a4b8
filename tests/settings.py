"""The portal's settings for tests: a home of their own, plain static files, a fast password hasher."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

# Tests start hundreds of Pythons. Where modules must not be kept compiled, each of these compiles all that it imports,
# and so does pytest with the tests: more than half of the time of a start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_OUTER = "TESTS_HOME"  # homes of other processes of one run lie in the first one's, and go with it
_NAME = "gridportal-tests-"


def _remove_homes_of_killed_runs() -> None:
    """A run that was killed could not do it itself; its process id is in the name."""
    for home in Path(tempfile.gettempdir()).glob(f"{_NAME}*-*"):
        maker = home.name.removeprefix(_NAME).partition("-")[0]
        try:
            os.kill(int(maker), 0)
        except ProcessLookupError:
            shutil.rmtree(home, ignore_errors=True)
        except (ValueError, PermissionError):
            continue


if _OUTER not in os.environ:
    _remove_homes_of_killed_runs()
_HOME = tempfile.mkdtemp(prefix=f"{_NAME}{os.getpid()}-", dir=os.environ.get(_OUTER))
os.environ.setdefault(_OUTER, _HOME)
_MAKER = os.getpid()


def _remove_home() -> None:
    if os.getpid() == _MAKER:  # a forked child of a test must not take the home away
        shutil.rmtree(_HOME, ignore_errors=True)


atexit.register(_remove_home)
for _name in [name for name in os.environ if name.startswith("GRIDPORTAL_")]:
    del os.environ[_name]
os.environ["GRIDPORTAL_HOME"] = _HOME
os.environ["GRIDPORTAL_LOG_LEVEL"] = "WARNING"
# Who imports numpy begins with a thread for each processor else; on ranks that share them they only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What tests compile for jobs on the Grid lies here: the rest of /tmp is hidden from them.
_PROGRAMS = Path(_HOME, "programs")
_PROGRAMS.mkdir(mode=0o755)
os.environ["GRIDPORTAL_GRID_SHOW"] = json.dumps([str(_PROGRAMS)])

from gridportal.local.local_environment import PATIENCE as _PATIENCE  # noqa: E402
from gridportal.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Ranks that wait for each other would take the processors of other tests.
os.environ |= _PATIENCE
# Programs that a test starts are the portal itself, in the test's home.
os.environ["DJANGO_SETTINGS_MODULE"] = "gridportal.settings"
