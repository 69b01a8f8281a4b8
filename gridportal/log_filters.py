"""What the log leaves out."""

from __future__ import annotations

import logging

_REFUSED = 403


class RefusalsInOneLine(logging.Filter):
    """Somebody who may not do something is a line in the log, not a traceback: nothing is broken."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the traceback goes."""
        if getattr(record, "status_code", None) == _REFUSED:
            record.exc_info = record.exc_text = None
        return True
