"""Searches among many names on PostgreSQL: `python -m tests.scheduling.pages.searches JOBS` with a DATABASE_URL.

Prints one JSON document: how many jobs were found in all, and the searches whose list is not what each job's own name,
owner, application, state and number say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import django

WORDS = ("sweep", "SWEEP 1", "7", "no such thing", "ep", "person1", "failed sweep", "ö", "12_", "%", "s 99")


def main(jobs: int) -> None:
    """Give each job a name of its own, then search."""
    django.setup()
    from django.db.models import CharField, F, Value
    from django.db.models.functions import Cast, Concat

    from gridportal.database import portal_tables
    from scheduling.models import Job
    from tests.bench.year import write_year

    portal_tables.bring_up_to_date()
    write_year(jobs)
    Job.objects.exclude(name="").update(name=Concat("name", Value(" Ö_"), Cast(F("pk"), CharField())))
    wrong, found = [], 0
    for words in WORDS:
        right = _listed(words)
        found += len(right)
        wrong += [[words, sort] for sort in _SORTS if not _agrees(words, sort, right)]
    sys.stdout.write(json.dumps({"found": found, "wrong": wrong}) + "\n")


#: Each order, and what it sorts by before the newest.
_SORTS: dict[str, Callable[[Any], Any]] = {
    "": lambda job: 0,
    "name": lambda job: job.name,
    "application": lambda job: job.application.name,
    "owner": lambda job: job.owner.username,
    "nodes": lambda job: job.node_count,
}


def _listed(words: str) -> list[Any]:
    """The jobs in which every word is found somewhere, looked at one by one; newest first."""
    from scheduling.models import Job

    rows = Job.objects.order_by("-pk").select_related("owner", "application")
    return [job for job in rows if all(_has(job, word) for word in words.split())]


def _has(job: Any, word: str) -> bool:
    texts = (job.name, job.owner.username, job.application.name)
    return any(word.upper() in text.upper() for text in texts) or word.lower() == job.state or word == str(job.pk)


def _agrees(words: str, sort: str, right: list[Any]) -> bool:
    from scheduling.jobs.filters import JobFilterForm
    from scheduling.models import Job
    from scheduling.pages.job_list import JobList

    form = JobFilterForm({"q": words})
    for at_once in (True, False):
        jobs = JobList(form.apply(Job.objects.all()), sort, at_once=at_once)
        expected = [job.pk for job in sorted(right, key=_SORTS[sort])]
        if jobs.count() != len(right) or jobs.keys(0, jobs.count()) != expected:
            return False
    return form.reads_names == any(len(word) > 2 for word in words.split())


if __name__ == "__main__":
    main(int(sys.argv[1]))
