"""One set of processes per home folder, and how other commands find the servers of that set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gridportal.base import atomic_file, file_lock, folders
from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.portal_settings import PortalSettings

_ADDRESSES = "serve.env"
_LOCK = "portal.lock"


@dataclass(frozen=True, slots=True)
class Running:
    """A portal that runs: its supervisor, its address, and its private servers by the variables that name them."""

    pid: int
    address: str
    servers: Mapping[str, str]


@contextmanager
def only_one(home: Path) -> Iterator[IO[str]]:
    """Hold the home's lock; `announce` writes into it. Raises GridPortalError when somebody else holds it."""
    folders.home(home)
    if folders.is_full(home):
        raise GridPortalError(f"The disk of {home} is full; make room, or set GRIDPORTAL_HOME to a folder elsewhere.")
    with open(home / _LOCK, "a+", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as lock:
        if not file_lock.acquire(lock.fileno()):
            announced = _announced(lock)
            where = f"at {announced.address} (process {announced.pid})" if announced else "and is still starting"
            raise GridPortalError(f"A portal is already running {where}; stop it first or use it.")
        lock.truncate(0)
        yield lock


def announce(lock: IO[str], address: str, servers: Mapping[str, str]) -> None:
    """Say in the held lock where the portal is, and its private servers that are in no other file."""
    lock.truncate(0)
    lock.write(f"{os.getpid()} {address}\n" + "".join(f"{name}={value}\n" for name, value in servers.items()))
    lock.flush()


def running(home: Path) -> Running | None:
    """The portal that runs in `home` now; None when none does or it is still starting."""
    try:
        with (home / _LOCK).open(encoding="utf-8") as lock:
            announced = _announced(lock)
            if announced is None or not Path(f"/proc/{announced.pid}").exists():
                return None
            # Where nobody holds the lock, another process has that number now.
            return announced if file_lock.is_held(lock.fileno()) else None
    except OSError:
        return None


def _announced(lock: IO[str]) -> Running | None:
    lock.seek(0)
    first, *rest = lock.read().splitlines() or [""]
    parts = first.split()
    if len(parts) != 2 or not parts[0].isdigit():
        return None
    return Running(int(parts[0]), parts[1], {name: value for name, _, value in (line.partition("=") for line in rest)})


def keep_addresses(home: Path, addresses: Mapping[str, str]) -> None:
    """Leave the addresses of the private servers (they hold no password) for `join`."""
    path = home / _ADDRESSES
    if not addresses:
        path.unlink(missing_ok=True)
        return
    atomic_file.write(path, "".join(f"{name}={value}\n" for name, value in addresses.items()), mode=0o600)


def is_production(home: Path) -> bool:
    """Whether `gridportal serve` keeps servers of its own in this home."""
    return (home / _ADDRESSES).exists()


def join() -> None:
    """Use the private servers of this home, if it has any and the environment names no others."""
    try:
        home = PortalSettings().home
    except InputError:  # the settings will say what is wrong, and better
        return
    found = running(home)
    for name, value in {**_kept(home), **(found.servers if found else {})}.items():
        os.environ.setdefault(name, value)


def _kept(home: Path) -> dict[str, str]:
    path = home / _ADDRESSES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name: value for name, _, value in (line.partition("=") for line in lines)}
