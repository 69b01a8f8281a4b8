"""The folders in which the portal keeps things: made, closed to other people, or one sentence why not; and whether
their disk has room."""

from __future__ import annotations

import logging
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from gridportal.base.errors import InputError

HOME = "GRIDPORTAL_HOME"
_ROOM = 4 * 2**20  # bytes: with less than this free a disk counts as full
_LOOK = 0o066  # other people's rights to read and to write; that they may pass through (0o011) is left as it is
_OTHERS = 0o077
_SECRET_FILES = (
    "secret_key",
    "demo_password",
    "serve.env",
    "portal.lock",
    "gridportal.sqlite3",
    "gridportal.sqlite3-wal",
    "gridportal.sqlite3-shm",
    "gridportal.sqlite3-journal",
)
_SECRET_FOLDERS = ("log", "grid", "local", "broker", "redis", "forecasts", "metrics")
_RUNS = "runs"  # where jobs run as who submitted, people pass through it to their own
_LOG = logging.getLogger(__name__)


def private(folder: Path, field: str, given: Path | None = None) -> Path:
    """`folder`, made with mode 0700 where it is not there, closed where others could read or write in it.

    Raises InputError that names `field` where it cannot be used: it is somebody else's, or others could put another
    in its place. `given` is what `field` says, when `folder` lies below that.
    """
    shown = str(given or folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_links(folder)
        _check_way(folder, field, shown)
        _check_owner(folder, field, shown)
        if before := _close(folder, 0o700):
            _LOG.warning(
                "Others could look into %s (mode %o); it is for its owner alone now (mode 700).", folder, before
            )
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & _LOOK:
            raise InputError(field, shown, "a folder on a file system that keeps modes: others can read this one")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(None, "Permission denied")
    except ValueError as error:
        raise InputError(field, shown, str(error)) from error
    except OSError as error:
        why = "Not a directory" if isinstance(error, FileExistsError) else error.strerror
        raise InputError(field, shown, f"a folder that can be made and written to ({why})") from error
    return folder


def home(folder: Path) -> Path:
    """The portal's home: `private`, and so is what is secret in it, since others may be let pass. InputError."""
    was_open = bool(_mode(folder) & _OTHERS)
    private(folder, HOME)
    try:
        opened = list(_close_secrets(folder))
    except OSError as error:
        raise InputError(HOME, str(folder), f"a folder whose files can be closed ({error.strerror})") from error
    if was_open and opened:
        _LOG.warning("Others could read %s in %s until now.", ", ".join(opened), folder)
    if was_open and "secret_key" in opened:
        _LOG.warning("With secret_key one can sign in as anybody: remove it for a new one; everybody signs in again.")
    return folder


def make(folder: Path) -> None:
    """Make `folder`, and the folders above it that are not there, with mode 0700 from the first moment on. `mkdir` with
    a mode gives it to the last one only, and those above are open to everybody until somebody closes them."""
    if not folder.is_dir():
        make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def check_links(path: Path) -> None:
    """ValueError, saying what is accepted, when a link on the way to `path` is neither ours nor root's: whoever made
    it can lead elsewhere."""
    for part in (path, *path.parents):
        if part.is_symlink() and part.lstat().st_uid not in (os.geteuid(), 0):
            raise ValueError(f"a folder without links that others made: {part} is one of {_name(part.lstat().st_uid)}")


def is_full(folder: Path) -> bool:
    """Whether the disk of `folder` has no room left for what the portal writes; False where nobody knows."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return False
    return about.f_bavail * about.f_frsize < _ROOM or (about.f_files > 0 and about.f_favail == 0)


def _check_way(folder: Path, field: str, shown: str) -> None:
    """Where everybody may rename what lies in a folder above, anybody can put another home in place of this one."""
    for above in sorted({*folder.absolute().parents, *folder.resolve().parents}):
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            accepted = f"a folder that others cannot replace: everybody may write to {above}, so chmod o-w {above}"
            raise InputError(field, shown, f"{accepted}, or take another place")


def _check_owner(folder: Path, field: str, shown: str) -> None:
    about, me = folder.stat(), os.geteuid()
    if about.st_uid == me:
        return
    owner = _name(about.st_uid)
    if about.st_uid != 0:
        raise InputError(
            field, shown, f"a folder of your own: this one is {owner}'s, so work as {owner} or take another"
        )
    if about.st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise InputError(field, shown, f"a folder closed to others: this one is root's, so ask for chmod o-rw {folder}")


def _close_secrets(folder: Path) -> Iterator[str]:
    """Close what is secret in a home; the names of what had been open. Raises InputError for a file that is no plain
    one of ours: somebody put it there."""
    for name in _SECRET_FILES:
        path = folder / name
        if not os.path.lexists(path):
            continue
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_uid not in (os.geteuid(), 0):
            accepted = f"a folder in which {name} is a plain file of your own: remove this one, {_kind(about)}"
            raise InputError(HOME, str(folder), accepted)
        if _close(path, 0o600):
            yield name
    for name in (*_SECRET_FOLDERS, _RUNS):
        path = folder / name
        if path.is_dir() and not path.is_symlink() and _close(path, 0o711 if name == _RUNS else 0o700):
            yield name


def _close(path: Path, most: int) -> int:
    """Take other people's rights to read and write away; the mode before, or 0 where nothing was changed."""
    about = path.stat()
    mode = stat.S_IMODE(about.st_mode)
    if about.st_uid != os.geteuid() or not mode & _LOOK:
        return 0
    path.chmod(mode & (~_OTHERS | most))
    return mode


def _kind(about: os.stat_result) -> str:
    """What somebody put there, for a sentence."""
    owner = _name(about.st_uid)
    if stat.S_ISLNK(about.st_mode):
        return f"a link made by {owner}"
    return f"which is {owner}'s" if stat.S_ISREG(about.st_mode) else f"no plain file, made by {owner}"


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:  # nothing is there yet, or nothing that we may see: whoever uses it says so
        return 0


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
