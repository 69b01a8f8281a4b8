"""What a depot is given on the command line, by itself or beside an agent."""

from __future__ import annotations

import argparse
import re
import socket
from typing import TYPE_CHECKING

from gridportal.base.errors import InputError

if TYPE_CHECKING:
    from gridportal.runtime.depot.shard_store import ShardStore

SPACE, JOB_SPACE = "20G", "10G"
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"([0-9]{1,12})([KMGT]?)", re.ASCII)
_BACKLOG = 512


def add(parser: argparse.ArgumentParser, prefix: str) -> None:
    """Add its options, with `prefix` before their names (depot- beside an agent)."""
    folder = "folder of its own on the node's disk; made when it is not there"
    parser.add_argument(f"--{prefix}folder", required=not prefix, default="", help=folder)
    parser.add_argument(f"--{prefix}space", default=SPACE, help=f"bytes for all jobs, as {SPACE}")
    parser.add_argument(f"--{prefix}job-space", default=JOB_SPACE, help=f"bytes for one job, as {JOB_SPACE}")


def prepared(address: str, folder: str, space: str, job_space: str) -> tuple[socket.socket, ShardStore]:
    """A socket that listens at HOST:PORT or fd:NUMBER, and the store behind it. Raises InputError and OSError."""
    from gridportal.runtime.depot.shard_store import ShardStore  # late: an agent without a depot stays as small

    if not folder:
        raise InputError("depot folder", folder, "a folder on the node's disk")
    store = ShardStore(folder, size("depot space", space), size("depot job space", job_space))
    if address.startswith("fd:"):
        return socket.socket(fileno=int(address.removeprefix("fd:"))), store
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputError("depot", address, "HOST:PORT")
    host = host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family, backlog=_BACKLOG), store


def size(field: str, text: str) -> int:
    """Bytes, with K, M, G or T of 1024. Raises InputError.

    >>> size("space", "20G")
    21474836480
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise InputError(field, text, "a number of bytes, as 20G")
    return int(match[1]) * _UNITS[match[2]]
