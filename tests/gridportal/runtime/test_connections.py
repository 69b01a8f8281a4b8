"""TCP connections as the kernel counts them."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

import pytest

from gridportal.runtime import connections
from gridportal.runtime.agent.traffic import Traffic
from gridportal.runtime.connections import Connection, Follower, owners, tcp_connections


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a TCP connection over loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    yield one, other
    one.close()
    other.close()


def seen(found: list[Connection], end: socket.socket) -> Connection:
    here, there = end.getsockname(), end.getpeername()
    return next(each for each in found if each.local == here and each.remote == there)


def send(one: socket.socket, other: socket.socket, size: int) -> None:
    one.sendall(b"x" * size)
    while size:
        size -= len(other.recv(size))


def test_both_ends_have_the_bytes_that_went_each_way(pair: tuple[socket.socket, socket.socket]):
    one, other = pair
    send(one, other, 70_001)
    send(other, one, 333)
    found = tcp_connections()
    here, there = seen(found, one), seen(found, other)
    assert (here.bytes_sent, here.bytes_received) == (70_001, 333)
    assert (there.bytes_sent, there.bytes_received) == (333, 70_001)
    assert here.uid == os.getuid()
    assert here.cookie != there.cookie


def test_a_connection_over_ipv6_is_seen_with_its_address():
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6 loopback here: {error}")
    with server, socket.create_connection(server.getsockname()[:2]) as one, server.accept()[0] as other:
        send(one, other, 10)
        assert any(each.local == other.getsockname()[:2] and each.bytes_received == 10 for each in tcp_connections())


def test_the_owner_of_a_socket_is_the_process_that_holds_it(pair: tuple[socket.socket, socket.socket]):
    inode = os.fstat(pair[0].fileno()).st_ino
    assert seen(tcp_connections(), pair[0]).inode == inode
    assert owners([inode, 0], [os.getpid()]) == {inode: os.getpid()}
    assert owners([inode], [1]) == {} or os.getpid() == 1
    assert owners([inode])[inode] == os.getpid()


def test_the_last_bytes_of_a_connection_are_told_when_it_ends(pair: tuple[socket.socket, socket.socket]):
    follower = Follower()
    if not follower.hears_ends:
        pytest.skip("the kernel tells the ends of connections to root only here")
    one, other = pair
    send(one, other, 100)
    there, _ = follower.look()
    cookie = seen(there, one).cookie
    send(one, other, 5_000)
    one.close()
    other.close()
    there, ended = follower.look()
    for _ in range(100):  # the kernel sends its notice a moment after the end
        if cookie in [each.cookie for each in ended]:
            break
        time.sleep(0.02)
        there, more = follower.look()
        ended = [*ended, *more]
    follower.close()
    assert cookie not in [each.cookie for each in there]
    # The ends of the stream itself count as a byte each.
    assert [each.bytes_sent for each in ended if each.cookie == cookie] == [pytest.approx(5_100, abs=2)]


class Looks:
    """A follower that shows what a test wants."""

    hears_ends = True

    def __init__(self, *looks: tuple[list[Connection], list[Connection]]) -> None:
        self.looks = list(looks)

    def look(self) -> tuple[list[Connection], list[Connection]]:
        return self.looks.pop(0)


def connection(cookie: int, sent: int, received: int, *, inode: int = 0, peer: str = "10.0.0.2") -> Connection:
    return Connection(("10.0.0.1", 1000 + cookie), (peer, 80), inode, sent, received, 0, cookie)


def traffic(monkeypatch: pytest.MonkeyPatch, *looks: tuple[list[Connection], list[Connection]]) -> Traffic:
    monkeypatch.setattr(connections, "Follower", lambda: Looks(*looks))
    monkeypatch.setattr(connections, "owners", lambda inodes, pids: {i: i for i in inodes if i in pids})
    return Traffic()


def test_bytes_of_a_run_are_those_of_its_processes_to_their_very_end(monkeypatch: pytest.MonkeyPatch):
    own, others = connection(1, 100, 10, inode=51), connection(2, 7, 7, inode=52, peer="10.0.0.3")
    later = connection(1, 400, 10, inode=51)
    last = connection(1, 450, 20)
    found = traffic(monkeypatch, ([own, others], []), ([later, others], []), ([others], [last]), ([others], []))
    for _ in range(4):
        found.look({51: "/runs/7"})
    assert found.by_run == {"/runs/7": [450, 20]}
    assert found.by_peer == {"10.0.0.2": [450, 20], "10.0.0.3": [7, 7]}


def test_what_began_and_ended_between_two_looks_counts_for_its_peer(monkeypatch: pytest.MonkeyPatch):
    found = traffic(monkeypatch, ([], []), ([], [connection(3, 60, 6)]))
    found.look({})
    found.look({})
    assert found.by_peer == {"10.0.0.2": [60, 6]}


def test_what_ranks_of_one_node_send_to_each_other_crosses_no_link(monkeypatch: pytest.MonkeyPatch):
    inside = [connection(4, 900, 0, inode=51, peer="10.0.0.1"), connection(5, 0, 900, inode=52, peer="10.0.0.1")]
    found = traffic(monkeypatch, ([*inside, connection(6, 50, 5, inode=51)], []), ([], inside))
    for _ in range(2):
        found.look({51: "/runs/7", 52: "/runs/7"})
    assert found.by_peer == {"10.0.0.2": [50, 5]}
    assert found.by_run == {"/runs/7": [50, 5]}


def test_a_kernel_that_tells_nothing_is_told_once_and_not_asked_again(monkeypatch: pytest.MonkeyPatch):
    class Silent:
        def look(self) -> None:
            raise OSError(93, "the kernel does not tell of connections")

    monkeypatch.setattr(connections, "Follower", Silent)
    found = Traffic()
    found.look({})
    found.look({})
    assert "does not tell" in found.error
    assert found.by_run == {}


def test_peers_beyond_the_most_are_forgotten_those_that_were_quiet_longest_first(monkeypatch: pytest.MonkeyPatch):
    looks = [([connection(n, 10, 0, peer=f"10.1.{n // 250}.{n % 250}") for n in range(600)], [])]
    found = traffic(monkeypatch, *looks)
    found.look({})
    assert len(found.by_peer) == 512
    assert "10.1.0.0" not in found.by_peer
