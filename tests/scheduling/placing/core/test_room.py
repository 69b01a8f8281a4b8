"""How many ranks fit on a node is what could be taken of it without taking anything from another job."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduling.jobs.core.rank_request import RankRequest
from scheduling.placing.core.room import FreeRoom, Ledger, NodeRoom, Use, most, uses

REQUESTS = st.builds(
    RankRequest,
    ranks=st.just(64),
    cpus_per_rank=st.integers(1, 5),
    memory_per_rank=st.none() | st.integers(1, 2000),
    gres_per_rank=st.sampled_from(["", "gpu:1", "gpu:a100:2", "nic"]),
)
ROOMS = st.builds(
    NodeRoom,
    cpus=st.none() | st.integers(1, 24),
    memory=st.none() | st.integers(0, 8000),
    gres=st.sampled_from([{}, {"gpu": 4, "gpu:a100": 4}, {"gpu": 2, "nic": 1}]),
)


@given(ROOMS, st.lists(st.tuples(REQUESTS, st.integers(1, 4)), max_size=3), REQUESTS, st.booleans())
def test_slots_are_the_most_ranks_that_could_be_taken(room, others, asked, shared):
    ledger = Ledger({"n1": room}, shared)
    for job, (request, ranks) in enumerate(others):
        taken = uses(request, ["n1"] * ranks)
        if ledger.fits(taken) and ranks <= ledger.slots("n1", request):
            ledger.take(job, taken)
    slots = ledger.slots("n1", asked)
    if not ledger.taken:
        assert slots == asked.slots(room.cpus, room.memory, room.gres)
        return
    assert not slots or ledger.fits(uses(asked, ["n1"] * slots))
    assert not ledger.fits(uses(asked, ["n1"] * (slots + 1)))
    assert slots == 0 or (shared and room.cpus is not None)


@given(ROOMS, REQUESTS, st.integers(1, 4))
def test_what_a_job_gives_back_is_free_again(room, asked, ranks):
    ledger = Ledger({"n1": room}, shared=True)
    before = ledger.slots("n1", asked), ledger.free_cpus("n1")
    ledger.take(1, uses(asked, ["n1"] * ranks))
    ledger.drop(1)
    assert (ledger.slots("n1", asked), ledger.free_cpus("n1"), ledger.taken) == (*before, {})


def test_what_others_have_of_a_node_is_not_free_where_jobs_share_nodes():
    room = NodeRoom(cpus=8, memory=8000, gres={"gpu": 4}, allocated=Use(5, 3000, {"gpu": 3}))
    shared, whole = Ledger({"n1": room}, shared=True), Ledger({"n1": room})
    asked = RankRequest(ranks=8, memory_per_rank=1000)
    assert (shared.slots("n1", asked), shared.slots("n1", asked, exclusive=True)) == (3, 0)
    assert (shared.slots("n1", asked, empty=True), whole.slots("n1", asked)) == (8, 8)
    shared.take(1, {"n1": Use(2, 1000, {"gpu": 1})})  # part of what is allocated
    assert shared.slots("n1", asked) == 3
    assert shared.slots("n1", RankRequest(ranks=2, gres_per_rank="gpu:1")) == 1
    assert shared.holders("n1") == [1]


def test_a_job_that_wants_a_node_for_itself_alone_shares_it_with_nobody():
    ledger = Ledger({"n1": NodeRoom(cpus=8)}, shared=True)
    asked = RankRequest(ranks=2)
    ledger.take(1, {"n1": Use(1)})
    assert (ledger.slots("n1", asked), ledger.slots("n1", asked, exclusive=True)) == (7, 0)
    ledger.take(2, {"n1": Use(1, exclusive=True)})
    assert ledger.slots("n1", asked) == 0


def test_groups_of_one_job_take_what_the_fullest_takes_where_they_meet():
    assert most([["n1", "n1", "n2"], ["n2", "n3", "n1"]]) == ("n1", "n1", "n2", "n3")


def test_free_room_counts_processors_where_jobs_share_nodes_and_nodes_elsewhere():
    rooms = {"n1": NodeRoom(cpus=4), "n2": NodeRoom(cpus=2), "n3": NodeRoom()}
    shared, whole = Ledger(rooms, shared=True), Ledger(rooms)
    for ledger in (shared, whole):
        ledger.take(1, {"n1": Use(1), "n3": Use(1)})
    assert FreeRoom.of(shared, list(rooms)) == FreeRoom(2, 3, 5, 7)
    assert FreeRoom.of(whole, list(rooms)) == FreeRoom(1, 3)
    assert FreeRoom(2, 3, 5, 7).admits(2, 5)
    assert not FreeRoom(2, 3, 5, 7).admits(2, 6)
    assert FreeRoom(2, 3, 5, 7).never_admits(1, 8)
