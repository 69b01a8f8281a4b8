"""The one door to other processes: argument lists, never a shell, and always a time limit."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pwd
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from gridportal.base.errors import ShellError

_PR_SET_PDEATHSIG = 1
#: What a parent may have ignored or blocked, and a program that we start must not inherit.
_INHERITED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD)
_LIBC = ctypes.CDLL(None, use_errno=True)


class TooSlowError(ShellError):
    """A command outlived its time limit; `output` is what it had printed until then."""

    def __init__(self, command: str, timeout: float, output: str = "") -> None:
        super().__init__(f"{command} gave no answer within {timeout:g} s.")
        self.output = output


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
    bare: bool = False,
    cwd: str | None = None,
    orphaned: int | None = None,
    ends_group: bool = False,
) -> Completed:
    """Run `argv` to its end, at most `timeout` seconds.

    `env` is added to this process's environment, or with `bare` is all that it sees; the locale is C so that output
    can be parsed. `orphaned` is the signal that it gets when this process dies, even by SIGKILL; None: it goes on.
    `ends_group`: it has a process group of its own, and what it leaves there is killed when it ends.
    Raises ShellError when the command is missing, outlives the limit (TooSlowError) or, with `check`, exits non-zero.

    >>> run(["echo", "hello"], timeout=5).stdout
    'hello\\n'
    """
    with ExitStack() as files:
        try:
            out, err = _memory(files), _memory(files)
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL if stdin is None else _memory(files, stdin.encode()),
                stdout=out,
                stderr=err,
                env={**({} if bare else os.environ), "LC_ALL": "C", **(env or {})},
                cwd=cwd,
                preexec_fn=None if orphaned is None else die_with_parent(orphaned),
                start_new_session=ends_group,
            )
        except FileNotFoundError as error:
            if cwd is not None and not os.path.isdir(cwd):
                raise ShellError(f"{argv[0]} could not be started: there is no folder {cwd}.") from error
            raise ShellError(f"{argv[0]} is not installed or not on PATH.") from error
        except OSError as error:
            raise ShellError(f"{argv[0]} could not be started: {error.strerror}.") from error
        except ValueError as error:  # a null character, or half a letter
            raise ShellError(f"{argv[0]!r} could not be started: {error}.") from error
        try:
            _wait(process, timeout, ends_group=ends_group)
        except subprocess.TimeoutExpired as error:
            _abandon(process, ends_group=ends_group)
            raise TooSlowError(argv[0], timeout, _said(out) + _said(err)) from error
        except BaseException:  # Ctrl-C, or a worker's own time limit: nobody would end it then
            _abandon(process, ends_group=ends_group)
            raise
        stdout, stderr = _said(out), _said(err)
    if check and process.returncode != 0:
        lines = (stderr or stdout).strip().splitlines()
        message = lines[-1] if lines else "no output"
        raise ShellError(f"{argv[0]} failed with exit code {process.returncode}: {message}")
    return Completed(tuple(argv), process.returncode, stdout, stderr)


def _memory(files: ExitStack, text: bytes = b"") -> int:
    """A file in memory that is closed with `files`. With pipes in its place, threads that run commands side by side
    spend more time on passing bytes and the interpreter's lock around than on anything else. As with pipes, what is
    written goes to the end, whoever has read or opened it anew."""
    descriptor = os.memfd_create("gridportal")
    files.callback(os.close, descriptor)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    if text:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(text)
        os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _said(descriptor: int) -> str:
    """What was written until now; who was left behind may go on writing, and shares the place in the file."""
    size, output = os.fstat(descriptor).st_size, b""
    while part := os.pread(descriptor, size - len(output), len(output)):  # at most 2 GiB at once
        output += part
    return output.decode(errors="replace").replace("\r\n", "\n")


def _wait(process: subprocess.Popen[bytes], timeout: float, *, ends_group: bool = False) -> None:
    """Until the process has ended, and with `ends_group` its group. Raises TimeoutExpired."""
    try:
        ended = os.pidfd_open(process.pid)
    except OSError:  # a kernel before 5.3
        process.wait(timeout)
        return
    try:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        if not poll.poll(min(max(0.0, 1000 * timeout), 2**31 - 1)):
            raise subprocess.TimeoutExpired(process.args, timeout)
    finally:
        os.close(ended)
    if ends_group:  # before it is reaped: its number is still its own
        _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _abandon(process: subprocess.Popen[bytes], *, ends_group: bool = False) -> None:
    """Kill a command that took too long, and wait no longer: one that runs as another person may outlive it."""
    if ends_group:
        _kill_group(process)
    with contextlib.suppress(PermissionError):
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def start(
    argv: Sequence[str],
    *,
    stdout: int | None = None,
    stderr: int | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    user: str | None = None,
    orphaned: int = signal.SIGKILL,
    keep: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a long-running child that dies when this process dies, even by SIGKILL (PR_SET_PDEATHSIG).

    `user` (root only) is who it runs as; `orphaned` is the signal it gets when this process dies; `keep` are file
    descriptors that stay open in it. Call it from a thread that lives as long as the process: the kernel ties the
    signal to the thread.
    """
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            preexec_fn=_as_child(orphaned),  # runs after the change of user, which would undo it
            start_new_session=True,
            pass_fds=keep,
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
        )
    except OSError as error:
        raise ShellError(f"{argv[0]} could not be started: {error.strerror}.") from error


def _as_child(orphaned: int) -> Callable[[], None]:
    tie = die_with_parent(orphaned)

    def prepare() -> None:
        reset_signals()
        tie()

    return prepare


def reset_signals() -> None:
    """Give signals that end or tell a process their default, and block none.

    A shell without job control starts what is in the background with SIGINT ignored, and that is inherited.
    """
    for signum in _INHERITED:
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def die_with_parent(signum: int = signal.SIGKILL) -> Callable[[], None]:
    """A preexec function that asks the kernel for `signum` when the parent dies."""
    parent = os.getpid()

    def ask() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signum))
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return ask
