"""The Debian packages that the production set needs."""

from __future__ import annotations

from gridportal.base import processes as shell
from gridportal.base.errors import GridPortalError, ShellError
from gridportal.base.portal_settings import BASE_DIR, PortalSettings
from gridportal.serve.broker import debian_binary
from gridportal.serve.postgres import newest_binaries

_INSTALL_SECONDS = 600.0


def missing(settings: PortalSettings) -> list[str]:
    """Names of packages without which the private servers of `settings` cannot start."""
    wanted = []
    if not settings.redis_url and debian_binary() is None:
        wanted.append("redis-server")
    if not settings.database_url and newest_binaries() is None:
        wanted.append("postgresql")
    return wanted


def ensure(settings: PortalSettings) -> None:
    """Install what is missing where we may. Raises GridPortalError with the command to run where we may not."""
    wanted = missing(settings)
    if not wanted:
        return
    try:
        shell.run(["sh", str(BASE_DIR / "scripts" / "serve-deps.sh")], timeout=_INSTALL_SECONDS)
    except ShellError as error:
        advice = f"install what is missing with: sudo apt-get install {' '.join(wanted)}"
        raise GridPortalError(f"The production set cannot start; {advice} ({error})") from error
