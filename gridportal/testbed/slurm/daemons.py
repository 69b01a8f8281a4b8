"""The daemons of a Grid's Slurm as gridd's children: started, signalled, awaited, started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError, ShellError
from gridportal.testbed import machine
from gridportal.testbed.slurm.config import CONTROL_ADDRESS, HOME
from gridportal.testbed.spawn import Spawner

_KEY = "@slurm"
_ENDING = 8.0

#: argument lists by daemon; slurmd has its node's name added.
COMMANDS = {
    "munge": [
        "munged",
        "--foreground",
        "--force",
        f"--key-file={HOME}/munge.key",
        f"--socket={HOME}/munge.sock",
        f"--pid-file={HOME}/munged.pid",
        f"--log-file={HOME}/munged.log",
        f"--seed-file={HOME}/munged.seed",
        "--num-threads=4",
    ],
    "db": [
        "mariadbd",
        "--no-defaults",
        "--user=root",
        f"--datadir={HOME}/db",
        f"--socket={HOME}/db.sock",
        f"--pid-file={HOME}/db.pid",
        "--bind-address=127.0.0.1",
        "--port=3306",
        "--skip-grant-tables",
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=32M",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-log-file-size=8M",
        "--innodb-lock-wait-timeout=900",
        "--skip-log-bin",
    ],
    "dbd": ["slurmdbd", "-D"],
    "ctld": ["slurmctld", "-D"],
    "slurmd": ["slurmd", "-D", "-N"],
}


class Daemon:
    """One daemon: its process while it has one."""

    def __init__(self, spawner: Spawner, home: Path, kind: str, node: str | None = None) -> None:
        self.kind, self.node = kind, node
        self.name = f"{kind}:{node}" if node else kind
        self._spawner, self._home = spawner, home
        self._process: subprocess.Popen[bytes] | None = None
        self._ended: asyncio.Future[int] | None = None
        self._frozen = False

    @property
    def pid(self) -> int | None:
        """Its process inside the Grid; None while it does not run."""
        return self._process.pid if self._process and self._ended and not self._ended.done() else None

    def view(self) -> dict[str, Any]:
        """state: running, frozen or ended."""
        state = "ended" if self.pid is None else "frozen" if self._frozen else "running"
        return {"name": self.name, "state": state, "pid": self.pid}

    def start(self) -> None:
        """Start it unless it runs."""
        if self.pid is not None:
            return
        program, *options = COMMANDS[self.kind]
        path = shutil.which(program, path=machine.tool_path()) or program
        argv = [path, *options, *([self.node] if self.node else [])]
        self._frozen, self._ended = False, asyncio.get_running_loop().create_future()
        with (self._home / f"{self.name.replace(':', '-')}.out").open("ab") as output:
            env = {"SLURM_CONF": f"{HOME}/slurm.conf", "LC_ALL": "C"}
            self._process = self._spawner.start(
                self.node, argv, _KEY, env=env, output=output.fileno(), on_exit=self._ended.set_result
            )

    def send(self, signum: int) -> None:
        """Send it a signal; nothing happens when it has ended."""
        if self.pid is not None:
            os.kill(self.pid, signum)
            self._frozen = signum == signal.SIGSTOP or (self._frozen and signum != signal.SIGCONT)

    async def end(self, signum: int = signal.SIGTERM) -> None:
        """End it, by KILL when it does not end within some seconds, and wait until it is gone."""
        if self._ended is None or self.pid is None:
            return
        if self._frozen:
            signum = signal.SIGKILL
        self.send(signum)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._ended), _ENDING)
        self.send(signal.SIGKILL)
        await asyncio.shield(self._ended)

    def why(self) -> str:
        """Its last words."""
        with contextlib.suppress(OSError, IndexError):
            file = self._home / f"{self.name.replace(':', '-')}.out"
            return file.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1]
        return "it said nothing"


async def command(spawner: Spawner, home: Path, argv: Sequence[str], timeout: float) -> tuple[int | None, str]:
    """Exit code (None: killed, it was too slow) and output of a command in the fabric."""
    path = shutil.which(argv[0], path=machine.tool_path()) or argv[0]
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    log = home / f"command-{argv[0]}.out"
    with log.open("wb") as output:
        env = {"SLURM_CONF": f"{HOME}/slurm.conf", "LC_ALL": "C"}
        process = spawner.start(
            None, [path, *argv[1:]], _KEY, env=env, output=output.fileno(), on_exit=ended.set_result
        )
    try:
        code = os.waitstatus_to_exitcode(await asyncio.wait_for(asyncio.shield(ended), timeout))
    except TimeoutError:
        code = None
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    return code, log.read_text(encoding="utf-8", errors="replace")


async def demand(spawner: Spawner, home: Path, argv: Sequence[str], timeout: float) -> str:
    """The output of a command that must succeed. Raises BackendError with its last words."""
    try:
        code, output = await command(spawner, home, argv, timeout)
    except ShellError as error:
        raise BackendError(str(error)) from error
    if code != 0:
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise BackendError(f"{argv[0]} failed ({'too slow' if code is None else f'exit code {code}'}): {last}")
    return output


async def listening(port: int, seconds: float) -> bool:
    """Whether something accepts connections on `port` of the fabric within `seconds`."""
    return await until(lambda: _accepts(port), seconds)


async def until(condition: Any, seconds: float) -> bool:
    """Whether the (awaited) condition becomes true within `seconds`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end:
        if await condition():
            return True
        await asyncio.sleep(0.05)
    return False


async def _accepts(port: int) -> bool:
    for address in ("127.0.0.1", CONTROL_ADDRESS):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(address, port)
            writer.close()
            return True
    return False
