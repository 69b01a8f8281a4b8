"""The kernel's keys: what lies in the session keyring of whoever starts a Grid, its jobs do not get."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.gridportal.testbed import keys
from tests.gridportal.testbed.conftest import ATTEMPT, House

pytestmark = pytest.mark.grid


def steps(house: House, lines: list[str], nodes: tuple[str, ...] = ("n1",)) -> list[str]:
    """What became of each step of a job that calls for keys, on the last of `nodes`."""
    body = ATTEMPT + keys.CALLS + "".join(f"attempt(lambda: {line})\n" for line in lines)
    way = f"$HYDRA_LAUNCHER_EXEC {nodes[-1]} {sys.executable} -" if len(nodes) > 1 else f"exec {sys.executable} -"
    return house.run(f"{way} <<'END'\n{body}END\n", nodes=nodes)


@pytest.mark.in_turn("nodes")
@pytest.mark.parametrize("nodes", [("n1",), ("n1", "n2")])
def test_a_key_of_whoever_started_the_grid_cannot_be_had(house: House, nodes: tuple[str, ...]) -> None:
    name, ring = keys.STARTERS, keys.number_of_session()
    key = keys.find(name)
    lines = [f"find({name})", f"request({name})", f"content({key})", f"link({key})", f"link({ring})"]
    said = steps(house, lines, nodes)
    assert [line.split()[0] for line in said] == ["refused"] * len(lines), dict(zip(lines, said, strict=False))


@pytest.mark.in_turn("nodes")
@pytest.mark.parametrize("nodes", [("n1",), ("n1", "n2")])
def test_a_key_of_the_user_who_runs_the_grid_cannot_be_had_by_its_number(house: House, nodes: tuple[str, ...]) -> None:
    name = b"gridportal-test-of-user"
    ring, key = keys.put_into_users(name, b"hush")
    try:
        lines = [f"content({key})", f"link({key})", f"search({ring}, {name})", f"link({ring})", f"find({name})"]
        said = steps(house, lines, nodes)
    finally:
        keys.take_from_users(key)
    assert [line.split()[0] for line in said] == ["refused"] * len(lines), dict(zip(lines, said, strict=False))


def test_a_job_has_a_keyring_of_its_own_that_no_other_finds_or_none(house: House) -> None:
    mine = steps(house, ["content(add(b'mine', b'text'))", "content(find(b'mine'))"])
    if house.grid.status()["isolation"]["level"] == "own-view":  # keys are a user's, and that is the Grid's
        assert mine == ["refused OSError"] * 2
        return
    assert mine == ["got b'text'"] * 2
    assert steps(house, ["find(b'mine')", "request(b'mine')"]) == ["refused OSError"] * 2


FULL = """
import ctypes, errno, os, signal
from gridportal.testbed.sandbox import keyring
os.setuid(54321)
keyring.join_closed()
reading, writing = os.pipe()
if os.fork() == 0:
    join()
    try:
        while True:
            add(os.urandom(8).hex().encode(), b"text")
    except OSError as error:
        os.write(writing, str(error.errno).encode())
        signal.pause()
assert int(os.read(reading, 9)) == errno.EDQUOT  # and that process holds them still
keyring.join_own()
try:
    add(b"mine", b"text")
except OSError as error:
    print(errno.errorcode[error.errno])
os.killpg(0, signal.SIGTERM)
"""


def test_where_no_more_keys_may_be_had_a_run_begins_all_the_same_without_one() -> None:
    """A job that fills the quota, which jobs share where they run as one user, must not keep others from starting."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user would fill a quota that others may need")
    code = FULL.replace("import ctypes, errno, os, signal", "import ctypes, errno, os, signal" + keys.CALLS)
    done = subprocess.run(
        [sys.executable, "-uc", code], capture_output=True, text=True, timeout=60, start_new_session=True
    )
    assert (done.stdout, done.stderr) == ("EACCES\n", "")
