"""Reaching agents: by TCP, or by a Unix socket, which crosses the network namespaces of an emulated Grid."""

from __future__ import annotations

import errno
import os
import resource
import socket
from typing import Any

from gridportal.base.errors import InputError

_LONGEST_PATH = 100  # bytes that an address of a Unix socket may have, with room
_SPARE = 256  # descriptors for everything else


def dial(address: str) -> socket.socket:
    """A socket that is on its way to HOST:PORT or unix:PATH. OSError, InputError."""
    if address.startswith("unix:"):
        return _dial_unix(address.removeprefix("unix:"))
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError("agent address", address, "HOST:PORT or unix:PATH")
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
    made = socket.socket(found[0], socket.SOCK_STREAM)
    return _dialled(made, found[4])


def _dial_unix(path: str) -> socket.socket:
    """By way of the folder's descriptor where the path is longer than an address may be."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        return _dialled(made, path)
    try:
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
    except OSError:
        made.close()
        raise
    try:
        return _dialled(made, f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


def _dialled(made: socket.socket, where: Any) -> socket.socket:
    made.setblocking(False)
    code = made.connect_ex(where)
    if code not in (0, errno.EINPROGRESS):
        made.close()
        raise OSError(code, os.strerror(code))
    return made


def allow_descriptors(count: int) -> None:
    """As many open files as connections need, where the hard limit lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _SPARE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
