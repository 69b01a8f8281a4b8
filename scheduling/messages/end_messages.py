"""What the expected end of a job comes from, as the end of a sentence."""

from __future__ import annotations

_SOURCES = {
    "cluster": "as its cluster expects",
    "contract": "by its contract",
    "runs": "by earlier runs like it",
    "trial": "by the trial of its skeleton",
    "first-reports": "by its first reports",
    "limit": "by its time limit",
}
_OF_OTHERS = {
    "cluster": "as the cluster expects",
    "contract": "by the contract of the job there",
    "runs": "by earlier runs like the job there",
    "trial": "by the trial of the job there",
    "first-reports": "by the first reports of the job there",
    "limit": "by the time limit of the job there",
}


def of_itself(source: str) -> str:
    """
    >>> of_itself("runs")
    'by earlier runs like it'
    """
    return _SOURCES[source]


def of_others(source: str) -> str:
    """
    >>> of_others("limit")
    'by the time limit of the job there'
    """
    return _OF_OTHERS[source]
