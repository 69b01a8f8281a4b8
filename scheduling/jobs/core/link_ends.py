"""The two ends of a link, as placements keep them: reader and writer side by side."""

from __future__ import annotations

from collections.abc import Mapping

LinkEnds = tuple[str, str]


def read(document: Mapping[str, str]) -> LinkEnds:
    """From their document.

    >>> read(document(("n1", "s")))
    ('n1', 's')
    """
    return document["source"], document["target"]


def document(ends: LinkEnds) -> dict[str, str]:
    """As JSON, and back by `read`."""
    return {"source": ends[0], "target": ends[1]}
