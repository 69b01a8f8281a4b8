"""Each run gets a state of its own in place of its job's and four columns; jobs that try their groups are in `trial`.

A handful of statements for each table, however many rows it has. What is under way goes on where it is.
"""

import logging
from typing import Any

from django.db import migrations
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Now

log = logging.getLogger(__name__)
FINAL = ("succeeded", "failed", "cancelled")
UNSTARTED = ("queued", "placing", "waiting", "starting")
WAITS = ("submitted", "held", "requeued")
#: The words of a reason that a run ended with because other nodes were chosen.
_MOVED_AWAY = Q(reason__contains='"code": "placed_anew"') | Q(reason__contains='"code": "group_taken"')


def to_lives(apps: Any, _editor: Any) -> None:
    """From columns to states."""
    runs, jobs = apps.get_model("scheduling", "Run").objects, apps.get_model("scheduling", "Job").objects
    later = Exists(runs.filter(job=OuterRef("job"), number__gt=OuterRef("number")))
    runs.filter(ended_at=None, state__in=FINAL).update(ended_at=Coalesce("started_at", "created_at"))
    over = runs.exclude(ended_at=None)
    over.update(state_since=F("ended_at"))
    over.filter(taken_back=True, started_at=None, state="cancelled").filter(later | _MOVED_AWAY).update(state="recalled")
    over.exclude(state__in=(*FINAL, "recalled")).update(state="cancelled")
    older = runs.filter(later, ended_at=None)
    if keys := list(older.order_by("key").values_list("key", flat=True)):
        words = "an older one of two open runs of a job is let go of; cancel by hand what its cluster has: %s"
        log.warning(words, ", ".join(keys))
    older.update(state="recalled", state_since=Now(), ended_at=Now())
    taken = runs.filter(ended_at=None, job__state__in=UNSTARTED, taken_back=True, started_at=None)
    moving = list(taken.values_list("job_id", "job__state", "number"))
    runs.filter(ended_at=None).update(
        state=Case(
            When(missed_at__isnull=False, then=Value("missing")),
            When(state="cancelling", then=Value("stopping")),
            When(state="running", then=Value("running")),
            When(taken_back=True, then=Value("recalling")),  # without a number of its cluster, too: it has the key
            When(backend_id="", then=Value("prepared")),
            When(held=True, then=Value("held")),
            When(restarts__gt=0, then=Value("requeued")),
            default=Value("submitted"),
        ),
        state_since=Coalesce("missed_at", "put_back_at", "started_at", "created_at"),
    )
    jobs.filter(pk__in=[job for job, _, _ in moving]).update(state="moving")
    apps.get_model("scheduling", "JobEvent").objects.bulk_create(
        apps.get_model("scheduling", "JobEvent")(
            job_id=job, from_state=before, to_state="moving", run_number=number
        )
        for job, before, number in moving
    )
    _rename(apps, "trying", "trial")


def to_columns(apps: Any, _editor: Any) -> None:
    """Back again: what a state says that no column did is lost."""
    runs, jobs = apps.get_model("scheduling", "Run").objects, apps.get_model("scheduling", "Job").objects
    events = apps.get_model("scheduling", "JobEvent").objects
    moved = Q(state__in=("recalling", "recalled")) | Q(state="missing", job__state="moving")
    runs.filter(pk__in=runs.filter(moved).values("pk")).update(taken_back=True)
    runs.filter(state="held").update(held=True)
    runs.filter(state="requeued").update(put_back_at=F("state_since"))
    missing = runs.filter(state="missing")
    missing.update(missed_at=F("state_since"))
    for word in ("running", "cancelling"):
        missing.filter(job__in=jobs.filter(state=word)).update(state=word)
    runs.filter(state="stopping").update(state="cancelling")
    runs.filter(state__in=("recalled", "checkpointed")).update(state="cancelled")
    runs.filter(state__in=("prepared", *WAITS, "recalling", "missing")).update(state="starting")
    jobs.filter(state="moving").update(state="starting")
    events.filter(from_state__in=UNSTARTED, to_state="moving").delete()
    events.filter(from_state="moving").update(from_state="starting")
    _rename(apps, "trial", "trying")


def _rename(apps: Any, old: str, new: str) -> None:
    apps.get_model("scheduling", "Job").objects.filter(state=old).update(state=new)
    events = apps.get_model("scheduling", "JobEvent").objects
    events.filter(to_state=old).update(to_state=new)
    events.filter(from_state=old).update(from_state=new)


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0026_lives_of_runs")]

    operations = [migrations.RunPython(to_lives, to_columns)]
