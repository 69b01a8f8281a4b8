"""The portal's database for commands that read or write it from outside the servers."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from gridportal.base import home
from gridportal.base.errors import GridPortalError


@contextmanager
def database() -> Iterator[None]:
    """Django on the database of this home. Raises GridPortalError when it does not answer or has no tables yet."""
    home.join()
    set_up_django()
    from django.conf import settings
    from django.db import DatabaseError

    where = settings.DATABASES["default"]
    if where["ENGINE"].endswith("sqlite3") and not os.path.exists(where["NAME"]):
        raise GridPortalError(
            f"There is no portal in {settings.PORTAL.home} yet; start one with gridportal serve or make demo, "
            "or, if it was started with another GRIDPORTAL_HOME, set that here too."
        )
    try:
        with _quiet():
            yield
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise GridPortalError(f"The database is not ready ({reason}); start it with: gridportal serve") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """A command says itself what it does: what the servers write into their logs is shown to whoever asks for more."""
    root = logging.getLogger()
    before = root.level
    if before == logging.INFO:
        root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.setLevel(before)


def set_up_django() -> None:
    """Make models and settings usable in a command of ours. Raises GridPortalError for a setting that cannot be."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "gridportal.settings"
    import django
    from django.core.exceptions import ImproperlyConfigured

    try:
        django.setup()
    except ImproperlyConfigured as error:
        if isinstance(error.__cause__, GridPortalError):
            raise error.__cause__ from error
        raise GridPortalError(str(error)) from error
