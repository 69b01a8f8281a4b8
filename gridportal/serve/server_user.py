"""Who a database server runs as, and a folder that this person can reach."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError

_ELSEWHERE = Path("/var/lib/gridportal")


def server_user() -> str | None:
    """None: as ourselves. As root, which PostgreSQL refuses to be, the first of `postgres` and `nobody`."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in names:
            return name
    raise BackendError(
        "PostgreSQL cannot run as root and there is no user postgres; add one with: adduser --system postgres"
    )


def as_user(user: str | None) -> list[str]:
    """What to put before a command that must run as `user`."""
    if user is None:
        return []
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups", "--"]


def open_folder(wanted: Path, user: str | None) -> Path:
    """`wanted`, made for `user` alone (mode 0700); where `user` cannot reach it, a link to one under /var/lib."""
    if wanted.is_symlink():
        if not wanted.exists():
            raise BackendError(
                f"{wanted} points to {wanted.readlink()}, which is gone; bring it back or remove the link."
            )
        return wanted.resolve()
    wanted.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if user is None:
        wanted.mkdir(exist_ok=True, mode=0o700)
        return wanted
    if _let_through(wanted.parent, user):
        return _own(wanted, user)
    name = hashlib.sha256(str(wanted).encode()).hexdigest()[:12]
    folder = _own(_ELSEWHERE / f"{wanted.name}-{name}", user)
    wanted.symlink_to(folder)
    return folder


def _let_through(home: Path, user: str) -> bool:
    """Whether `user` can pass `home`; a private one of ours is opened to the user's group, for passing only."""
    about = home.stat()
    if about.st_uid == 0 and about.st_mode & 0o777 == 0o700 and _can_pass(home.parent, user):
        os.chown(home, -1, pwd.getpwnam(user).pw_gid)
        home.chmod(0o710)
    return _can_pass(home, user)


def _can_pass(folder: Path, user: str) -> bool:
    return shell.run([*as_user(user), "test", "-x", str(folder)], timeout=10, check=False, cwd="/").returncode == 0


def _own(folder: Path, user: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    shutil.chown(folder, user)
    return folder
