"""The kernel's keys closed to jobs that run as the user who runs the Grid: a seccomp filter on the calls for them.

An own session keyring is not enough there: the user's keyring can be linked by its number, which /proc/keys tells, for
what counts is the user (user-keyring(7)). To what is filtered the kernel is one without keys (ENOSYS), which programs
that use them are written for. Others' jobs need none: a user of their own has a keyring of its own. See seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

#: By how the kernel names an architecture (linux/audit.h) the first of add_key, request_key and keyctl, which follow
#: one another on each: x86_64, i386, aarch64, arm. A 64-bit kernel may run programs of its 32-bit relative.
FIRST_CALLS = {0xC000003E: 248, 0x40000003: 286, 0xC00000B7: 217, 0x40000028: 309}
_CALLS = 3
_X32 = 0x40000000  # of a call's number: x86_64 with short pointers
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
_SPEC_ALLOW = 4  # the program's speed stays as it is
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_FROM, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # where in the data of a call
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def closes_keys() -> bool:
    """Whether this machine has such filters (Linux 4.14 on x86_64 or aarch64) and lets us ask for them."""
    refused = ctypes.c_uint32(_ERRNO)
    return _number() is not None and _call(_GET_ACTION_AVAIL, 0, ctypes.byref(refused)) == 0


def close_keys() -> None:
    """Refuse the calls for keys to this process and all that it starts, for ever; nothing where `closes_keys` is false.

    It needs no_new_privs. Raises OSError when the kernel refuses.
    """
    if not closes_keys():
        return
    text = program()
    filter_ = ctypes.byref(_Program(len(text) // 8, text))
    if _call(_SET_MODE_FILTER, _SPEC_ALLOW, filter_) != 0 and (
        ctypes.get_errno() != errno.EINVAL or _call(_SET_MODE_FILTER, 0, filter_) != 0  # SPEC_ALLOW is of Linux 4.17
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def program() -> bytes:
    """The filter as the kernel reads it: eight bytes for each instruction of its classic packet filter."""
    lines = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for architecture, first in FIRST_CALLS.items():
        lines += [
            (_JUMP_EQUAL, 0, 6, architecture),
            (_LOAD, 0, 0, _NUMBER),
            (_AND, 0, 0, 0xFFFFFFFF ^ _X32),
            (_JUMP_FROM, 0, 2, first),
            (_JUMP_ABOVE, 1, 0, first + _CALLS - 1),
            (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
            (_RETURN, 0, 0, _ALLOW),
        ]
    return b"".join(struct.pack("=HBBI", *line) for line in [*lines, (_RETURN, 0, 0, _ALLOW)])


def _number() -> int | None:
    return _SECCOMP.get(platform.machine()) if sys.maxsize > 2**32 else None


def _call(operation: int, flags: int, argument: object) -> int:
    return int(_LIBC.syscall(ctypes.c_long(_number() or -1), operation, flags, argument))
