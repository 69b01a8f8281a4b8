"""What the log leaves out, and what it adds."""

from __future__ import annotations

import logging

from django.core.exceptions import DisallowedHost, RequestDataTooBig

from gridportal.web.hidden_secrets import without_secrets
from gridportal.web.middleware import current_request_id

_REFUSED = (403, 413)


class RefusalsInOneLine(logging.Filter):
    """Somebody who may not do something, sends what is too long, or asks for a host that is not the portal's, is a line
    in the log, not a traceback: nothing is broken."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the traceback goes."""
        error = record.exc_info[1] if record.exc_info else None
        if getattr(record, "status_code", None) in _REFUSED or isinstance(error, RequestDataTooBig | DisallowedHost):
            record.exc_info = record.exc_text = None
        return True


class HiddenSecrets(logging.Filter):
    """What was shared by a link is not to be opened by whoever reads the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the secrets go."""
        message = record.getMessage()
        if (shown := without_secrets(message)) != message:
            record.msg, record.args = shown, ()
        return True


class RequestIds(logging.Filter):
    """Each line has the id of its request, also in the worker; `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the record gets `request_id`."""
        record.request_id = current_request_id.get() or "-"
        return True
