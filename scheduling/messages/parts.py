"""Parts that several sentences have: lists of jobs and nodes, seconds, full stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime


def full_stop(text: str) -> str:
    """
    >>> full_stop("it is down"), full_stop("Why?"), full_stop("")
    ('it is down.', 'Why?', '')
    """
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def sentence(text: str) -> str:
    """
    >>> sentence("it is down"), sentence("Why?"), sentence("")
    ('It is down.', 'Why?', '')
    """
    return full_stop(text[:1].upper() + text[1:])


def jobs(named: Sequence[int], more: int = 0) -> str:
    """
    >>> jobs([12]), jobs([12, 13]), jobs([1, 2, 3, 4], 2)
    ('Job 12', 'Jobs 12 and 13', 'Jobs 1, 2, 3, 4 and 2 more')
    """
    names = [str(job) for job in named] + ([f"{more} more"] if more else [])
    if len(names) < 2:
        return f"Job {names[0]}" if names else "Other jobs"
    return f"Jobs {', '.join(names[:-1])} and {names[-1]}"


def until_they_end(named: Sequence[int], more: int) -> str:
    """
    >>> until_they_end([12], 0), until_they_end([], 0)
    ('job 12 ends', 'the jobs there end')
    """
    if not named:
        return "the jobs there end"
    name = jobs(named, more)
    return f"{name[0].lower()}{name[1:]} {'ends' if len(named) + more == 1 else 'end'}"


def nodes(count: int, kind: str = "node") -> str:
    """
    >>> nodes(1), nodes(4, "free node")
    ('1 node', '4 free nodes')
    """
    return f"1 {kind}" if count == 1 else f"{count} {kind}s"


def ranks_text(count: int) -> str:
    """
    >>> ranks_text(1), ranks_text(4)
    ('1 rank', '4 ranks')
    """
    return nodes(count, "rank")


def closed_nodes(closed: Mapping[str, str]) -> str:
    """The end of a sentence about a job whose nodes take no jobs, with the reasons; a full stop for none."""
    if not closed:
        return "."
    reasons = " ".join(dict.fromkeys(full_stop(why) for why in closed.values()))
    return f": {' '.join(closed)} {'takes' if len(closed) == 1 else 'take'} no jobs. {reasons}"


def minute(moment: str, *, with_day: bool = False) -> str:
    """
    >>> minute("2026-11-23T14:05:00+00:00"), minute("2026-11-23T14:05:00+00:00", with_day=True)
    ('14:05 UTC', '14:05 UTC on 23 November')
    """
    at = datetime.fromisoformat(moment)
    return f"{at:%H:%M} UTC" + (f" on {at:%d %B}" if with_day else "")


def second(moment: str) -> str:
    """
    >>> second("2026-11-23T14:05:09.7+00:00")
    '14:05:09 UTC'
    """
    return f"{datetime.fromisoformat(moment):%H:%M:%S} UTC"


def seconds(value: float) -> str:
    """
    >>> seconds(4.3449), seconds(123.4)
    ('4.34 s', '123 s')
    """
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s"
