"""A move that was refused: the dialog is open again with what somebody typed, and says why."""

from __future__ import annotations

from django.http import HttpRequest

_KEY = "refused_move"
_FIELDS = ("nodes", "ranks", "reason")
_LONGEST = 4000  # of a field, so that nobody fills the table of sessions


def keep(request: HttpRequest, job: int, problem: str) -> None:
    """For the next page of this job that the same person sees."""
    typed = {name: request.POST.get(name, "")[:_LONGEST] for name in _FIELDS}
    request.session[_KEY] = {"job": job, "problem": problem, **typed}


def take(request: HttpRequest, job: int) -> dict[str, str | int] | None:
    """What was typed, by field, and the `problem`; once, and None where there is none of this job."""
    kept: dict[str, str | int] | None = request.session.get(_KEY)
    if kept is None or kept["job"] != job:
        return None
    del request.session[_KEY]
    return kept
