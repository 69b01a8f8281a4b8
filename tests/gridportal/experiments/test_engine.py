"""Trials are performed once each, in their order, over any number of stops and crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gridportal.base.errors import BackendError, InputError
from gridportal.experiments import engine
from gridportal.experiments.interface import Trial
from gridportal.experiments.record import Record, read_json, read_trials, stop

PAPER = {"found": ["a"]}
PLAN = {"name": "counting", "seed": 1, "full": False}


class Counting:
    """Three trials that say their own name; `broken` ones fail."""

    def __init__(self, broken: str = "") -> None:
        self.performed: list[str] = []
        self.broken = broken

    def trials(self) -> list[Trial]:
        return [Trial(key) for key in ("a", "b", "c")]

    def perform(self, trial: Trial, done: Any) -> dict[str, Any]:
        self.performed.append(trial.key)
        if trial.key == self.broken:
            raise BackendError("The Grid is down.")
        return {"before": sorted(done)}

    def summarize(self, done: Any) -> dict[str, Any]:
        return {"found": sorted(done)}


def quiet(_done: int, _of: int, _now: str) -> None:
    pass


def never() -> bool:
    return False


def run(measurement, record, watch, stopped):
    return engine.run(measurement, PAPER, record, watch, stopped)


def test_every_trial_is_performed_once_and_sees_those_before_it(tmp_path):
    counting, record = Counting(), Record(tmp_path, PLAN)

    result = run(counting, record, quiet, never)

    assert counting.performed == ["a", "b", "c"]
    assert [record.done[key]["before"] for key in "abc"] == [[], ["a"], ["a", "b"]]
    assert result == {"found": ["a", "b", "c"], "paper": PAPER, "complete": True, "failed": {}}


def test_a_stopped_experiment_goes_on_where_it_was(tmp_path):
    first, second = Counting(), Counting()
    answers = iter([False, True])

    stopped = run(first, Record(tmp_path, PLAN), quiet, lambda: next(answers))
    resumed = run(second, Record(tmp_path, PLAN), quiet, never)

    assert (first.performed, stopped["complete"]) == (["a"], False)
    assert (second.performed, resumed["complete"]) == (["b", "c"], True)


def test_a_file_in_the_folder_stops_it_too(tmp_path):
    counting, record = Counting(), Record(tmp_path, PLAN)
    stop(tmp_path)

    assert run(counting, record, quiet, never)["complete"] is False
    assert counting.performed == []


def test_a_line_that_a_crash_cut_off_is_performed_again(tmp_path):
    run(Counting(), Record(tmp_path, PLAN), quiet, never)
    trials = tmp_path / "trials.jsonl"
    trials.write_text(trials.read_text()[:-10])

    again = Counting()
    run(again, Record(tmp_path, PLAN), quiet, never)

    assert again.performed == ["c"]
    assert [json.loads(line)["key"] for line in trials.read_text().splitlines()] == ["a", "b", "c"]


def test_a_trial_that_fails_is_told_and_the_others_go_on(tmp_path):
    result = run(Counting(broken="b"), Record(tmp_path, PLAN), quiet, never)

    assert result["failed"] == {"b": "The Grid is down."}
    assert result["found"] == ["a", "c"]


def test_a_folder_with_another_experiment_is_refused(tmp_path):
    Record(tmp_path, PLAN)

    with pytest.raises(InputError, match="an experiment in it with seed 1, not 2"):
        Record(tmp_path, {**PLAN, "seed": 2})


def test_the_progress_is_there_for_those_who_watch(tmp_path):
    run(Counting(), Record(tmp_path, PLAN), quiet, never)

    progress = read_json(tmp_path / "progress.json")
    assert progress is not None
    assert (progress["done"], progress["of"]) == (3, 3)


@pytest.mark.parametrize("line", ["[1]", "{}", "", '{"key": []}', '{"key": "d", ', "\0\0"])
def test_a_line_that_is_no_trial_is_named_and_those_who_watch_see_the_others(tmp_path, line):
    run(Counting(), Record(tmp_path, PLAN), quiet, never)
    with (tmp_path / "trials.jsonl").open("a") as file:
        file.write(f"{line}\n")

    with pytest.raises(BackendError, match=r"^Line 4 of .*trials.jsonl is no trial"):
        Record(tmp_path, PLAN)
    assert list(read_trials(tmp_path)) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_plan_that_is_none_is_told_in_a_sentence(tmp_path, text):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(InputError, match=r"plan.json in it is no experiment's plan"):
        Record(tmp_path, PLAN)


def test_a_line_that_was_cut_off_goes_without_the_others_being_written_anew(tmp_path, monkeypatch):
    run(Counting(), Record(tmp_path, PLAN), quiet, never)
    trials = tmp_path / "trials.jsonl"
    trials.write_text(trials.read_text()[:-10])
    monkeypatch.setattr("pathlib.Path.write_text", None)  # a crash between emptying and writing would lose all of them

    assert list(Record(tmp_path, PLAN).done) == ["a", "b"]
