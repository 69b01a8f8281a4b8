"""What a job's runs must know to reach depots: a small file that only they can read, which names job, key and nodes.

The variable GRIDPORTAL_DEPOTS names the file. The portal writes it for each run; without a portal it is written by hand
or with `python -m gridportal.runtime.depot.depot_access`.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from gridportal.base import atomic_file, bounded_json
from gridportal.base.checked_numbers import is_whole
from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.agent import keys
from gridportal.runtime.depot.depot_wire import job_key
from gridportal.runtime.depot.shard_store import is_job

#: The variable that names the file.
VARIABLE = "GRIDPORTAL_DEPOTS"
VERSION = 1
MOST_COPIES = 2
#: Where a rank finds the name of its node, where that is not the host's.
NODE_VARIABLES = ("GRIDPORTAL_NODE", "SLURMD_NODENAME")


class Keep(StrEnum):
    """Where the shards of checkpoints are kept."""

    DEPOTS = "depots"
    BOTH = "both"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class DepotAccess:
    """What the runs of `job` know. `addresses`: host and port by node, or one text with {node} for all of them.

    `copies`: on so many depots each shard is. `keep`: whether shards are in depots, in the shared folder, or in both.
    """

    job: str
    key: bytes = field(repr=False)
    addresses: Mapping[str, str] | str
    keep: Keep = Keep.DEPOTS
    copies: int = 1

    def address(self, node: str) -> tuple[str, int]:
        """Host and port of the depot of `node`. InputError where none is known."""
        text = (
            self.addresses.replace("{node}", node) if isinstance(self.addresses, str) else self.addresses.get(node, "")
        )
        host, _, port = text.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise InputError("depot", text or node, "HOST:PORT for the node, in the file of depots")
        return host.removeprefix("[").removesuffix("]"), int(port)


def issued(
    master: bytes, job: str, addresses: Mapping[str, str] | str, keep: Keep = Keep.DEPOTS, copies: int = 1
) -> DepotAccess:
    """The access of `job`, with a key of its own that follows from the depots' key `master`. Raises InputError."""
    if not is_job(job):
        raise InputError("job", job, "letters, digits, - and _, at most 64")
    return DepotAccess(job, job_key(master, job), addresses, keep, copies)


def dumped(access: DepotAccess) -> str:
    """The content of the file."""
    document = {"version": VERSION, "job": access.job, "key": access.key.hex(), "depots": access.addresses}
    document |= {"keep": str(access.keep), "copies": access.copies}
    return json.dumps(document)


def write(path: Path, access: DepotAccess) -> None:
    """Write the file so that its owner alone reads it. Raises OSError."""
    atomic_file.write(path, dumped(access), mode=0o600)


def read(path: str | Path) -> DepotAccess:
    """The access in a file. InputError where it is not as it must be, or others than its owner may read it."""
    document = bounded_json.load(path, VARIABLE)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o007 or (mode & 0o070 and not _has_access_list(path)):
        raise InputError(VARIABLE, str(path), "a file that only its owner may read (chmod 600)")
    return parsed(document)


def _has_access_list(path: str | Path) -> bool:
    """Whether the bits of the group are those of its access list, by which a portal shares it with one person."""
    try:
        return bool(os.getxattr(path, "system.posix_acl_access"))
    except OSError:
        return False


def parsed(document: Any) -> DepotAccess:
    """The access of a document. Raises InputError, which never repeats the key."""
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise InputError("depots", "a document", f"an object of version {VERSION}")
    job, key, addresses, copies = (document.get(name) for name in ("job", "key", "depots", "copies"))
    if not isinstance(job, str) or not is_job(job):
        raise InputError("depots.job", job, "letters, digits, - and _, at most 64")
    if not is_whole(copies) or not 1 <= copies <= MOST_COPIES:
        raise InputError("depots.copies", copies, f"a whole number from 1 to {MOST_COPIES}")
    if document.get("keep") not in list(Keep):
        raise InputError("depots.keep", document.get("keep"), ", ".join(Keep))
    return DepotAccess(job, _key(key), _addresses(addresses), Keep(document["keep"]), copies)


def _key(text: Any) -> bytes:
    try:
        key = bytes.fromhex(text)
    except (TypeError, ValueError):
        key = b""
    if len(key) != 32:
        raise InputError("depots.key", "...", "64 hexadecimal digits")
    return key


def _addresses(document: Any) -> Mapping[str, str] | str:
    if isinstance(document, str) and document:
        return document
    if isinstance(document, dict) and document and all(isinstance(each, str) for each in document.values()):
        return document
    raise InputError("depots.depots", document, "HOST:PORT by node, or one text with {node} in it")


def own_node(access: DepotAccess, environment: Mapping[str, str] = os.environ) -> str:
    """The name of this node: the host's own, up to the first dot, unless only what the Grid or Slurm call it has a
    depot (launchers hand down the variables of the first node, so that these come last)."""
    host = socket.gethostname().partition(".")[0]
    named = (host, *(environment.get(variable, "") for variable in NODE_VARIABLES))
    return next((name for name in named if isinstance(access.addresses, str) or name in access.addresses), host)


def main(argv: list[str]) -> int:
    """Write the file for one job; 2 with one sentence where that is impossible."""
    parser = argparse.ArgumentParser(
        prog="gridportal.runtime.depot.depot_access", description="Writes the file that lets a job's runs use depots."
    )
    parser.add_argument("file", type=Path, help="file to write, mode 600")
    parser.add_argument("--job", required=True, help="name of the job: letters, digits, - and _")
    parser.add_argument("--depots", required=True, help='HOST:PORT with {node} in it, as "{node}:7782"')
    parser.add_argument("--keep", default=Keep.DEPOTS, choices=list(Keep), help="where shards are kept")
    parser.add_argument("--copies", type=int, default=1, choices=range(1, MOST_COPIES + 1), help="depots of each shard")
    parser.add_argument("--key-file", help=f"file with the depots' key, mode 600; else ${keys.VARIABLE}")
    options = parser.parse_args(argv)
    try:
        key = keys.read(options.key_file)
        write(options.file, issued(key, options.job, options.depots, Keep(options.keep), options.copies))
    except (GridPortalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
