"""The kernel's keys, of which a job inherits those of whoever started the Grid: each run begins without any.

A process may read what lies in its session keyring, which fork, setuid and namespaces leave as it is
(session-keyring(7)).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys

_JOIN_SESSION_KEYRING = 1
_SETPERM = 5
_GET_KEYRING_ID = 0
_SESSION_KEYRING = -3
_NUMBERS = {"x86_64": 250, "aarch64": 219}  # of keyctl
_LIBRARY = "libkeyutils.so.1"  # knows it for every other architecture
_NO_MORE_KEYS = (errno.EDQUOT, errno.ENOMEM)
_LIBC = ctypes.CDLL(None, use_errno=True)


def join_closed() -> None:
    """For the Grid's daemon: a session keyring that nothing can be found in or put into. OSError.

    What cannot have a keyring of its own later, because its user has too many, is left with this one.
    """
    if _join():
        _keyctl(_SETPERM, _SESSION_KEYRING, 0)


def join_own() -> None:
    """An empty session keyring for this process and all that it starts; where its user may have no more keys the
    daemon's, which is closed. OSError."""
    try:
        _join()
    except OSError as error:
        if error.errno not in _NO_MORE_KEYS:
            raise


def _join() -> bool:
    """Whether there is a new one; not where this kernel has no keys, or lets nobody in here call for them."""
    try:
        _keyctl(_JOIN_SESSION_KEYRING, 0, 0)
    except OSError as error:
        if error.errno == errno.ENOSYS or (error.errno == errno.EPERM and _out_of_reach()):
            return False
        raise
    return True


def _out_of_reach() -> bool:
    """Whether keys are refused as a whole, as containers do: then jobs cannot reach any either."""
    try:
        _keyctl(_GET_KEYRING_ID, _SESSION_KEYRING, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return False


def _keyctl(operation: int, first: int, second: int) -> None:
    number = _NUMBERS.get(platform.machine()) if sys.maxsize > 2**32 else None
    arguments = [ctypes.c_long(each) for each in (operation, first, second)]
    result = _library().keyctl(*arguments) if number is None else _LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"keyctl {operation}: {os.strerror(code)}")


def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_LIBRARY, use_errno=True)
    except OSError as error:
        what = f"the kernel's keys are reached by {_LIBRARY} on {platform.machine()}, which is not installed"
        raise OSError(errno.ENOPKG, what) from error
