"""Python processes that are ready at once: each is forked off one that has imported everything, and can be killed.

To import Django and the portal takes seconds of a processor; a test that wants a fresh worker for each of its steps
spends most of its time on that. What is forked has a process id, a memory and database connections of its own. It ends
as soon as its code has: to take apart what it was forked with costs a third of a second of a processor.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# Runs behind any prefix, in any namespace: it knows only its two pipes. A child comes back from serve() with its code.
_SERVER = """
import gc, json, os, selectors, signal, sys, traceback

def serve():
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ready = selectors.DefaultSelector()
    ready.register(0, selectors.EVENT_READ)
    ready.register(woken, selectors.EVENT_READ)
    children, rest = {}, b""
    os.write(1, b"{}\\n")
    while True:
        for key, _ in ready.select():
            data = os.read(key.fd, 65536)
            if key.fd == woken:
                answer(children)
                continue
            if not data:
                for pid in children:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            *lines, rest = (rest + data).split(b"\\n")
            for line in lines:
                asked, files = json.loads(line), (os.memfd_create("out"), os.memfd_create("err"))
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    ready.close()
                    for old, new in zip((os.open(os.devnull, os.O_RDONLY), *files), (0, 1, 2)):
                        os.dup2(old, new)
                    os.environ.update(asked["environment"])
                    return asked["code"]
                children[pid] = (asked["number"], files)

def answer(children):
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        if pid not in children:
            continue
        number, files = children.pop(pid)
        words = []
        for file in files:
            words.append(os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace"))
            os.close(file)
        line = json.dumps([number, os.waitstatus_to_exitcode(status), *words]).encode() + b"\\n"
        while line:
            line = line[os.write(1, line):]

exec(sys.argv[1])
gc.freeze()
try:
    exec(serve())
    failed = 0
except BaseException:
    traceback.print_exc()
    failed = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(failed)
"""


class Ended(NamedTuple):
    """A process that ended: the negative number of a signal, or its exit code; and what it wrote."""

    returncode: int
    out: str
    err: str


class WarmPython:
    """Forks a process for each piece of code from one that has executed `first`."""

    def __init__(
        self, argv: Sequence[str], first: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        """`argv`: Python, behind whatever prefix."""
        self.argv = list(argv)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [*argv, "-c", _SERVER, first],
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin, self._process.stdout
        self._rest, self._started, self._ended = b"", 0, dict[int, Ended]()
        self._asking, self._reading = threading.Lock(), threading.Lock()
        self.close = weakref.finalize(self, _close, self._process)

    @property
    def is_alive(self) -> bool:
        """Whether it can fork."""
        return self._process.poll() is None

    def start(self, code: str, **environment: str) -> int:
        """Begin one process; its number for `end`."""
        with self._asking:
            self._started += 1
            request = {"number": self._started, "code": code, "environment": environment}
            self._in.write(json.dumps(request).encode() + b"\n")
            self._in.flush()
            return self._started

    def end(self, number: int, seconds: float = 200.0) -> Ended:
        """Wait for one of them. Raises TimeoutError, and ends all of them, when it takes longer."""
        until = time.monotonic() + seconds
        while True:
            with self._reading:  # of several threads one reads, perhaps the answer to another
                if number in self._ended:
                    return self._ended.pop(number)
                self._read(until)

    def _read(self, until: float) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            if not ready.select(max(0.0, until - time.monotonic())):
                self.close()
                raise TimeoutError("A worker did not end in time.")
        data = os.read(self._out.fileno(), 65536)
        if not data:
            self._errors.seek(0)
            raise AssertionError(self._errors.read().decode(errors="replace")[-3000:])
        *lines, self._rest = (self._rest + data).split(b"\n")
        for answer in map(json.loads, lines):
            if answer:
                self._ended[answer[0]] = Ended(*answer[1:])


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
    process.stdout.close()
