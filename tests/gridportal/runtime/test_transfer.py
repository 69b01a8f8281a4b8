"""A measured transfer between two agents."""

from __future__ import annotations

from gridportal.runtime import transfer


def test_the_rate_leaves_out_what_came_before_the_skip() -> None:
    assert transfer.rate([(0.0, 1_000), (5.0, 40_000), (6.0, 165_000)]) == 1e6


def test_what_is_too_short_to_skip_anything_is_measured_whole() -> None:
    assert transfer.rate([(0.0, 1_000), (1.0, 2_000)]) == 8_000


def test_a_moment_of_standstill_does_not_make_a_link_look_slow() -> None:
    steady = [(0.01 * i, 125_000 * i) for i in range(1, 40)]
    stalled = [(at + (0.3 if i > 20 else 0.0), count) for i, (at, count) in enumerate(steady)]
    assert abs(transfer.rate(steady) / 100e6 - 1) < 1e-6
    assert abs(transfer.rate(stalled) / 100e6 - 1) < 1e-6


def test_nothing_received_is_no_rate() -> None:
    assert transfer.rate([]) == 0.0
    assert transfer.rate([(1.0, 50)]) == 0.0


def test_a_transfer_over_loopback_arrives_whole_and_is_timed() -> None:
    listener = transfer.listen("127.0.0.1")
    transfer.serve_in_background(listener)
    answer = transfer.send("127.0.0.1", listener.getsockname()[1], size=1_000_000, seconds=5)
    assert answer["bytes"] == 1_000_000
    assert answer["bandwidth"] > 1e6
    assert answer["latency"] > 0
