"""The page that compares runs; which ones stands in the address."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.base.errors import InputError
from scheduling.pages.comparison import comparison
from scheduling.pages.form_messages import beside
from scheduling.pages.views.job import visible_job, visible_run
from scheduling.runs import selectors
from scheduling.runs.models import Run

MOST = 6
_RUN = re.compile(r"(?P<job>[0-9]{1,17})(?:\.(?P<number>[0-9]{1,6}))?")


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """`?runs=`: numbers of jobs, for their newest runs, or job.run; none shows the form alone."""
    text = request.GET.get("runs", "").strip()
    try:
        runs = [_found(request, word) for word in names(text)] if text else []
    except InputError as error:
        return render(request, "scheduling/compare.html", {"asked": text, "problem": beside(error)})
    return render(request, "scheduling/compare.html", {"asked": text, "runs": runs, "parts": comparison(runs)})


def names(text: str) -> list[str]:
    """The runs that a text names, each once. Raises InputError.

    >>> names("7, 12.2 7")
    ['7', '12.2']
    """
    words = list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))
    if wrong := next((word for word in words if not _RUN.fullmatch(word)), None):
        raise InputError("runs", wrong, "numbers of jobs, such as 12 or, for its second run, 12.2")
    if not 2 <= len(words) <= MOST:
        raise InputError("runs", f"{len(words)} of them", f"2 to {MOST} runs, such as 12, 15.2")
    return words


def _found(request: HttpRequest, name: str) -> Run:
    job, _, number = name.partition(".")
    if number:
        return visible_run(request, int(job), int(number))
    newest = selectors.last_run(visible_job(request, int(job)))
    if newest is None:
        raise InputError("runs", name, "a job that has run")
    return newest
