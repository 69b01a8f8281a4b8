"""The log of the web server: its lines without the secrets that stand in addresses."""

from __future__ import annotations

from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

from gunicorn.glogging import Logger

from gridportal.web.hidden_secrets import without_secrets


class AccessLog(Logger):
    """What `--logger-class` names."""

    def atoms(self, resp: Any, req: Any, environ: MutableMapping[str, Any], request_time: timedelta) -> Any:
        """What a line is made of; address and referrer may both hold a secret."""
        found: Any = super().atoms(resp, req, environ, request_time)
        return {name: without_secrets(value) if isinstance(value, str) else value for name, value in found.items()}
