"""How long the first answer of a process takes, in which nothing was asked for yet."""

from __future__ import annotations

import os
import time


def first_answer(who: str, path: str) -> float:
    """Milliseconds by the clock, in a process forked off this one, in which no page may have been asked for."""
    from django.db import connections

    connections.close_all()  # each process has its own
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.write(writes, str(_answer(who, path)).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        found = file.read()
    os.waitpid(child, 0)
    return float(found)


def _answer(who: str, path: str) -> float:
    from django.test import Client

    from gridportal.accounts.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=who), backend="django.contrib.auth.backends.ModelBackend")
    begin = time.perf_counter()
    client.get(path)
    return 1e3 * (time.perf_counter() - begin)
