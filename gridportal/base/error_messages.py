"""What a command says when the machine or a server fails under it: one sentence in place of a traceback."""

from __future__ import annotations

import os
import sys

#: Errors of servers by module and name, and whose trouble they are; looked up only where the module is loaded.
_SERVERS = (
    ("django.db.utils", "OperationalError", "The database does not do its work"),
    ("kombu.exceptions", "OperationalError", "The broker does not answer"),
    ("redis.exceptions", "RedisError", "Redis does not answer"),
    ("django.core.exceptions", "ImproperlyConfigured", "The settings cannot be used"),
)


def sentence(error: Exception) -> str | None:
    """What happened, for a person; None for what is a mistake of ours, whose traceback is wanted.

    >>> sentence(PermissionError(13, "Permission denied", "/var/x"))
    '/var/x: Permission denied.'
    >>> sentence(KeyError("x")) is None
    True
    """
    for module, name, what in _SERVERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind and isinstance(error, kind):
            first = (str(error).strip().splitlines() or ["no reason was given"])[0]
            return f"{what}: {first.rstrip('.')}."
    if not isinstance(error, OSError):
        return None
    if not isinstance(error.filename, str | bytes):
        return f"The machine refuses: {error.strerror or error}."
    return f"{os.fsdecode(error.filename)}: {error.strerror}."
