"""The end of a process of the portal."""

from __future__ import annotations

import gc
import sys


def end() -> None:
    """Close what is open of databases, so that SQLite takes over what its log still has, and leave all else as it is.

    To look for garbage in all that was imported would be a quarter of the work of a short command.
    """
    if "django.db" in sys.modules:
        from django.conf import settings
        from django.db import connections

        if settings.configured:  # what is wrong with the settings has been told
            connections.close_all()
    gc.freeze()
