"""Downloads hold a thread of the web server for as long as their reader takes: few are sent at once, in all and to one
person, so that threads are left for everybody else and for /healthz.

Counted in each process of the web server, which has eight threads (gridportal.serve.programs.WEB_THREADS): where there
are several processes, each counts for itself, and so many may be sent by each.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator

from django.http import HttpResponseBase, StreamingHttpResponse

from gridportal.base.errors import BusyError
from gridportal.web.request_metrics import DOWNLOADS_REFUSED

MOST, MOST_OF_ONE = 5, 3
RETRY_AFTER = 10  # seconds
_lock = threading.Lock()
#: Whose each download is, by a token of its own. Taking one out needs no lock: it may happen within the lock, when a
#: stream is collected that nobody closed.
_under_way: dict[object, int] = {}


def as_download(person: int, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The answer that `make` makes for this person (its primary key), counted until it is sent, closed or lost.

    Raises BusyError where there are too many already, and whatever `make` raises.
    """
    token = _begin(person)
    try:
        response = make()
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = _Counted(iter(response), token)
            return response
    except BaseException:
        _end(token)
        raise
    _end(token)
    return response


def forget() -> None:
    """Count anew, as a process that has just begun."""
    _under_way.clear()


def _begin(person: int) -> object:
    with _lock:
        whose = list(_under_way.values())
        if whose.count(person) >= MOST_OF_ONE:
            what = f"{MOST_OF_ONE} downloads of yours are under way"
        elif len(whose) >= MOST:
            what = "The portal sends as many downloads as it can"
        else:
            token = object()
            _under_way[token] = person
            return token
    DOWNLOADS_REFUSED.inc()
    raise BusyError(f"{what}; ask again in {RETRY_AFTER} seconds, or when one of them has ended.", RETRY_AFTER)


def _end(token: object) -> None:
    _under_way.pop(token, None)


class _Counted:
    """The pieces of an answer; it counts no more after the last one, an error, `close`, or when nobody has it."""

    def __init__(self, pieces: Iterator[bytes], token: object) -> None:
        self._pieces = pieces
        self.close = weakref.finalize(self, _end, token)
        self.close.atexit = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:  # the last piece was sent, too
            self.close()
            raise
