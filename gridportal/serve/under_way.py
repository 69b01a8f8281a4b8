"""What becomes of jobs when a portal is stopped: those of its own Grid end with it, others go on without it."""

from __future__ import annotations


def sentence(*, ends_grid: bool) -> str:
    """How many jobs are under way and what becomes of them; empty when none is. Raises DatabaseError, and
    AppRegistryNotReady where the portal was stopped before its database was."""
    from django.apps import apps

    apps.check_models_ready()
    from django.conf import settings
    from django.db.models import Count

    from scheduling.jobs.core.states import HOLDS_NODES, PENDING, JobState
    from scheduling.jobs.models import Job

    busy = [state.value for state in (*HOLDS_NODES, JobState.TRIAL)]
    counts = Job.objects.filter(state__in=busy).order_by().values_list("cluster").annotate(Count("pk"))
    ending = going = 0
    for cluster, count in counts:
        setting = settings.CLUSTERS.get(cluster)
        if ends_grid and setting is not None and setting.traits.part_of_portal:
            ending += count
        else:
            going += count
    return summary(ending, going, Job.objects.filter(state__in=[state.value for state in PENDING]).count())


def summary(ending: int, going: int, waiting: int) -> str:
    """The same of numbers: jobs that end with the Grid, that go on, and that have not started.

    >>> summary(1, 0, 2)
    '1 job ends with the emulated Grid. 2 jobs wait and are placed after the next start.'
    """
    sentences = []
    if ending:
        sentences.append(f"{_jobs(ending, 'ends', 'end')} with the emulated Grid.")
    if going:
        sentences.append(f"{_jobs(going, 'goes on and is', 'go on and are')} followed again at the next start.")
    if waiting:
        sentences.append(f"{_jobs(waiting, 'waits and is', 'wait and are')} placed after the next start.")
    return " ".join(sentences)


def _jobs(count: int, one: str, many: str) -> str:
    return f"1 job {one}" if count == 1 else f"{count} jobs {many}"
