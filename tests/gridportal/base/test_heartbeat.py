"""Rounds that one process counts are seen by another, and nobody writes where the board is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gridportal.base import heartbeat
from gridportal.base.threads_at_work import ThreadsAtWork

BEAT = "from gridportal.base.heartbeat import beat\nimport os\n"


def beating(code: str, board: heartbeat.Board | None, number: str | None = None) -> str:
    keep = [board.descriptor] if board else []
    environment = os.environ | {heartbeat.VARIABLE: number or str(keep[0] if keep else "")}
    done = subprocess.run(
        [sys.executable, "-c", BEAT + code], env=environment, pass_fds=keep, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rounds_are_counted_by_process_and_a_fork_counts_for_itself() -> None:
    board = heartbeat.Board()
    code = """
beat(); beat(); beat()
child = os.fork()
if not child:
    beat(); os._exit(0)
os.waitpid(child, 0)
print(os.getpid(), child)
"""
    parent, child = map(int, beating(code, board).split())
    assert board.rounds() == {parent: 3, child: 1}


def test_places_of_the_dead_are_used_again() -> None:
    board = heartbeat.Board()
    for _ in range(3):
        beating("beat()", board)
    assert len(board.rounds()) == 1


def test_a_process_without_a_board_counts_for_nobody() -> None:
    assert beating("beat(); print('well')", None) == "well\n"


def test_a_number_that_is_another_file_by_now_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    code = f"number = os.open({str(victim)!r}, os.O_RDWR); assert number == 3, number; beat()"
    beating(code, None, number="3")
    assert victim.read_bytes() == b"precious"


def test_a_busy_pool_is_not_jammed_and_one_that_ends_nothing_is() -> None:
    pool = ThreadsAtWork(2)
    pool.begin("a", 0.0)
    assert not pool.are_jammed(1000.0, 600.0), "one thread is free"
    pool.begin("b", 500.0)
    assert not pool.are_jammed(1000.0, 600.0), "one is not that long at it"
    assert pool.are_jammed(1101.0, 600.0)
    pool.end("a")
    assert not pool.are_jammed(1101.0, 600.0)
