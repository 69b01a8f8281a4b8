"""A run directory belongs to the portal; where jobs run as the person who submitted, that person writes into it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from gridportal import shell
from gridportal.clusters import Cluster, account
from gridportal.errors import BackendError, InputError, ShellError

_PATIENCE = 20.0


def share(directory: Path, cluster: Cluster, user: str) -> None:
    """Let `user`, and nobody else, write there: as the owner when the portal is root, else by an access list.

    Nothing on a cluster where jobs run as the portal. Raises InputError for who has no account here, BackendError.
    """
    if not cluster.as_person:
        return
    try:
        name = account(user)
        if os.geteuid() == 0:
            entry = pwd.getpwnam(name)
            for path in (directory, *directory.iterdir()):
                os.chown(path, entry.pw_uid, -1, follow_symlinks=False)
        else:
            entries = ["-m", f"u:{name}:rwx", "-m", f"d:u:{name}:rwx"]
            shell.run(["setfacl", *entries, "--", str(directory)], timeout=_PATIENCE)
    except KeyError as error:
        raise InputError("user name", user, f"an account, as whom jobs run on {cluster.name}") from error
    except ShellError as error:
        raise BackendError(f"The run directory could not be shared with {user}: {error}") from error
