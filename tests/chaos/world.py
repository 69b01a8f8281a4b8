"""A world of its own for one portal: folders on small file systems, /tmp and processes that nobody else sees.

All of it lies in a mount, a process and a network namespace, which end with the harness: whatever a portal leaves
behind is seen from inside, and gone afterwards. The folders have short names, since sockets need them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gridportal.base import processes as shell

ROOT = Path("/mnt")
HOME, LEDGER, CLOCK, SLURM = ROOT / "home", ROOT / "ledger", ROOT / "clock", ROOT / "slurm"
CHECKOUT = Path(__file__).resolve().parents[2]
#: The file systems that can be filled, with their size in MB.
FILE_SYSTEMS = {"home": (HOME, 256), "runs": (HOME / "runs", 96), "postgres": (HOME / "postgres", 1536)}
_NAMESPACES = ("--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc")


def enter(argv: Sequence[str], output: int) -> subprocess.Popen[bytes]:
    """Start `python -m argv` in new namespaces; it ends with this process."""
    words = ["unshare", *_NAMESPACES, "--", sys.executable, "-m", *argv]
    return shell.start(words, stdout=output, cwd=str(CHECKOUT))


def build(*, postgres: bool) -> None:
    """The file systems and folders; once, inside the namespaces."""
    _command("ip", "link", "set", "lo", "up")
    for folder in (Path("/tmp"), Path("/dev/shm"), ROOT):
        _mount(folder, 64, mode="1777" if folder != ROOT else "755")
    for name, (folder, megabytes) in FILE_SYSTEMS.items():
        if name != "postgres" or postgres:
            folder.mkdir(mode=0o700)
            _mount(folder, megabytes, mode="700")
    if postgres:
        _own_postgres(FILE_SYSTEMS["postgres"][0])
    for folder in (CLOCK, SLURM):
        folder.mkdir()


def mounts() -> set[str]:
    """The places where something is mounted now."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return {line.split()[4] for line in lines}


def uptime() -> float:
    """Seconds since the machine booted, as the ledger counts them."""
    return float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])


def _own_postgres(folder: Path) -> None:
    """The mount point belongs to whom PostgreSQL runs as, as `serve` would have made it."""
    from gridportal.serve.server_user import server_user

    if user := server_user():
        _command("chown", user, str(folder))


def _mount(folder: Path, megabytes: int, mode: str) -> None:
    _command("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode={mode}", "gp-chaos", str(folder))


def _command(*argv: str) -> None:
    shell.run(argv, timeout=20, env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
