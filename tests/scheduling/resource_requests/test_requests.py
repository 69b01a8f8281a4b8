"""Requests from being sent to their answer: at once, within a lifetime, or not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.base.errors import BusyError, ConflictError, InputError
from monitoring.clusters.models import Node
from scheduling.matching.services import matches_at_once
from scheduling.matching.services.checked_texts import read_request
from scheduling.matching.services.limited_match import MatchTextError
from scheduling.matching.services.matches_at_once import match_of
from scheduling.matching.services.resource_policies import set_resource_ad
from scheduling.messages import message
from scheduling.resource_requests.models import MatchRequest
from scheduling.resource_requests.services import request_leases, request_rounds
from scheduling.resource_requests.services.resource_monitor import MONITOR
from scheduling.resource_requests.services.sending_requests import NewRequest, cancel_request, send_request
from tests.scheduling.resource_requests.pool_rows import THREE, TWO, keep_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return keep_pool()


def names(row: MatchRequest) -> list[str]:
    return [machine.dns for machine in row.match_answer.machines]


def test_a_synchronous_request_is_over_at_once(pool, people) -> None:
    row = send_request(people["user"], NewRequest(TWO))
    assert (row.state, names(row), row.tries) == ("answered", ["n1", "n2"], 1)
    row = send_request(people["user"], NewRequest(THREE))
    assert (row.state, row.match_answer.machines) == ("unmatched", ())
    why = "No set of resources meets all requirements on the set. The smallest change: do without SetSize == 3."
    assert [message(row.reason), message(row.events.last().reason)] == [why, why]
    assert [event.to_state for event in row.events.all()] == ["waiting", "unmatched"]
    collective = row.match_answer.explanation.clauses[-1]
    assert (collective.text, collective.is_collective) == ("SetSize == 3", True)


def test_the_services_of_the_paper_are_taken(pool, people) -> None:
    synchronous = TWO.replace("[", '[ Service = "Synchronous";', 1)
    assert send_request(people["user"], NewRequest(synchronous)).state == "answered"
    asynchronous = THREE.replace("[", '[ Service = "Asynchronous";', 1)
    with pytest.raises(InputError, match=r"Service is .*; accepted is that word together with a lifetime"):
        send_request(people["user"], NewRequest(asynchronous))
    assert send_request(people["user"], NewRequest(asynchronous, lifetime=60)).state == "waiting"


def test_two_texts_of_a_person_are_matched_at_a_time(pool, people) -> None:
    with match_of(people["user"].pk), match_of(people["user"].pk):
        with pytest.raises(BusyError, match="Two of your requests are being matched"):
            send_request(people["user"], NewRequest(TWO))
        assert send_request(people["operator"], NewRequest(TWO)).state == "answered"
        assert not MatchRequest.objects.filter(owner=people["user"]).exists()
    with pytest.raises(ZeroDivisionError), match_of(people["user"].pk):
        raise ZeroDivisionError
    assert send_request(people["user"], NewRequest(TWO)).state == "answered"


def test_a_place_of_a_process_that_died_is_free_later(monkeypatch) -> None:
    lasting: list[float] = []
    monkeypatch.setattr(matches_at_once.cache, "add", lambda key, value, timeout: lasting.append(timeout) or True)
    with match_of(1):
        pass
    assert 0 < lasting[0] <= 300


@pytest.mark.parametrize("control", ["\0", "\x01", "\x0b", "\x1b", "\x1f"])
def test_control_characters_are_refused_at_their_place(control: str) -> None:
    with pytest.raises(InputError, match=r"line 2, column 4 .*; accepted is a text without control characters"):
        read_request(f'[ a =\n\t" {control}" ]\r\n')
    assert read_request('[ a =\r\n\t"b" ]').ad


def test_an_asynchronous_one_is_answered_when_a_set_turns_up(pool, people) -> None:
    row = send_request(people["user"], NewRequest(THREE.replace("utk", "uiuc"), lifetime=600))
    assert (row.state, row.tries) == ("waiting", 1)
    request_rounds.advance_requests()
    row.refresh_from_db()
    assert row.tries == 1, "nothing has changed"
    Node.objects.filter(name__in=("n3", "n4")).update(cpu=0.9)
    Node.objects.filter(name="n2").update(labels={"site": "uiuc"})
    MONITOR.forget()
    assert request_rounds.advance_requests() == 1
    row.refresh_from_db()
    assert (row.state, sorted(names(row)), row.tries) == ("answered", ["n2", "n3", "n4"], 2)


def test_it_expires_when_its_lifetime_is_over(pool, people) -> None:
    row = send_request(people["user"], NewRequest(THREE.replace("[", "[ lifetime = 60;")))
    assert (row.lifetime, row.state) == (60, "waiting")
    MatchRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert request_rounds.advance_requests() == 1
    row.refresh_from_db()
    assert (row.state, row.lease_holder) == ("expired", "")
    assert message(row.reason).startswith("No set turned up within its lifetime. No set of resources meets all")


def test_what_a_worker_has_in_hand_is_left_to_it(pool, people) -> None:
    row = send_request(people["user"], NewRequest(THREE, lifetime=60))
    assert request_leases.acquire(row)
    MatchRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1), unmatched_on="")
    assert request_rounds.advance_requests() == 0
    request_leases.release(row)
    assert request_rounds.advance_requests() == 1


def test_a_wait_is_cancelled_once(pool, people) -> None:
    row = send_request(people["user"], NewRequest(THREE, lifetime=60))
    assert cancel_request(people["user"], row).state == "cancelled"
    with pytest.raises(ConflictError):
        cancel_request(people["user"], row)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[ requirements = ) ]", InputError),
        ('[ Type = "Set"; requirements = Max(Sum(other.cpu)) > 1 ]', MatchTextError),
        ('[ Service = "InstantService"; lifetime = 5 ]', InputError),
        ("[ lifetime = 0 ]", InputError),
    ],
)
def test_what_is_no_request_is_refused(pool, people, text, error) -> None:
    with pytest.raises(error) as refused:
        send_request(people["user"], NewRequest(text))
    assert (refused.value.line, refused.value.column > 2) == (1, True), "each is told with its place"
    assert not MatchRequest.objects.exists()


def test_the_label_counts_for_the_memory_of_an_emulated_node(pool, people) -> None:
    row = send_request(people["user"], NewRequest("[ requirements = other.memory <= 16G && other.cpus == 4 ]"))
    assert row.state == "answered"


def test_a_nodes_own_ad_says_who_may_use_it(pool, people) -> None:
    set_resource_ad(people["administrator"], "grid", "n1", '[ requirements = other.owner == "operator" ]')
    set_resource_ad(people["administrator"], "grid", "", "[ rack = 7 ]")
    MONITOR.forget()
    text = "[ requirements = other.rack == 7; rank = other.cpu ]"
    assert names(send_request(people["operator"], NewRequest(text))) == ["n1"]
    refused = send_request(people["user"], NewRequest(text.replace("[", '[ owner = "operator";')))
    assert names(refused) == ["n2"], "who sends it is the portal's word"
    Node.objects.filter(name="n2").update(closed="drained")
    MONITOR.forget()
    assert names(send_request(people["user"], NewRequest(text))) == ["n3"]


def test_an_ad_of_no_node_or_no_sense_is_refused(pool, people) -> None:
    with pytest.raises(InputError):
        set_resource_ad(people["administrator"], "grid", "n9", "[ rack = 7 ]")
    with pytest.raises(InputError):
        set_resource_ad(people["administrator"], "grid", "n1", "[ rack = ]")
