"""A real agent: whom it trusts, what it bears, what it tells."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.runtime.agent import resident_memory, server
from tests.gridportal.runtime.agent.agents import KEY, ROOT, Portal, agent, dial, until

LIGHT = (
    "import sys, gridportal.runtime.agent.__main__ as m;"
    "print(*sorted(name for name in sys.modules if name.partition('.')[0] not in sys.stdlib_module_names"
    " and not name.startswith(('gridportal', '__editable__', '_distutils_hack', 'sitecustomize', '__main__'))))"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An agent that the tests share: whatever one of them does to it, the next must find it well."""
    where = f"unix:{tmp_path_factory.mktemp('agent')}/n1.sock"
    with agent(where, "n1", "--probe", "127.0.0.1:0"):
        yield where


def is_well(address: str) -> None:
    portal = Portal(address).open()
    assert portal.ask(op="report")["node"] == "n1"
    portal.close()


def closed(connection: socket.socket) -> bool:
    connection.settimeout(15)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_it_imports_nothing_but_the_standard_library():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "", done.stderr


def test_it_reports_figures_that_can_be(address: str):
    portal = Portal(address).open()
    report = portal.ask(op="report")
    assert 0 < report["cpu"] <= 1
    assert report["cpu"] == pytest.approx(1 / (1 + report["load"]), abs=1e-3)
    assert 0 < report["memory"][0] <= report["memory"][1]
    assert 0 < report["disk"][0] <= report["disk"][1]
    assert "lo" not in report["interfaces"]
    assert all(len(numbers) >= 2 for numbers in report["interfaces"].values())
    received, answered = report["clock"]
    assert received <= answered <= time.time()
    portal.close()


def test_its_socket_is_for_its_owner_alone(address: str):
    assert Path(address.removeprefix("unix:")).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("node", "key"), [("n2", KEY), ("n1", "another key, as long as that")])
def test_it_ends_a_connection_of_whom_it_does_not_trust(address: str, node: str, key: str):
    stranger = Portal(address, node, key).open()
    assert closed(stranger.socket)
    is_well(address)


def test_it_does_not_answer_what_was_recorded_in_another_connection(address: str):
    first = Portal(address).open()
    question = first.side.ask({"op": "report"})
    first.socket.sendall(question)
    assert first.hear()["node"] == "n1"
    second = Portal(address)
    second.socket.sendall(first.opening + question)
    assert closed(second.socket)
    first.socket.sendall(question)
    assert closed(first.socket)
    is_well(address)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 5000,
        b"\0\0\0\0",
        b"\0\0\0\x05hello",
        b"\0\0\x10\0" + b"[" * 4096,
        b"\0" * 64,
    ],
    ids=["http", "too-long", "empty", "short", "brackets", "zeros"],
)
def test_rubbish_ends_only_the_connection_it_came_by(address: str, rubbish: bytes):
    connection = dial(address)
    connection.sendall(rubbish)
    assert closed(connection)
    is_well(address)


def test_a_hostile_question_of_who_has_the_key_does_not_harm_it(address: str):
    portal = Portal(address).open()
    for question in (
        {},
        {"op": 7},
        {"op": ["report"]},
        {"op": "probe"},
        {"op": "probe", "to": "x", "size": "a", "seconds": 1, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 99999], "size": 5, "seconds": 1, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 1], "size": 5, "seconds": float("nan"), "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 1], "size": 10**30, "seconds": 1, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 1], "size": float("inf"), "seconds": 1, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", float("inf")], "size": 5, "seconds": 1, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 1], "size": 5, "seconds": 10**400, "timeout": 1},
        {"op": "probe", "to": ["127.0.0.1", 1], "size": 5, "seconds": 1, "timeout": 1},
    ):
        assert "error" in portal.ask(**question)
    portal.close()
    is_well(address)


def test_a_question_in_single_bytes_is_answered(address: str):
    portal = Portal(address)
    for byte in portal.opening + portal.side.ask({"op": "report"}):
        portal.socket.sendall(bytes([byte]))
    assert portal.hear()["node"] == "n1"
    portal.close()


def test_many_strangers_do_not_keep_a_portal_out(address: str):
    known = Portal(address).open()
    known.ask(op="report")
    strangers = [dial(address) for _ in range(2 * server.MOST_CONNECTIONS)]
    assert known.ask(op="report")["node"] == "n1"
    is_well(address)
    for stranger in strangers:
        stranger.close()
    known.close()


def test_who_says_nothing_is_sent_away(address: str):
    silent = dial(address)
    silent.recv(4096)
    assert closed(silent)


def test_several_portals_are_served_at_once_while_a_probe_is_under_way(tmp_path: Path):
    silent = socket.create_server(("127.0.0.1", 0))
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where):
        asking, other = Portal(where).open(), Portal(where).open()
        order = {"op": "probe", "to": list(silent.getsockname()), "size": 1000, "seconds": 1, "timeout": 2}
        asking.socket.sendall(asking.side.ask(order))
        kept, _ = silent.accept()
        assert "another probe" in other.ask(**order)["error"]
        assert other.ask(op="report")["node"] == "n1"
        assert "error" in asking.hear()
        kept.close()
        asking.close()
        other.close()
    silent.close()


def test_two_agents_measure_the_way_between_them(tmp_path: Path):
    a, b = f"unix:{tmp_path}/a.sock", f"unix:{tmp_path}/b.sock"
    with agent(a, "a"), agent(b, "b", "--probe", "127.0.0.1:0"):
        target = Portal(b, "b").open()
        asking = Portal(a, "a").open()
        told = target.ask(op="report")["probe"]
        found = asking.ask(op="probe", to=told, size=3_000_000, seconds=2.0, timeout=8.0)
        assert found["bytes"] == 3_000_000
        assert found["bandwidth"] > 1e6
        assert 0 < found["latency"] < 1
        asking.close()
        target.close()


def test_no_probe_is_taken_from_who_has_another_key(tmp_path: Path):
    a, b = f"unix:{tmp_path}/a.sock", f"unix:{tmp_path}/b.sock"
    with agent(a, "a", key="the key of another portal"), agent(b, "b", "--probe", "127.0.0.1:0"):
        target = Portal(b, "b").open()
        asking = Portal(a, "a", "the key of another portal").open()
        told = target.ask(op="report")["probe"]
        assert "error" in asking.ask(op="probe", to=told, size=1000, seconds=1.0, timeout=5.0)
        asking.close()
        target.close()


def test_it_listens_on_tcp_too_and_on_what_it_was_handed():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with agent(f"127.0.0.1:{port}"):
        portal = Portal(f"127.0.0.1:{port}").open()
        assert portal.ask(op="report")["node"] == "n1"
        portal.close()


def test_sigterm_ends_it_at_once(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where) as process:
        portal = Portal(where).open()
        portal.ask(op="report")
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
        portal.close()


def test_a_second_life_takes_the_place_of_the_first(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where) as first:
        first.kill()
        first.wait()
    with agent(where):
        is_well(where)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [("readable", "chmod 600"), ("short", "at least 16"), ("absent", "can be read")],
)
def test_a_key_file_that_cannot_be_trusted_is_refused_in_one_sentence(tmp_path: Path, prepare: str, said: str):
    file = tmp_path / "key"
    if prepare != "absent":
        file.write_text("short" if prepare == "short" else KEY)
        file.chmod(0o640 if prepare == "readable" else 0o600)
    with agent(f"unix:{tmp_path}/n1.sock", "n1", "--key-file", str(file)) as process:
        assert process.wait(10) == 2
        assert process.stderr is not None
        words = process.stderr.read()
    assert said in words
    assert len(words.strip().splitlines()) == 1
    assert KEY not in words


def test_busy_processes_count_and_those_of_a_run_are_told_apart(tmp_path: Path):
    """Marked scope: only processes with this Grid and node in their environment, so that others' do not disturb."""
    place = {"GRIDPORTAL_GRID": str(tmp_path), "GRIDPORTAL_NODE": "n1"}
    where = f"unix:{tmp_path}/n1.sock"
    busy = [sys.executable, "-c", "while True: pass"]
    runs = {"GRIDPORTAL_RUN_DIR": str(tmp_path / "run-7")}
    with agent(where, "n1", "--scope", "marked", "--cpus", "1", env=place):
        both = [subprocess.Popen(busy, env={"PATH": os.environ["PATH"], **place, **more}) for more in ({}, runs)]
        portal = Portal(where).open()
        try:
            report = until(lambda: r if (r := portal.ask(op="report"))["load"] > 1.7 else None, "a load of two")
            assert report["runnable"] == 2
            assert report["cpu"] < 0.4
            assert list(report["runs"]) == [str(tmp_path / "run-7")]
            assert 0.5 < report["runs"][str(tmp_path / "run-7")]["load"] <= 1
        finally:
            for process in both:
                process.kill()
                process.wait()
        until(lambda: portal.ask(op="report")["load"] < 0.2, "the end of the load")
        portal.close()


def test_a_clock_that_differs_is_told(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where) as process:
        connection = dial(where)
        portal = Portal(where)
        portal.opening = portal.side.opening(portal.challenge, time.time() + 90)
        portal.open().ask(op="report")
        portal.close()
        connection.close()
        process.terminate()
        process.wait(5)
        assert process.stderr is not None
        assert "clock of the portal is +90" in process.stderr.read()


def test_rubbish_does_not_make_it_grow(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where) as process:

        def kilobytes() -> int:
            text = Path(f"/proc/{process.pid}/status").read_text()
            return int(text.partition("VmRSS:")[2].split()[0])

        is_well(where)
        before = kilobytes()
        for turn in range(600):
            connection = dial(where)
            with contextlib.suppress(OSError):
                connection.sendall(b"\0\0\x1f\xff" + bytes([turn % 256]) * 8000)
            connection.close()
        is_well(where)
        assert kilobytes() < before + 2048
        assert len(os.listdir(f"/proc/{process.pid}/fd")) < 20


def test_strangers_that_say_little_by_little_hold_no_place_of_a_probe_for_long(tmp_path: Path):
    a, b = f"unix:{tmp_path}/a.sock", f"unix:{tmp_path}/b.sock"
    with agent(a, "a"), agent(b, "b", "--probe", "127.0.0.1:0"):
        target, asking = Portal(b, "b").open(), Portal(a, "a").open()
        told = target.ask(op="report")["probe"]
        slow = [dial(f"{told[0]}:{told[1]}") for _ in range(4)]
        order = {"op": "probe", "to": told, "size": 1000, "seconds": 1.0, "timeout": 3.0}
        assert "error" in asking.ask(**order)

        def measured() -> bool:
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.send(b".")
            time.sleep(0.3)
            return "bandwidth" in asking.ask(**order)

        until(measured, "a place")
        for connection in (*slow, target, asking):
            connection.close()


def test_memory_of_a_run_counts_what_its_processes_share_once():
    pid = os.getpid()
    once = resident_memory.by_run({pid: "run"})["run"]
    twice = resident_memory.by_run({pid: "run", os.getppid(): "other", 2**22 + 1: "gone"})
    assert twice["run"] >= once // 2 > 0
    assert twice["gone"] == 0
