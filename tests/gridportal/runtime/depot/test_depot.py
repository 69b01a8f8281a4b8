"""A real depot: what it keeps, for whom, how much of it, and what it bears."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
import stat
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.agent import frames
from gridportal.runtime.depot import depot_access, depot_client, depot_wire, slabs
from gridportal.runtime.depot.depot_access import DepotAccess
from gridportal.runtime.depot.depot_client import DepotError, Depots
from gridportal.runtime.depot.slabs import Slab
from tests.gridportal.runtime.depot.depots import MASTER, depot, process

TOKEN, OTHER = "0123456789abcdef", "fedcba9876543210"
NAME = f"{TOKEN}-0-0"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[tuple[str, int], Path]]:
    """A depot that the tests share, and its folder."""
    folder = tmp_path_factory.mktemp("depot") / "shards"
    with depot(folder, "n1", "--space", "64M", "--job-space", "32M") as address:
        yield address, folder


def access(address: tuple[str, int], job: str = "7", master: bytes = MASTER) -> DepotAccess:
    return depot_access.issued(master, job, {"n1": "{}:{}".format(*address)})


def client(address: tuple[str, int], job: str = "7", master: bytes = MASTER) -> Depots:
    return Depots(access(address, job, master), tries=1)


def fetched(depots: Depots, name: str, *wanted: Slab) -> bytes:
    received: list[bytes] = []
    depots.fetch("n1", name, lambda: [([slab], lambda content: received.append(bytes(content))) for slab in wanted])
    return b"".join(received)


def session(address: tuple[str, int], job: str = "7") -> depot_wire.Session:
    connection = socket.create_connection(address, timeout=10)
    return depot_wire.opened(connection, depot_wire.job_key(MASTER, job), job, "n1")


def test_what_is_put_is_there_for_the_same_job_in_parts(place: tuple[tuple[str, int], Path]) -> None:
    depots, content = client(place[0]), os.urandom(3_000_000)
    assert depots.put("n1", NAME, memoryview(content)) == zlib.crc32(content)
    assert depots.check("n1", NAME, len(content)) == zlib.crc32(content)
    wanted = [Slab(at, 1000) for at in range(0, 3_000_000, 30_000)]
    assert fetched(depots, NAME, *wanted) == b"".join(content[at : at + 1000] for at in range(0, 3_000_000, 30_000))
    assert depots.put("n1", f"{TOKEN}-1-0", memoryview(b"")) == 0
    assert depots.check("n1", f"{TOKEN}-1-0", 0) == 0


def test_only_the_job_itself_gets_its_shards(place: tuple[tuple[str, int], Path]) -> None:
    client(place[0]).put("n1", NAME, memoryview(b"mine"))
    with pytest.raises(DepotError, match="the job has nothing there") as refused:
        fetched(client(place[0], "8"), NAME, Slab(0, 1))
    assert refused.value.code == "missing"
    with pytest.raises(DepotError, match="does not answer"):
        fetched(client(place[0], "7", b"the key of another portal"), NAME, Slab(0, 1))
    forged = DepotAccess("7", depot_wire.job_key(MASTER, "8"), access(place[0]).addresses)
    with pytest.raises(DepotError, match="does not answer"):
        fetched(Depots(forged, tries=1), NAME, Slab(0, 1))
    assert fetched(client(place[0]), NAME, Slab(0, 4)) == b"mine"


def test_a_job_has_not_what_the_portal_has(place: tuple[tuple[str, int], Path]) -> None:
    asking = session(place[0])
    asking.send({"op": "jobs"})
    assert "op is one of put" in asking.receive()["error"]
    forged = DepotAccess("", depot_wire.job_key(MASTER, "7"), access(place[0]).addresses)
    with pytest.raises(DepotError, match="does not answer"):
        Depots(forged, tries=1).free("n1")


def test_the_folder_is_for_its_owner_alone(place: tuple[tuple[str, int], Path]) -> None:
    client(place[0]).put("n1", NAME, memoryview(b"mine"))
    modes = {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (place[1], *place[1].rglob("*"))}
    assert modes == {0}


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"op": 7},
        {"op": ["put"]},
        {"op": "put"},
        {"op": "put", "name": "../../etc/passwd", "bytes": 1},
        {"op": "put", "name": NAME + "/x", "bytes": 1},
        {"op": "put", "name": NAME + "\0", "bytes": 1},
        {"op": "put", "name": NAME, "bytes": -1},
        {"op": "put", "name": NAME, "bytes": True},
        {"op": "put", "name": NAME, "bytes": 10**30},
        {"op": "read", "name": "/etc/passwd", "slabs": [[0, 1, []]]},
        {"op": "read", "name": NAME},
        {"op": "read", "name": NAME, "slabs": [[0, 5, []]]},
        {"op": "read", "name": f"{OTHER}-0-0", "slabs": [[0, 1, []]]},
        {"op": "check", "name": NAME, "start": "0", "bytes": 1, "crc32": 0},
        {"op": "drop", "tokens": "all"},
        {"op": "drop", "tokens": ["..", 3]},
    ],
    ids=str,
)
def test_a_hostile_request_of_who_has_a_key_gets_a_sentence(
    place: tuple[tuple[str, int], Path], request_: dict[str, Any]
) -> None:
    client(place[0]).put("n1", NAME, memoryview(b"mine"))
    asking = session(place[0])
    asking.send(request_)
    assert asking.receive()["code"] in ("bad", "missing", "full")
    asking.send({"op": "check", "name": NAME, "start": 0, "bytes": 9, "crc32": 0})
    assert asking.receive() == {"crc32": zlib.crc32(b"mine"), "bytes": 4}


def test_a_link_in_its_folder_leads_nowhere(place: tuple[tuple[str, int], Path], tmp_path: Path) -> None:
    client(place[0], "links").put("n1", NAME, memoryview(b"mine"))
    (tmp_path / "secret").write_text("secret")
    (place[1] / "links" / f"{OTHER}-0-0").symlink_to(tmp_path / "secret")
    with pytest.raises(DepotError):
        fetched(client(place[0], "links"), f"{OTHER}-0-0", Slab(0, 6))
    (place[1] / "linked").symlink_to(tmp_path)
    with pytest.raises(DepotError, match="the job has nothing there"):
        client(place[0], "linked").put("n1", NAME, memoryview(b"mine"))


def test_what_was_recorded_in_another_connection_is_of_no_use(place: tuple[tuple[str, int], Path]) -> None:
    client(place[0]).put("n1", NAME, memoryview(b"mine"))
    key = depot_wire.job_key(MASTER, "7")
    first = _Recorded(place[0])
    asking = depot_wire.opened(first, key, "7", "n1")  # type: ignore[arg-type]
    asking.send({"op": "free"})
    second = socket.create_connection(place[0], timeout=10)
    second.recv(4096)
    second.sendall(first.sent)
    assert not _answered(second)
    assert asking.receive()["dropped"] >= 1  # by the connection it was meant for


def _answered(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(4096))
    except ConnectionError:
        return False


class _Recorded:
    def __init__(self, address: tuple[str, int]) -> None:
        self._socket, self.sent = socket.create_connection(address, timeout=10), b""

    def recv(self, count: int) -> bytes:
        return self._socket.recv(count)

    def sendall(self, content: bytes) -> None:
        self.sent += content
        self._socket.sendall(content)


@pytest.mark.parametrize("rubbish", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 5000, b"\0\0\0\0", b"\0\0\0\x05hello"])
def test_rubbish_ends_only_the_connection_it_came_by(place: tuple[tuple[str, int], Path], rubbish: bytes) -> None:
    stranger = socket.create_connection(place[0], timeout=15)
    stranger.sendall(rubbish)
    with contextlib.suppress(ConnectionError):
        while stranger.recv(4096):
            pass
    client(place[0]).put("n1", NAME, memoryview(b"mine"))


def test_strangers_that_say_nothing_keep_nobody_out(place: tuple[tuple[str, int], Path]) -> None:
    silent = [socket.create_connection(place[0], timeout=10) for _ in range(100)]
    try:
        client(place[0]).put("n1", NAME, memoryview(b"mine"))
    finally:
        for connection in silent:
            connection.close()


def test_a_job_and_a_node_have_bounds_and_the_space_comes_back(tmp_path: Path) -> None:
    with depot(tmp_path / "shards", "n1", "--space", "1M", "--job-space", "600K") as address:
        first, second = client(address, "1"), client(address, "2")
        half = memoryview(bytes(512 * 1024))
        first.put("n1", NAME, half)
        with pytest.raises(DepotError, match="may have 614400") as refused:
            first.put("n1", f"{TOKEN}-0-1", half)
        assert refused.value.code == "full"
        second.put("n1", NAME, half)
        with pytest.raises(DepotError, match="of at most 1048576"):
            client(address, "3").put("n1", NAME, memoryview(b"x"))
        first.drop("n1", [TOKEN])
        first.put("n1", NAME, memoryview(b"less"))
        first.put("n1", NAME, memoryview(b"more"))  # in the place of the first
        client(address, "3").put("n1", NAME, memoryview(b"x"))
        assert depot_client.jobs(address, MASTER, "n1") == {"1": 4096, "2": 512 * 1024, "3": 4096}
        assert depot_client.free(address, MASTER, "n1", "2") == 1
        assert depot_client.free(address, MASTER, "n1", "2") == 0
        assert depot_client.jobs(address, MASTER, "n1") == {"1": 4096, "3": 4096}
        assert not (tmp_path / "shards" / "2").exists()


def test_a_depot_that_is_started_again_has_what_was_whole(tmp_path: Path) -> None:
    with process(tmp_path, "n1") as (address, first):
        client(address).put("n1", NAME, memoryview(b"whole"))
        half = session(address)
        half.send({"op": "put", "name": f"{OTHER}-0-0", "bytes": 1000})
        assert half.receive() == {"go": True}
        half.connection.sendall(b"half")
        first.kill()
        first.wait()
    assert list(tmp_path.rglob("*.part"))
    with depot(tmp_path, "n1") as address:
        assert fetched(client(address), NAME, Slab(0, 5)) == b"whole"
        assert depot_client.jobs(address, MASTER, "n1") == {"7": 4096}
        assert not list(tmp_path.rglob("*.part"))
        with pytest.raises(DepotError, match="there is no shard"):
            fetched(client(address), f"{OTHER}-0-0", Slab(0, 1))


def test_who_goes_away_while_it_puts_leaves_nothing(place: tuple[tuple[str, int], Path]) -> None:
    half = session(place[0], "half")
    half.send({"op": "put", "name": NAME, "bytes": 10**6})
    assert half.receive() == {"go": True}
    half.connection.sendall(bytes(1000))
    half.connection.close()
    until = time.monotonic() + 30
    while depot_client.jobs(place[0], MASTER, "n1").get("half") or list((place[1] / "half").iterdir()):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_checkpoints_are_dropped_by_their_tokens(place: tuple[tuple[str, int], Path]) -> None:
    depots = client(place[0], "drops")
    for token in (TOKEN, OTHER):
        for rank in range(3):
            depots.put("n1", f"{token}-0-{rank}", memoryview(b"x"))
    assert depots.drop("n1", [OTHER], but=True) == 3
    assert depots.drop("n1", [TOKEN]) == 0
    assert depots.free("n1") == 3


def test_a_client_tries_again_until_the_depot_is_back(tmp_path: Path) -> None:
    with depot(tmp_path, "n1") as address:
        client(address).put("n1", NAME, memoryview(b"mine"))
    received: list[bytes] = []

    def fetch() -> None:
        wanted = [([Slab(0, 4)], lambda content: received.append(bytes(content)))]
        Depots(access(address)).fetch("n1", NAME, lambda: wanted)

    asking = threading.Thread(target=fetch)
    asking.start()
    with depot(tmp_path, "n1", listen="{}:{}".format(*address)):
        asking.join(timeout=60)
    assert received == [b"mine"]


def test_a_client_goes_on_where_a_depot_that_was_killed_has_left_off(tmp_path: Path) -> None:
    content, received = os.urandom(20 * 2**20), []
    with ExitStack() as stack:
        address, first = stack.enter_context(process(tmp_path, "n1"))
        client(address).put("n1", NAME, memoryview(content))

        def take(part: memoryview) -> None:
            received.append(bytes(part))
            if len(received) == 3:
                first.kill()
                first.wait()
                stack.enter_context(process(tmp_path, "n1", listen="{}:{}".format(*address)))

        wanted = [([Slab(at, slabs.MOST_BYTES)], take) for at in range(0, len(content), slabs.MOST_BYTES)]
        Depots(access(address)).fetch("n1", NAME, lambda: wanted)
    assert b"".join(received) == content


def test_a_disk_that_takes_no_more_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    with process(tmp_path, "n1") as (address, started):
        resource.prlimit(started.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(DepotError, match="The depot of n1 says: File too large") as refused:
            client(address).put("n1", NAME, memoryview(bytes(3_000_000)))
        assert refused.value.code == "full"
        client(address).put("n1", NAME, memoryview(b"little"))
        assert depot_client.jobs(address, MASTER, "n1") == {"7": 4096}
        assert [path.name for path in (tmp_path / "7").iterdir()] == [NAME]


def test_many_ranks_at_once_all_get_their_parts(place: tuple[tuple[str, int], Path]) -> None:
    content = os.urandom(200_000)
    client(place[0], "many").put("n1", NAME, memoryview(content))
    received: dict[int, bytes] = {}

    def fetch(number: int) -> None:
        wanted = [([Slab(number, 100_000)], lambda part: received.update({number: bytes(part)}))]
        Depots(access(place[0], "many"), tries=30).fetch("n1", NAME, lambda: wanted)

    ranks = [threading.Thread(target=fetch, args=(number,)) for number in range(100)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(timeout=60)
    assert received == {number: content[number : number + 100_000] for number in range(100)}


def test_it_stays_small_while_much_is_put_and_fetched(tmp_path: Path) -> None:
    with process(tmp_path, "n1") as (address, started):
        content = bytes(8 * 2**20)

        def turn(number: int) -> None:
            depots = Depots(access(address), tries=10)
            depots.put("n1", f"{TOKEN}-0-{number}", memoryview(content))
            fetched(depots, f"{TOKEN}-0-{number}", *[Slab(at, slabs.MOST_BYTES) for at in range(0, 2**23, 2**20)])
            fetched(depots, f"{TOKEN}-0-{number}", *[Slab(at, 8, ((50_000, 64),)) for at in range(100)])

        ranks = [threading.Thread(target=turn, args=(number,)) for number in range(12)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join(timeout=120)
        peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{started.pid}/status").read_text())
        assert peak is not None
        assert int(peak[1]) < 20 * 1024


def test_a_file_of_access_that_others_may_read_is_refused_and_a_key_is_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "depots.json"
    depot_access.write(file, depot_access.issued(MASTER, "7", "{node}:7782"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert depot_access.read(file).address("n3") == ("n3", 7782)
    file.chmod(0o640)
    with pytest.raises(Exception, match="only its owner may read") as refused:
        depot_access.read(file)
    assert depot_wire.job_key(MASTER, "7").hex() not in str(refused.value)


def test_frames_of_a_job_do_not_open_an_agent() -> None:
    agent = frames.AgentSide(MASTER, "n1", bytes(frames.NONCE))
    body = frames.dumped({"node": "n1", "nonce": "00" * frames.NONCE, "time": 0.0})
    with pytest.raises(frames.RefusedError):
        agent.feed(frames.sealed(depot_wire.job_key(MASTER, "7"), b"open" + bytes(frames.NONCE), 0, body))
