"""The filter on the calls for keys: read as the kernel reads it, and asked of the kernel in a process of its own."""

from __future__ import annotations

import errno
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.testbed.sandbox import seccomp
from gridportal.testbed.sandbox.level import OPEN_KEYS, Isolation
from gridportal.testbed.sandbox.starter import Starter
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

ALLOWED, REFUSED = 0x7FFF0000, 0x00050000 | errno.ENOSYS
X86_64, I386, AARCH64, ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028
CALLS = {X86_64: (248, 249, 250), I386: (286, 287, 288), AARCH64: (217, 218, 219), ARM: (309, 310, 311)}


def verdict(architecture: int, number: int) -> int:
    """What the filter says of a call, by a reader of the packet filter's language."""
    lines = list(struct.iter_unpack("=HBBI", seccomp.program()))
    value, at = 0, 0
    while True:
        code, yes, no, word = lines[at]
        at += 1
        match code:
            case 0x20:  # load a word
                value = {0: number, 4: architecture}[word]
            case 0x54:  # and
                value &= word
            case 0x15 | 0x25 | 0x35:  # equal, above, from
                at += yes if {0x15: value == word, 0x25: value > word, 0x35: value >= word}[code] else no
            case 0x06:  # return
                return int(word)
            case _:
                raise AssertionError(hex(code))


@given(st.sampled_from([*CALLS, 0xC00000F3]), st.integers(0, 600) | st.integers(0, 2**32 - 1))
def test_the_calls_for_keys_are_refused_on_each_architecture_and_no_others(architecture: int, number: int) -> None:
    numbers = {each | x32 for each in CALLS.get(architecture, ()) for x32 in (0, 0x40000000)}
    assert verdict(architecture, number) == (REFUSED if number in numbers else ALLOWED)


@pytest.mark.parametrize(
    ("architecture", "number"), [(a, n | x) for a in CALLS for n in CALLS[a] for x in (0, 1 << 30)]
)
def test_each_call_for_keys_is_refused(architecture: int, number: int) -> None:
    assert verdict(architecture, number) == REFUSED


FILTERED = """
import ctypes, errno, os, sys
from gridportal.testbed import kernel
from gridportal.testbed.sandbox import seccomp
libc = ctypes.CDLL(None, use_errno=True)
def keyctl():
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(int(sys.argv[1]), 0, -3, 0) < 0 else "answered"
before = keyctl()
kernel.give_up_privileges()
seccomp.close_keys()
print(before, keyctl(), os.popen("echo others go on").read().strip())
"""


def test_the_kernel_takes_the_filter() -> None:
    if not seccomp.closes_keys():
        pytest.skip("no seccomp filters here")
    number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
    argv = [sys.executable, "-c", FILTERED, str(number)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    before, after, others = done.stdout.strip().split(maxsplit=2)
    assert (after, others) == ("ENOSYS", "others go on")
    assert before in ("answered", "ENOKEY", "EPERM", "ENOSYS")  # containers may refuse it before


def test_a_machine_without_filters_is_told_and_nothing_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not seccomp.closes_keys()
    seccomp.close_keys()
    state = State(tmp_path)
    starter = Starter(state, Spawner(state, ["n1"], {}, {}))
    starter.level = Isolation.OWN_VIEW
    assert OPEN_KEYS in starter.view()["message"]
    starter.level = Isolation.OWN_USER
    assert OPEN_KEYS not in starter.view()["message"]
