"""The settings as a list, and as the text of an environment file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import PydanticUndefined

from gridportal.base import clusters
from gridportal.base.portal_settings import BASE_DIR, SECRET, PortalSettings, variable
from gridportal.base.sign_in_settings import SignInSettings

_WIDTH = 110

#: What only docker/compose.yml reads: name, an example or the default, meaning.
CONTAINERS = (
    ("POSTGRES_PASSWORD", "", "Password of the database in the container; must be set."),
    ("GRIDPORTAL_PORT", "8000", "Port of the web server on this machine's loopback; the TLS proxy goes there."),
    ("WEB_CONCURRENCY", "2", "Processes of the web server; each serves 8 requests at once."),
    ("GRIDPORTAL_UID", "1000", "User id in the containers: one that the cluster's nodes know too."),
    ("GRIDPORTAL_GID", "1000", "Group id in the containers."),
    ("DEBIAN", "bookworm", "Debian of the image, and with it the version of the Slurm commands."),
    ("EXTRA_PACKAGES", "slurm-client", "Debian packages to add to the image; empty without Slurm."),
    ("SLURM_CONF_DIR", "/etc/slurm", "Folder with slurm.conf on this machine."),
    ("MUNGE_SOCKET_DIR", "/run/munge", "Folder with munge's socket on this machine."),
    ("GRIDPORTAL_ETC", "/etc/gridportal", "For docker/compose.people.yml: folder with ssh's configuration and key."),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable: its name, default as text, meaning, and whether its value is nobody's business."""

    name: str
    default: str
    meaning: str
    secret: bool
    value: str


def read_settings() -> PortalSettings:
    """The settings, before anything is started with them. Raises InputError that names the variable."""
    portal = PortalSettings()
    clusters.parse(portal.clusters)
    return portal


def settings() -> list[Setting]:
    """Every setting of the portal in the order of `portal_settings.py`, then those of `sign_in_settings.py`."""
    portal = read_settings()
    names = sorted(PortalSettings.model_fields, key=lambda name: name in SignInSettings.model_fields)
    return [_setting(name, getattr(portal, name)) for name in names]


def env_file() -> Iterator[str]:
    """Lines of .env.example: every variable with its meaning, commented out at its default."""
    yield "# Settings of GridPortal, made by:  gridportal settings --env > .env.example"
    yield "# Take away the # where you want another value than the default. Two things read a copy of it (mode 0600):"
    yield "# docker compose, as .env in the checkout, and systemd, as the EnvironmentFile of its unit. The commands"
    yield "# themselves (make demo, gridportal serve, ...) read no file: give them the variables in the environment."
    for setting in settings():
        yield from _lines(setting.name, setting.default, setting.meaning)
    yield ""
    yield "# --- Only for docker/compose.yml ---"
    for name, default, meaning in CONTAINERS:
        yield from _lines(name, default, meaning)


def _lines(name: str, default: str, meaning: str) -> Iterator[str]:
    yield ""
    yield from (f"# {line}" for line in textwrap.wrap(meaning, _WIDTH))
    yield f"#{name}={default}"


def _setting(name: str, value: object) -> Setting:
    field = PortalSettings.model_fields[name]
    default = "" if field.default is PydanticUndefined else _text(field.default)
    return Setting(variable(name), default, field.description or "", name in SECRET, _text(value))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Path):  # the same text on every machine
        return str(value.relative_to(BASE_DIR)) if value.is_relative_to(BASE_DIR) else str(value)
    if isinstance(value, dict | tuple):
        return json.dumps(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
