"""Long time slices, read back from the system."""

from __future__ import annotations

import ctypes
import platform
import struct
import subprocess
import sys
import threading

import pytest

from gridportal.experiments.cactus.time_slices import SLICE, lengthen_slice

_FORM = "=IIQiIQQQ"
_READ = {"x86_64": 315, "aarch64": 275}


def slice_of(task: int) -> int:
    """Nanoseconds that the system has noted for a thread, 0 for its own choice."""
    room = ctypes.create_string_buffer(struct.calcsize(_FORM))
    assert ctypes.CDLL(None).syscall(_READ[platform.machine()], task, room, len(room), 0) == 0
    return int(struct.unpack(_FORM, room.raw)[5])


def has_slices() -> bool:
    numbers = platform.release().split("-")[0].split(".")
    return sys.platform == "linux" and tuple(map(int, numbers[:2])) >= (6, 12)


@pytest.mark.skipif(platform.machine() not in _READ or not has_slices(), reason="Linux has slices from 6.12 on")
def test_another_thread_gets_the_long_slice_and_this_one_keeps_its_own() -> None:
    told, ended = threading.Event(), threading.Event()
    numbers: list[int] = []

    def wait() -> None:
        numbers.append(threading.get_native_id())
        told.set()
        ended.wait(60)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        assert told.wait(60)
        before = slice_of(threading.get_native_id())
        assert lengthen_slice(numbers[0])
        assert slice_of(numbers[0]) == SLICE
        assert slice_of(threading.get_native_id()) == before != SLICE
    finally:
        ended.set()
        thread.join()


def test_a_thread_that_has_ended_gets_none() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(timeout=60)
    assert not lengthen_slice(ended.pid)
