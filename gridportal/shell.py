"""The one door to other processes: argument lists, never a shell, and always a time limit."""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gridportal.errors import ShellError

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Completed:
    """What a finished command left: exit code and decoded output."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    check: bool = True,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Run `argv` to its end, at most `timeout` seconds.

    `env` is added to this process's environment; the locale is C so that output can be parsed.
    Raises ShellError when the command is missing, outlives the limit or (with `check`) exits non-zero.

    >>> run(["echo", "hello"], timeout=5).stdout
    'hello\\n'
    """
    try:
        done = subprocess.run(
            list(argv),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            cwd=cwd,
            check=False,
        )
    except FileNotFoundError as error:
        raise ShellError(f"{argv[0]} is not installed or not on PATH.") from error
    except subprocess.TimeoutExpired as error:
        raise ShellError(f"{argv[0]} gave no answer within {timeout:g} s.") from error
    except OSError as error:
        raise ShellError(f"{argv[0]} could not be started: {error.strerror}.") from error
    if check and done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise ShellError(f"{argv[0]} failed with exit code {done.returncode}: {words[-1] if words else 'no output'}")
    return Completed(tuple(argv), done.returncode, done.stdout, done.stderr)


def start(
    argv: Sequence[str],
    *,
    stdout: int | None = None,
    stderr: int | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    user: str | None = None,
    orphaned: int = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """Start a long-running child that dies when this process dies, even by SIGKILL (PR_SET_PDEATHSIG).

    `user` (root only) is who it runs as; `orphaned` is the signal it gets when this process dies. Call it from a
    thread that lives as long as the process: the kernel ties the signal to the thread.
    """
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            preexec_fn=die_with_parent(orphaned),  # runs after the change of user, which would undo it
            start_new_session=True,
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
        )
    except OSError as error:
        raise ShellError(f"{argv[0]} could not be started: {error.strerror}.") from error


def die_with_parent(signum: int = signal.SIGKILL) -> Callable[[], None]:
    """A preexec function that asks the kernel for `signum` when the parent dies."""
    parent = os.getpid()

    def ask() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signum))
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return ask
