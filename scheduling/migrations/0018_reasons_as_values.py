"""Reasons become a code with facts: what earlier versions wrote as sentences is recognized, or told as it stands.

The words below are those of earlier versions. Only what would be told in the very same words gets a code of its own.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from django.db import migrations, models, transaction

Facts = dict[str, Any]
_PART = 2000
_DONE = '{"code": '  # how no sentence began
_TABLES = ("job", "jobevent", "run", "skeletonrun")

_PLAIN = {
    "The nodes chosen for it were taken by other jobs each time; it is tried again within seconds.": "nodes_taken",
    "What it needs is free now.": "free_now",
    "Its worker was lost; it is placed again.": "worker_lost",
    "Its cluster lost it before it began, so it is submitted again under the same name.": "submitted_again",
    "Cancelled in the cluster itself, by its owner's or an administrator's command.": "cancelled_there",
    "Verified by the program's own check.": "verified",
    "Its worker was lost again and again while its skeleton was tried; resubmit it without, or ask an operator.": (
        "trial_lost"
    ),
    "the job is over": "job_over",
    "it is slower already": "slower_already",
    "another group was taken": "another_taken",
    "its worker was lost again and again": "trial_worker_lost",
    "its nodes were not all free": "nodes_not_free",
    "its backend has forgotten it": "skeleton_forgotten",
    "The job has ended and its nodes are being cleaned up.": "cleaning_up",
    "Slurm has suspended the job; it goes on when it is resumed.": "suspended",
}


def _named(found: re.Match[str]) -> tuple[list[int], int]:
    """The jobs of `Job 12`, `Jobs 12 and 13`, `Jobs 1, 2, 3, 4 and 2 more`; nobody is `Other jobs`."""
    more = re.search(r"(\d+) more", found["jobs"])
    named = [int(number) for number in re.findall(r"\d+", found["jobs"])]
    return (named[:-1], int(more[1])) if more else (named, 0)


def _too_few_free(found: re.Match[str]) -> Facts:
    holders, more = _named(found)
    numbers = {name: int(found[name]) for name in ("needed", "free", "total")}
    return {**numbers, "holders": holders, "more": more}


def _behind(found: re.Match[str]) -> Facts:
    named, more = _named(found)
    return {"named": named, "more": more}


def _kept_for(found: re.Match[str]) -> Facts:
    return {"job": int(found["job"]), "needed": int(found["needed"]), "start": None}


def _chosen(found: re.Match[str]) -> Facts:
    return {"nodes": found["nodes"].split(", "), "method": found["method"], "why": _told(found["why"])}


def _ended(found: re.Match[str]) -> Facts:
    log, wrote = found["log"], found["log"] is not None or found["silent"] == "It wrote nothing itself."
    end = {"exit_code": int(found["code"]), "verified": None, "why": {"code": "none", "facts": {}}, "fault": ""}
    return {**end, "log": [log] if log is not None else [], "wrote": wrote}


def _trying(found: re.Match[str]) -> Facts:
    return {"groups": int(found["groups"]), "over": int(found["over"] or 0)}


def _times(found: re.Match[str]) -> Facts:
    return {"times": int(found["times"])}


def _text(found: re.Match[str]) -> Facts:
    return found.groupdict()


_JOBS = r"(?P<jobs>Jobs? [\d, and]+(?: more)?|Other jobs)"
_SIGNALS = r"(?: \((?:interrupted|aborted|killed|a memory fault|terminated)\))?"
_FORMS: list[tuple[str, str, Callable[[re.Match[str]], Facts]]] = [
    (
        "too_few_free",
        rf"Needs (?P<needed>\d+) free nodes?; (?P<free>\d+) of (?P<total>\d+) (?:is|are) free\. {_JOBS} holds? the others; "
        r"it starts when (?:it ends|enough of them end)\.",
        _too_few_free,
    ),
    ("behind", rf"{_JOBS} came first and (?:is|are) being placed; this one is next\.", _behind),
    (
        "kept_for",
        r"Job (?P<job>\d+) came first, needs (?P<needed>\d+) nodes? and has waited long: the free ones are kept for it, "
        r"and this one is next\.",
        _kept_for,
    ),
    ("cancelled_early", r"Cancelled by (?P<person>\S+) before it started\.", _text),
    ("cancelled_running", r"Cancelled by (?P<person>\S+) while it was running\.", _text),
    ("cancelled_by", r"Cancelled by (?P<person>\S+)\.", _text),
    ("held_by", r"Held by (?P<person>\S+); release it to let it start\.", _text),
    ("released_by", r"Released by (?P<person>\S+)\.", _text),
    ("requeued_by", r"Put back into the queue by (?P<person>\S+)\.", _text),
    (
        "worker_lost_placing",
        r"Its worker was lost (?P<times>\d+) times while placing it; resubmit it, or ask an operator for the log\.",
        _times,
    ),
    ("chosen", r"(?P<nodes>[^:;]+) chosen by (?P<method>[a-z]+): (?P<why>.+\.)", _chosen),
    (
        "ended",
        rf"The program ended with exit code (?P<code>\d+){_SIGNALS}\. "
        r"(?:Its log (?:ends|says): (?P<log>.*)|(?P<silent>It wrote nothing itself\.|Its log is empty\.))",
        _ended,
    ),
    ("told_with_log", r"(?P<text>.*?) Its log (?:ends|says): (?P<log>.*)", _text),
    (
        "trying",
        r"Its skeleton runs on (?P<groups>\d+) candidate groups(?:, (?P<over>\d+) of which (?:is|are) done)?; "
        r"the job starts on the one where it is fastest\.",
        _trying,
    ),
    ("taken_early", r"taken by (?P<person>\S+) before its skeleton ended", _text),
]


def reason(sentence: str) -> dict[str, Any]:
    """The code and the facts of a sentence."""
    if sentence in _PLAIN:
        return {"code": _PLAIN[sentence], "facts": {}}
    for code, form, facts in _FORMS:
        if found := re.fullmatch(form, sentence, re.DOTALL):
            return {"code": code, "facts": facts(found)}
    return _told(sentence)


def _told(text: str) -> dict[str, Any]:
    return {"code": "told", "facts": {"text": text}}


def to_values(apps: Any, editor: Any) -> None:
    """Every sentence of four tables."""
    _rewrite(apps, editor, lambda text: text if text.startswith(_DONE) else json.dumps(reason(text), sort_keys=True))


def to_sentences(apps: Any, editor: Any) -> None:
    """Back to what people read."""
    from gridportal.base.reasons import Reason
    from scheduling.messages import message

    _rewrite(apps, editor, lambda text: message(Reason.load(text)))


def _rewrite(apps: Any, editor: Any, change: Callable[[str], str]) -> None:
    """Part by part, each in a transaction of its own: who is broken off goes on with what is left."""
    database = editor.connection.alias
    for name in _TABLES:
        rows = apps.get_model("scheduling", name).objects.using(database).exclude(reason="").order_by("pk")
        after: int | None = 0
        while after is not None:
            with transaction.atomic(using=database), editor.connection.cursor() as cursor:
                after = _rewrite_part(cursor, rows.filter(pk__gt=after), change)


def _rewrite_part(cursor: Any, rows: Any, change: Callable[[str], str]) -> int | None:
    """By one statement: a year's rows one after the other take PostgreSQL many minutes. The last row's number."""
    part = [(pk, change(text)) for pk, text in rows.select_for_update().values_list("pk", "reason")[:_PART]]
    if not part:
        return None
    table, marks = rows.model._meta.db_table, ", ".join(["(%s, %s)"] * len(part))
    cursor.execute(
        f"WITH changed(id, reason) AS (VALUES {marks}) "
        f"UPDATE {table} SET reason = changed.reason FROM changed WHERE {table}.id = changed.id",
        [value for row in part for value in row],
    )
    return part[-1][0]


class Migration(migrations.Migration):
    atomic = False  # no row of a year's is locked for minutes
    dependencies = [("scheduling", "0017_count_use")]

    operations = [
        migrations.RunPython(to_values, to_sentences),
        migrations.AlterField(
            model_name="job",
            name="reason",
            field=models.TextField(blank=True, help_text="Why it is in this state: code and facts."),
        ),
    ]
