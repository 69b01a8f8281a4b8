"""The sentences of a job's story."""

from __future__ import annotations

from typing import Any

from scheduling.core import sentences


def edge(ranks: tuple[int, int], source: str, target: str, rate: float) -> dict[str, Any]:
    return {"ranks": list(ranks), "source": source, "target": target, "bandwidth": rate, "weight": 1.0}


SLOW = edge((0, 1), "n3", "n7", 48e6)
REST = [edge((1, 2), "n7", "n5", 71e6), edge((2, 3), "n5", "n9", 90e6)]


def group(*edges: dict[str, Any], bottleneck: dict[str, Any] | None) -> dict[str, Any]:
    return {"nodes": ["n3", "n7", "n5", "n9"], "edges": list(edges), "bottleneck": bottleneck}


def test_the_finding_names_the_bottleneck_and_what_the_rest_has() -> None:
    found = sentences.finding(group(SLOW, *REST, bottleneck=SLOW), 100e6)
    assert found == "n3-n7 is the bottleneck: 48 of 100 Mbit/s; every other pair that talks has 71 Mbit/s or more."


def test_pairs_that_are_as_slow_are_counted() -> None:
    found = sentences.finding(group(SLOW, edge((1, 2), "n7", "n5", 48.1e6), bottleneck=SLOW), 100e6)
    assert found.endswith("1 other pair that talks has no more.")


def test_a_link_in_the_middle_of_the_path_is_named() -> None:
    slow = SLOW | {"link": {"source": "suez", "target": "gibraltar"}}
    assert "over the link suez-gibraltar," in sentences.finding(group(slow, bottleneck=slow), 1.55e9)


def test_a_group_in_which_nobody_talks_has_no_bottleneck() -> None:
    assert sentences.finding(group(bottleneck=None)).startswith("No pair")
    assert sentences.finding({"nodes": ["n1"], "bottleneck": None}).startswith("One rank on n1")


def test_waiting_for_nodes_says_how_many_and_who_holds_them() -> None:
    one = sentences.too_few_free(1, 0, 2, [5])
    assert one == "Needs 1 free node; 0 of 2 are free. Job 5 holds the others; it starts when it ends."
    assert "Jobs 1, 2, 3, 4 and 3 more hold" in sentences.too_few_free(4, 1, 10, list(range(1, 8)))


def test_an_impossible_wish_comes_with_what_to_change() -> None:
    said = sentences.not_now("No 4 nodes have 900 Mbit/s; the best have 90", {"min_bandwidth": 9e8})
    assert said.startswith("No 4 nodes have 900 Mbit/s; the best have 90.")
    assert "lower minimum bandwidth (now 900 Mbit/s)" in said


def test_a_failure_ends_with_the_last_words_of_the_log() -> None:
    said = sentences.ended(139, None, "", ["  reading", "boom"])
    assert said == "The program ended with exit code 139 (a memory fault). Its log ends: reading / boom"
    assert "verification failed" in sentences.ended(0, False, "", [])
    assert sentences.ended(143, None, "The time limit of 5 s was reached", []).startswith("The time limit of 5 s was")
