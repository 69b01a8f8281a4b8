"""Kept connections to many agents: one round trip, and nobody holds up the others."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError
from monitoring.telemetry.adapters import agent_source as source
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.adapters.agent_source import Agents, AgentSource
from tests.bench import simulated_agents
from tests.gridportal.runtime.agent.agents import KEY, ROOT, agent

REPORT = {"op": "report"}


@contextmanager
def simulated(
    folder: Path, count: int, delay: float = 0.0, kind: str = "unix", first: int = 0
) -> Iterator[dict[str, str]]:
    """Agents that speak the real protocol, by their node's name."""
    argv = [sys.executable, "-m", "tests.bench.simulated_agents", str(folder), str(first), str(count), str(delay), kind]
    process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    try:
        yield {str(first + index): process.stdout.readline().strip() for index in range(count)}
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with simulated(tmp_path_factory.mktemp("agents"), 50) as addresses:
        yield addresses


@contextmanager
def pool_of(addresses: dict[str, str], key: bytes = simulated_agents.KEY) -> Iterator[AgentPool]:
    pool = AgentPool(key, addresses)
    yield pool
    pool.close()


@contextmanager
def listening(behaviour: str) -> Iterator[str]:
    """What is no agent, however it behaves."""
    server = socket.create_server(("127.0.0.1", 0))

    def live() -> None:
        try:
            while True:
                connection, _ = server.accept()
                if behaviour == "rubbish":
                    connection.sendall(b"\0\0\0\x02hi")
                elif behaviour == "flood":
                    connection.sendall(b"\xff" * 100_000)
                elif behaviour == "end":
                    connection.close()
                    continue
                kept.append(connection)
        except OSError:
            return

    kept: list[socket.socket] = []
    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)
    for connection in kept:
        connection.close()


def test_every_agent_answers_its_own_question_again_and_again(fifty: dict[str, str]):
    with pool_of(fifty) as pool:
        for _ in range(3):
            asked = pool.ask(dict.fromkeys(fifty, REPORT))
            assert set(asked.answers) == set(fifty)
            assert not asked.failures
            assert asked.bytes > 50 * 300


def test_connections_are_kept_between_rounds(fifty: dict[str, str]):
    with pool_of(fifty) as pool:
        pool.ask(dict.fromkeys(fifty, REPORT))
        before = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)}
        pool.ask(dict.fromkeys(fifty, REPORT))
        after = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)}
        assert before == after


def _is_open(descriptor: str) -> bool:
    try:
        os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return False
    return True


def test_one_that_is_silent_fails_at_the_limit_and_holds_up_nobody(fifty: dict[str, str]):
    with listening("silent") as address, pool_of({**fifty, "dead": address}) as pool:
        begun = time.monotonic()
        asked = pool.ask(dict.fromkeys([*fifty, "dead"], REPORT), limit=0.8)
        assert set(asked.answers) == set(fifty)
        assert asked.failures["dead"].reason == "no answer within 0.8 s"
        assert time.monotonic() - begun < 5
        again = pool.ask(dict.fromkeys([*fifty, "dead"], REPORT), limit=5.0)
        assert again.seconds < 0.8  # it is not asked again before its pause is over, and still told
        assert again.failures["dead"].since == asked.failures["dead"].since


@pytest.mark.parametrize(
    ("behaviour", "reason"), [("rubbish", "not JSON"), ("flood", "a frame of"), ("end", "it has ended")]
)
def test_what_is_no_agent_is_told_with_the_reason(fifty: dict[str, str], behaviour: str, reason: str):
    with listening(behaviour) as address, pool_of({**fifty, "other": address}) as pool:
        asked = pool.ask(dict.fromkeys([*fifty, "other"], REPORT))
        assert reason in asked.failures["other"].reason
        assert len(asked.answers) == 50


def test_nobody_at_an_address_is_a_reason_of_its_own(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    addresses = {"a": f"unix:{tmp_path}/none.sock", "b": f"127.0.0.1:{port}", "c": "nonsense"}
    with pool_of(addresses) as pool:
        failures = pool.ask(dict.fromkeys(addresses, REPORT)).failures
    assert failures["a"].reason == "no such file or directory"
    assert failures["b"].reason == "connection refused"
    assert "HOST:PORT" in failures["c"].reason


def test_an_agent_with_another_key_or_name_is_not_believed(fifty: dict[str, str]):
    with pool_of({"0": fifty["0"]}, b"another key altogether") as pool:
        assert "refused us" in pool.ask({"0": REPORT}).failures["0"].reason
    with pool_of({"1": fifty["0"]}) as pool:
        assert "refused us" in pool.ask({"1": REPORT}).failures["1"].reason


def test_an_agent_that_started_anew_is_reached_in_the_same_round(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with pool_of({"n1": where}, KEY.encode()) as pool:
        with agent(where):
            first = pool.ask({"n1": REPORT}).answers["n1"].document["pid"]
        with agent(where):
            second = pool.ask({"n1": REPORT}).answers["n1"].document["pid"]
    assert first != second


def test_an_agent_that_comes_back_is_asked_again_after_its_pause(tmp_path: Path):
    where = f"unix:{tmp_path}/n1.sock"
    with pool_of({"n1": where}, KEY.encode()) as pool:
        assert pool.ask({"n1": REPORT}).failures
        with agent(where):
            end = time.monotonic() + 20
            while not (asked := pool.ask({"n1": REPORT})).answers and time.monotonic() < end:
                time.sleep(0.1)
    assert not asked.failures


def test_the_address_of_a_socket_may_be_longer_than_the_kernel_takes(tmp_path: Path):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with simulated(tmp_path, 1) as addresses:
        (deep / "n.sock").symlink_to(addresses["0"].removeprefix("unix:"))
        with pool_of({"0": f"unix:{deep}/n.sock"}) as pool:
            assert pool.ask({"0": REPORT}).answers


def test_an_agent_listens_at_a_path_that_is_longer_than_the_kernel_takes(tmp_path: Path):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with agent(f"unix:{deep}/n1.sock"), pool_of({"n1": f"unix:{deep}/n1.sock"}, KEY.encode()) as pool:
        assert pool.ask({"n1": REPORT}).answers


def test_a_forked_process_connects_anew_and_does_not_disturb_its_parent(fifty: dict[str, str]):
    with pool_of(fifty) as pool:
        pool.ask(dict.fromkeys(fifty, REPORT))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if len(pool.ask(dict.fromkeys(fifty, REPORT)).answers) == 50 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(pool.ask(dict.fromkeys(fifty, REPORT)).answers) == 50


def test_the_clocks_offset_is_that_of_the_agent_and_not_of_the_way(tmp_path: Path):
    with simulated(tmp_path, 3, delay=0.1) as addresses, pool_of(addresses) as pool:
        answers = pool.ask(dict.fromkeys(addresses, REPORT)).answers
    assert all(abs(answer.clock_offset) < 0.05 for answer in answers.values())
    assert all(answer.round_trip < 0.09 for answer in answers.values())


def test_the_source_tells_which_agents_are_silent_since_when_and_why(fifty: dict[str, str], tmp_path: Path):
    some = {node: fifty[node] for node in ("0", "1")}
    agents = Agents({**some, "gone": f"unix:{tmp_path}/none"}, simulated_agents.KEY)
    try:
        found = AgentSource("test", agents).collect(time.time())
    finally:
        source.close("test")
    assert found.error_message.startswith("gone for 0 s (no such file")
    up = {sample.subject: sample.value for sample in found.samples if sample.metric == "agent_up"}
    assert up == {"0": 1.0, "1": 1.0, "gone": 0.0}
    # The other figures of a silent agent are absent, not zero.
    assert {sample.subject for sample in found.samples if sample.metric == "cpu"} == {"0", "1"}


def test_a_source_none_of_whose_agents_answers_fails_with_the_reasons(tmp_path: Path):
    agents = Agents({"n1": f"unix:{tmp_path}/none"}, b"k" * 20)
    with pytest.raises(BackendError, match="No agent answers: n1 for 0 s"):
        AgentSource("none", agents).collect(time.time())
    source.close("none")
