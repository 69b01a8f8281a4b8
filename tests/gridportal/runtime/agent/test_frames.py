"""Frames between portal and agent: only who has the key is heard, once, and in order."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.agent import frames
from gridportal.runtime.agent.frames import AgentSide, Frames, PortalSide, RefusedError

KEY = b"k" * 20


def connected(agent_nonce: bytes = b"a" * 16, node: str = "n1") -> tuple[AgentSide, PortalSide]:
    agent, portal = AgentSide(KEY, node, agent_nonce), PortalSide(KEY, node, b"p" * 16)
    agent.feed(portal.opening(agent.hello(), 12.0))
    return agent, portal


def test_a_question_is_answered_over_a_connection_that_both_have_proved():
    agent, portal = connected()
    assert agent.feed(portal.ask({"op": "report"})) == [(1, {"op": "report"})]
    assert portal.feed(agent.answer(1, {"load": 0.5})) == [{"load": 0.5}]


def test_the_opening_carries_the_portals_time():
    agent, portal = AgentSide(KEY, "n1", b"a" * 16), PortalSide(KEY, "n1", b"p" * 16)
    assert agent.feed(portal.opening(agent.hello(), 12.5))[0][1]["time"] == 12.5


@pytest.mark.parametrize(("key", "node"), [(b"x" * 20, "n1"), (KEY, "n2")])
def test_another_key_or_another_node_is_refused(key: bytes, node: str):
    agent, portal = AgentSide(KEY, "n1", b"a" * 16), PortalSide(key, node, b"p" * 16)
    with pytest.raises(RefusedError):
        agent.feed(portal.opening(agent.hello(), 12.0))


def test_an_opening_that_was_overheard_is_of_no_use_in_another_connection():
    first = AgentSide(KEY, "n1", b"a" * 16)
    overheard = PortalSide(KEY, "n1", b"p" * 16).opening(first.hello(), 12.0)
    first.feed(overheard)
    with pytest.raises(RefusedError):
        AgentSide(KEY, "n1", b"b" * 16).feed(overheard)


def test_a_question_is_heard_once():
    agent, portal = connected()
    question = portal.ask({"op": "report"})
    agent.feed(question)
    with pytest.raises(RefusedError):
        agent.feed(question)


def test_an_answer_is_believed_once_and_not_for_another_question():
    agent, portal = connected()
    agent.feed(portal.ask({}) + portal.ask({}))
    second = agent.answer(2, {"n": 2})
    with pytest.raises(RefusedError):
        portal.feed(second)


def test_what_the_portal_asks_cannot_be_sent_back_as_an_answer():
    _, portal = connected()
    with pytest.raises(RefusedError):
        portal.feed(portal.ask({"op": "report"}))


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(data: st.DataObject):
    agent, portal = connected()
    frame = bytearray(portal.ask({"op": "probe", "size": 7}))
    place = data.draw(st.integers(4, len(frame) - 1))
    frame[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(RefusedError):
        agent.feed(bytes(frame))


@given(st.lists(st.binary(max_size=200), max_size=8), st.data())
def test_frames_come_out_whole_however_they_are_cut(bodies: list[bytes], data: st.DataObject):
    stream = b"".join(map(frames.framed, bodies))
    cutter, found = Frames(200), []
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        found += cutter.cut(stream[:length])
        stream = stream[length:]
    assert found == bodies
    assert not cutter.waiting


@given(st.binary(max_size=300))
def test_rubbish_is_refused_or_waited_for_but_never_believed(rubbish: bytes):
    agent = AgentSide(KEY, "n1", b"a" * 16)
    with contextlib.suppress(RefusedError):
        assert agent.feed(rubbish) == []
    assert not agent.open


def test_a_frame_that_says_it_is_too_long_is_refused_before_it_is_kept():
    with pytest.raises(RefusedError):
        AgentSide(KEY, "n1", b"a" * 16).feed((frames.MOST_ASKED + 1).to_bytes(4, "big"))
