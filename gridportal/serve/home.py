"""One set of processes per home folder, and how other commands find the servers of that set."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from gridportal.errors import GridPortalError
from gridportal.knobs import Knobs

_ADDRESSES = "serve.env"


@contextmanager
def only_one(home: Path) -> Iterator[IO[str]]:
    """Hold the home's lock; write "PID ADDRESS" into it. Raises GridPortalError when somebody else holds it."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / "portal.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            words = lock.read().split()
            where = f"at {words[1]} (process {words[0]})" if len(words) == 2 else "and is still starting"
            raise GridPortalError(f"A portal is already running {where}; stop it first or use it.") from error
        lock.truncate(0)
        yield lock


def keep_addresses(home: Path, addresses: Mapping[str, str]) -> None:
    """Leave the addresses of the private servers (they hold no password) for `join`."""
    path = home / _ADDRESSES
    if not addresses:
        path.unlink(missing_ok=True)
        return
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text("".join(f"{name}={value}\n" for name, value in addresses.items()), encoding="utf-8")
    fresh.replace(path)


def is_production(home: Path) -> bool:
    """Whether `gridportal serve` keeps servers of its own in this home."""
    return (home / _ADDRESSES).exists()


def join() -> None:
    """Use the private servers of this home, if it has any and the environment names no others."""
    try:
        path = Knobs().home / _ADDRESSES  # type: ignore[call-arg]
    except ValidationError:  # the settings will say what is wrong, and better
        return
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)
