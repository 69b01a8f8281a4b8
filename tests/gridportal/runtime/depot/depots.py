"""Real depots as processes of their own, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY = "a key for tests, long enough"
MASTER = KEY.encode()
ROOT = str(Path(__file__).parents[4])


@contextmanager
def depot(folder: Path, node: str = "n1", *more: str, listen: str = "127.0.0.1:0") -> Iterator[tuple[str, int]]:
    """The address of a depot that keeps shards in `folder`, until this is left."""
    with process(folder, node, *more, listen=listen) as (address, _):
        yield address


@contextmanager
def process(
    folder: Path, node: str = "n1", *more: str, listen: str = "127.0.0.1:0"
) -> Iterator[tuple[tuple[str, int], subprocess.Popen[str]]]:
    """The same with its process."""
    argv = [sys.executable, "-S", "-m", "gridportal.runtime.depot", "--node", node, "--listen", listen]
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": ROOT, "GRIDPORTAL_AGENT_KEY": KEY}
    started = subprocess.Popen(
        [*argv, "--folder", str(folder), *more], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None
        host, _, port = started.stdout.readline().strip().rpartition(":")
        assert host, started.communicate()
        yield (host, int(port)), started
    finally:
        started.kill()
        started.communicate()
