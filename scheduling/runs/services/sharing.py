"""A run directory belongs to the portal; where jobs run as the person who submitted, that person writes into it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.clusters import Cluster, account
from gridportal.base.errors import BackendError, InputError, ShellError
from gridportal.slurm.commands import SlurmCommands
from scheduling.runs.core import opening_lines
from scheduling.runs.core.opening_lines import OpenedFolder

_PATIENCE = 20.0
_PRIVATE = 0o700
#: What setfacl says of files that are the portal's own, as the folder itself is: those it leaves as they are.
_NOT_THEIRS = "Operation not permitted"


def share(directory: Path, cluster: Cluster, user: str) -> None:
    """Let `user` and the portal, and nobody else, read and write there: `user` is the owner when the portal is root,
    else in the directory's access list.

    Nothing on a cluster where jobs run as the portal. Raises InputError for who has no account here, BackendError.
    """
    if not cluster.as_person:
        return
    person = unix_account(cluster, user)
    if os.geteuid() == 0:
        directory.chmod(_PRIVATE)
        os.chown(directory, person.pw_uid, person.pw_gid)
        return
    # What the person's programs make there has to be readable for the portal, so that it is in the default list too.
    theirs = [f"{kind}u:{uid}:rwx" for kind in ("", "d:") for uid in (person.pw_uid, os.geteuid())]
    nobodys = [f"{kind}{who}::---" for kind in ("", "d:") for who in "go"]
    try:
        shell.run(["setfacl", "-m", ",".join(theirs + nobodys), "--", str(directory)], timeout=_PATIENCE)
    except ShellError as error:
        raise BackendError(f"The run directory could not be shared with {user}: {error}") from error


def share_file(file: Path, cluster: Cluster, user: str, *, rights: str = "r") -> None:
    """Let `user`, too, and nobody else read a file that only the portal may read; with the rights `rw` also write it.
    As `share`."""
    if not cluster.as_person:
        return
    person = unix_account(cluster, user)
    if os.geteuid() == 0:
        os.chown(file, person.pw_uid, person.pw_gid, follow_symlinks=False)
        return
    try:
        shell.run(["setfacl", "-m", f"u:{person.pw_uid}:{rights},g::-,o::-", "--", str(file)], timeout=_PATIENCE)
    except ShellError as error:
        raise BackendError(f"{file.name} could not be shared with {user}: {error}") from error


def opened_folder(directory: Path, cluster: Cluster) -> OpenedFolder | None:
    """What opens `directory` to the portal again; None where nothing can close it: jobs run as the portal, or the
    portal is root."""
    return OpenedFolder(str(directory), os.geteuid()) if cluster.as_person and os.geteuid() != 0 else None


def reopen(directory: Path, cluster: Cluster, user: str) -> bool:
    """Open to the portal, by the account of `user`, what that person's programs have closed to it; whether there was
    anything to do. Raises BackendError."""
    opened = opened_folder(directory, cluster)
    if opened is None:
        return False
    commands, argv = SlurmCommands(cluster.prefix_for(user), timeout=_PATIENCE), opening_lines.command(opened)
    done = commands.run(argv)
    if done.returncode and _NOT_THEIRS not in done.stderr:
        raise commands.failure(argv, done)
    return True


def unix_account(cluster: Cluster, user: str) -> pwd.struct_passwd:
    """The account here as whom `user`'s jobs run. Raises InputError when there is none, or when it is root's."""
    accepted = f"the name of a unix account, as whom your jobs run on {cluster.name}; an administrator can make one"
    try:
        found = pwd.getpwnam(account(user))
    except KeyError as error:
        raise InputError("user name", user, accepted) from error
    if found.pw_uid == 0:
        raise InputError("user name", user, accepted)
    return found
