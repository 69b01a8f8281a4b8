"""The sentences of a job's story."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gridportal.base.reasons import NOTHING, Code, Reason, text_reason, too_few_free
from scheduling.jobs.core import last_messages as last_words
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, RankPair
from scheduling.messages import message
from scheduling.messages.selection_messages import finding


def edge(ranks: tuple[int, int], source: str, target: str, rate: float) -> RankPair:
    return RankPair(ranks, source, target, rate, 1.0)


SLOW = edge((0, 1), "n3", "n7", 48e6)
REST = [edge((1, 2), "n7", "n5", 71e6), edge((2, 3), "n5", "n9", 90e6)]


def group(*edges: RankPair, bottleneck: RankPair | None, link: tuple[str, str] | None = None) -> CandidateGroup:
    slowest = Bottleneck(replace(bottleneck, link=link)) if bottleneck else None
    return CandidateGroup(("n3", "n7", "n5", "n9"), edges=edges, bottleneck=slowest)


def _ended(*facts: Any) -> str:
    return message(last_words.ended(*facts))


def test_the_finding_names_the_bottleneck_and_what_the_rest_has() -> None:
    found = finding(group(SLOW, *REST, bottleneck=SLOW), 100e6)
    assert found == "n3-n7 is the bottleneck: 48 of 100 Mbit/s; every other pair that talks has 71 Mbit/s or more."


def test_pairs_that_are_as_slow_are_counted() -> None:
    found = finding(group(SLOW, edge((1, 2), "n7", "n5", 48.1e6), bottleneck=SLOW), 100e6)
    assert found == "n3-n7 and 1 other pair that talks have the least: 48 of 100 Mbit/s each."
    more = edge((2, 3), "n5", "n9", 48e6)
    found = finding(group(SLOW, edge((1, 2), "n7", "n5", 48.1e6), more, bottleneck=SLOW), talks=False)
    assert found == "n3-n7 and 2 other pairs have the least: 48 Mbit/s each."


def test_a_group_without_a_pair_that_talks_is_compared_by_its_processors_once() -> None:
    alone: dict[str, Any] = {"pair": None, "cpu": 0.98}
    lower = message(Reason.of(Code.LOWER_CPU, cpu=0.98, best=0.99, is_faster=False, group=alone))
    assert lower == "no pair of its nodes talks, as in the chosen group, but lowest cpu 98 % against 99 %"
    talks: dict[str, Any] = {"pair": ["a", "b"], "is_linked": True, "bandwidth": 5e7, "cpu": 0.98}
    lower = message(Reason.of(Code.LOWER_CPU, cpu=0.98, best=0.99, is_faster=False, group=talks))
    assert lower == "bottleneck a-b gives 50 Mbit/s as in the chosen group, but lowest cpu 98 % against 99 %"


def test_a_link_in_the_middle_of_the_path_is_named() -> None:
    found = finding(group(SLOW, bottleneck=SLOW, link=("suez", "gibraltar")), 1.55e9)
    assert "over the link suez-gibraltar," in found


def test_a_group_in_which_nobody_talks_has_no_bottleneck() -> None:
    assert finding(group(bottleneck=None)).startswith("No pair")
    assert finding(CandidateGroup(("n1",))).startswith("One rank on n1")


def test_waiting_for_nodes_says_how_many_and_who_holds_them() -> None:
    one = message(too_few_free(1, 0, 2, [5]))
    assert one == "Needs 1 free node; 0 of 2 are free. Job 5 holds them; this job is tried again when job 5 ends."
    assert "Jobs 1, 2, 3, 4 and 3 more hold the others" in message(too_few_free(4, 1, 10, list(range(1, 8))))
    assert "0 of 6 are free. Jobs 3 and 8 hold them;" in message(too_few_free(2, 0, 6, [3, 8]))


def test_an_impossible_wish_comes_with_what_to_change() -> None:
    said = message(
        Reason.of(
            Code.NOT_NOW,
            why=text_reason("No 4 nodes have 900 Mbit/s; the best have 90"),
            min_bandwidth=9e8,
            min_cpu=None,
        )
    )
    assert said.startswith("No 4 nodes have 900 Mbit/s; the best have 90.")
    assert "lower minimum bandwidth (now 900 Mbit/s)" in said


def test_a_failure_ends_with_the_last_words_of_the_log() -> None:
    said = _ended(139, None, NOTHING, ["  reading", "boom"])
    assert said == "The program ended with exit code 139 (a memory fault). Its log says: reading / boom"
    assert "verification failed" in _ended(0, False, NOTHING, [])
    assert _ended(143, None, text_reason("The time limit of 5 s was reached"), []).startswith(
        "The time limit of 5 s was"
    )


MPICH = [
    "step 41",
    "=" * 83,
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
    "=   PID 317 RUNNING AT n4",
    "=   EXIT CODE: 15",
    "=   CLEANING UP REMAINING PROCESSES",
    "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
    "=" * 83,
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)",
    "This typically refers to a problem with your application.",
    "Please see the FAQ page for debugging suggestions",
]


def test_what_the_launcher_always_says_is_no_reason() -> None:
    said = _ended(143, None, Reason.of(Code.OVER_TIME_LIMIT, limit=4), MPICH)
    assert said == "It ran over its time limit of 4 s and was stopped. The last line of its log: step 41"
    said = _ended(143, None, Reason.of(Code.OVER_TIME_LIMIT, limit=4), ["step   residual", *MPICH[1:]])
    assert said == "It ran over its time limit of 4 s and was stopped.", "a head of a table tells nothing"
    said = _ended(143, None, Reason.of(Code.OVER_TIME_LIMIT, limit=4), MPICH[1:])
    assert said.endswith("It wrote nothing itself.")


def test_a_signal_that_ended_a_rank_is_quoted_where_nobody_stopped_the_job() -> None:
    said = _ended(143, None, NOTHING, MPICH)
    assert said.endswith("Its log says: step 41 / Terminated (signal 15)")


def test_a_reason_of_the_backend_starts_with_a_capital() -> None:
    assert _ended(1, None, text_reason("node n3 was lost"), []).startswith("Node n3 was lost. ")


def test_a_program_that_is_not_there_is_named_with_its_nodes() -> None:
    lines = [
        f"[proxy:{i}@{node}] HYDU_create_process (lib/utils/launch.c:73): execvp error on file /no/such/program "
        "(No such file or directory)"
        for i, node in enumerate(["n10", "n4", "n7"])
    ]
    said = _ended(255, None, NOTHING, [*lines, *MPICH[1:]])
    assert said.startswith("The program /no/such/program does not exist on n4, n7 and n10.")
    assert "HYDU" not in said
    denied = lines[0].replace("No such file or directory", "Permission denied")
    assert "may not be executed on n10" in _ended(255, None, NOTHING, [denied])
    other = lines[0].replace("No such file or directory", "Exec format error")
    assert "does not start on n10: Exec format error." in _ended(255, None, NOTHING, [other])


def test_pairs_of_a_method_without_a_pattern_are_not_said_to_talk() -> None:
    found = finding(group(SLOW, *REST, bottleneck=SLOW), 100e6, talks=False)
    assert found.endswith("every other pair has 71 Mbit/s or more.")
