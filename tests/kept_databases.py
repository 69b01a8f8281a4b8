"""Empty databases that runs leave for later runs of this checkout, in `var/tests`, until something changes that makes
them. To run all migrations takes ten seconds of a processor."""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings

from gridportal.base import file_lock
from gridportal.database import portal_tables

_CHECKOUT = Path(__file__).parents[1]
_KEPT = _CHECKOUT / "var" / "tests"
_HOW = (
    *(Path(__file__).with_name(f"{name}.py") for name in ("kept_databases", "migrated", "servers")),
    Path(portal_tables.__file__),
)
#: What a migration takes from elsewhere: the module, and names that may be modules in it.
_IMPORT = re.compile(r"^(?:from|import) ([\w.]+)(?: import (.+))?$", re.MULTILINE)


def lay(target: Path, make: Callable[[Path], None], *more: str) -> None:
    """Put into the folder `target`, which is not there yet, what `make` makes: a copy of what an earlier run left.

    `more` words say on what it depends beside models and migrations. One process makes it while others wait. Each run
    has a copy of its own, so that nobody misses what a run of another version takes away.
    """
    _KEPT.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # a portal's home may be there, for its user alone
    _KEPT.mkdir(exist_ok=True)
    kept = _KEPT / f"{target.stem}-{_key(*more)}"
    with file_lock.hold(_KEPT / f"{target.stem}.lock", patience=300) as ours:
        assert ours, "another run took too long to make it"
        if not kept.exists():
            for old in _KEPT.glob(f"{target.stem}-*"):
                shutil.rmtree(old)
            making = kept.with_name(f"{target.stem}-making")
            make(making)
            making.rename(kept)
        shutil.copytree(kept, target)


def _key(*more: str) -> str:
    words = (*more, sys.version, django.__version__, sqlite3.sqlite_version, settings.DEFAULT_AUTO_FIELD)
    digest = hashlib.sha256(repr((*words, *settings.INSTALLED_APPS)).encode())
    for file in sorted(_makers()):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:20]


def _makers() -> set[Path]:
    """The files that say what is in the databases."""
    return {*_migrations(), *_models(), *_HOW}


def _migrations() -> Iterator[Path]:
    """Those of every app, and what they import of the portal."""
    for app in apps.get_app_configs():
        for file in Path(app.path, "migrations").glob("*.py"):
            yield file
            for module, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
                for each in (module, *(f"{module}.{name.strip()}" for name in names.split(","))):
                    source = _CHECKOUT / f"{each.replace('.', '/')}.py"
                    if source.is_file():
                        yield source


def _models() -> Iterator[Path]:
    """Where models and the classes of their fields are: permissions are made for each model."""
    for model in apps.get_models(include_auto_created=True):
        for kind in {*model.__mro__, *map(type, model._meta.local_fields)}:
            file = getattr(sys.modules[kind.__module__], "__file__", None)
            if file:
                yield Path(file)
