"""Sentences of earlier versions become codes with facts, and are told in the same words, or in those of today."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Job, JobEvent
from scheduling.messages import message

MIGRATION: Any = importlib.import_module("scheduling.migrations.0018_reasons_as_values")
OLD = {
    (
        "Needs 4 free nodes; 2 of 10 are free. Jobs 12 and 13 hold the others; it starts when enough of them end."
    ): Code.TOO_FEW_FREE,
    "Needs 1 free node; 0 of 2 are free. Job 5 holds the others; it starts when it ends.": Code.TOO_FEW_FREE,
    (
        "Needs 4 free nodes; 1 of 10 is free. Jobs 1, 2, 3, 4 and 3 more hold the others; it "
        "starts when enough of them end."
    ): Code.TOO_FEW_FREE,
    (
        "Needs 4 free nodes; 1 of 10 is free. Other jobs hold the others; it starts when enough of them end."
    ): Code.TOO_FEW_FREE,
    "Jobs 3 and 4 came first and are being placed; this one is next.": Code.BEHIND,
    "Job 3 came first and is being placed; this one is next.": Code.BEHIND,
    (
        "Job 12 came first, needs 8 nodes and has waited long: the free ones are kept for it, and this one is next."
    ): Code.KEPT_FOR,
    (
        "Job 12 came first and gets 8 nodes by 14:05 UTC; a job with a time limit that ends before "
        "then could start now."
    ): Code.PLAIN_TEXT,
    "Cancelled by ada.": Code.CANCELLED_BY,
    "Cancelled by ada before it started.": Code.CANCELLED_EARLY,
    "Cancelled by ada while it was running.": Code.CANCELLED_RUNNING,
    "Held by ada; release it to let it start.": Code.HELD_BY,
    (
        "Its worker was lost 3 times while placing it; resubmit it, or ask an operator for the log."
    ): Code.WORKER_LOST_PLACING,
    (
        "n1, n2 chosen by pattern: bottleneck n1-n2 gives 80 Mbit/s; no other group of 2 nodes has "
        "a faster slowest pair."
    ): Code.CHOSEN,
    "The program ended with exit code 139 (a memory fault). Its log ends: reading / boom": Code.ENDED,
    "The program ended with exit code 3. It wrote nothing itself.": Code.ENDED,
    "The program ended with exit code 3. Its log is empty.": Code.ENDED,
    "It ran over its time limit of 4 s and was stopped. Its log ends: step 7\nand more": Code.PLAIN_TEXT_WITH_LOG,
    (
        "Its skeleton runs on 3 candidate groups, 1 of which is done; the job starts on the one where it is fastest."
    ): Code.TRIAL_RUNNING,
    "taken by ada before its skeleton ended": Code.TAKEN_EARLY,
    "Something that nobody says any more.": Code.PLAIN_TEXT,
}


#: Parts of sentences as they were, and as they are told now.
REWORDED = {
    "Job 5 holds the others; it starts when it": "Job 5 holds them; this job is tried again when job 5",
    "the others; it starts": "the others; it is tried again",
    "the others; it is": "the others; this job is",
    "kept for it, and this one is next": "kept for it, and this job is next",
    "The nodes chosen for it were taken by other jobs each time": "Other jobs took the chosen nodes first each time",
    "lost again and again while its skeleton was tried": "lost several times while its skeleton ran",
    "resubmit it without, or": "resubmit it without one, or",
    "lost again and again": "lost several times",
    "Its log ends: ": "Its log says: ",
}


def today(sentence: str) -> str:
    """The sentence as it is told now."""
    for old, new in REWORDED.items():
        sentence = sentence.replace(old, new)
    return sentence


@pytest.mark.parametrize(("sentence", "code"), [*OLD.items(), *((s, Code(c)) for s, c in MIGRATION._PLAIN.items())])
def test_a_sentence_gets_its_code_and_is_told_as_today(sentence: str, code: Code) -> None:
    reason = Reason.read(MIGRATION.reason(sentence))
    assert reason.code is code
    assert set(reason.facts) == set(code.facts)
    assert message(reason) == today(sentence)


@pytest.mark.django_db(transaction=True)
def test_rows_are_carried_over_and_back(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MIGRATION, "_PART", 2)
    job = make_job(people["user"], "waiting")
    for sentence in OLD:
        job.events.create(to_state="waiting")
        with connection.cursor() as cursor:
            cursor.execute("UPDATE scheduling_jobevent SET reason = %s WHERE id = %s", [sentence, job.events.last().pk])
    JobEvent.objects.filter(to_state="queued").delete()

    apps = MigrationExecutor(connection).loader.project_state(("scheduling", "0017_count_use")).apps
    with connection.schema_editor() as editor:
        MIGRATION.to_values(apps, editor)
        MIGRATION.to_values(apps, editor)  # as after one that was broken off
    rows = list(JobEvent.objects.order_by("pk"))[1:]
    assert [row.reason.code for row in rows] == list(OLD.values())
    assert stored()[1].startswith('{"code": "too_few_free"')
    assert Job.objects.get(pk=job.pk).reason.code is Code.NONE

    with connection.schema_editor() as editor:
        MIGRATION.to_sentences(apps, editor)
    assert stored()[1:] == [today(sentence) for sentence in OLD]


def stored() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reason FROM scheduling_jobevent ORDER BY id")
        return [text for (text,) in cursor.fetchall()]
