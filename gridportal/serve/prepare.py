"""What has to be done once before the parts of a portal start: tables, static files, the programs that ship."""

from __future__ import annotations

import logging
from pathlib import Path

from gridportal.web.command_database import set_up_django


def prepare() -> bool:
    """Bring tables, static files and the catalogue up to date; whether the static files had changed.

    A second call changes nothing. In a container it is the one-shot service that the others wait for.
    """
    set_up_django()
    from gridportal.database import portal_tables
    from gridportal.serve.assets import gather
    from scheduling.jobs.services.registering import install_catalogue

    _make_database_file()
    logging.getLogger().setLevel(logging.WARNING)
    portal_tables.bring_up_to_date()
    install_catalogue()
    return gather()


def _make_database_file() -> None:
    """SQLite would make its file readable for everybody who may pass through the home; -wal and -shm follow it."""
    from django.conf import settings

    where = settings.DATABASES["default"]
    if where["ENGINE"].endswith("sqlite3"):
        Path(where["NAME"]).touch(mode=0o600)
