"""Static files gathered once: hashed and compressed again only when one of them changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

#: Parts of packages that no page asks for.
UNUSED = ["datasets", "templates", "widgetbundle.js", "redoc*"]


def gather() -> bool:
    """Run collectstatic unless what lies there was made from the same files; whether it had to."""
    stamp = Path(settings.STATIC_ROOT) / ".made-from"
    now = _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="ascii") == now:
        return False
    call_command("collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=UNUSED)
    stamp.write_text(now, encoding="ascii")
    return True


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for line in sorted(_sources()):
        digest.update(line.encode())
    return digest.hexdigest()


def _sources() -> Iterator[str]:
    for finder in get_finders():
        for path, storage in finder.list(UNUSED):
            about = Path(storage.path(path)).stat()
            yield f"{path} {about.st_size} {about.st_mtime_ns}\n"
