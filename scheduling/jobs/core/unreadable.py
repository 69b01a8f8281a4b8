"""What rows hold in place of a value whose document is of another kind: whoever reads is told, nobody is stopped."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

log = logging.getLogger(__name__)
_MOST = 1000


class Unreadable:
    """Beside a value that says nothing: the document as it is stored, which is written back, and what is wrong."""

    __slots__ = ()

    raw: Any
    why: str


@lru_cache(_MOST)
def tell(of: str, why: str) -> None:
    """Log it once in this process, for pages read rows again and again. `of`: the row and its column, by name."""
    log.warning("%s cannot be read: %s", of, why)
