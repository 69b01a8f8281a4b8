"""What holds for all jobs of a Grid, as its daemon reads it from its state directory."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gridportal.testbed.sandbox.order import Limits, Shown
from gridportal.testbed.slurm import config, place
from gridportal.testbed.state import State, write_atomically

if TYPE_CHECKING:  # what the daemon imports, every run's first process has in its memory
    from gridportal.base.portal_settings import PortalSettings

_CHECKOUT = Path(__file__).resolve().parents[3]
_OF_DATABASE = "/var/lib/gridportal"
_RUN = "/run"
#: Of /run nothing is shown but what programs of some systems cannot do without.
_OF_RUN = ("current-system", "booted-system", "opengl-driver", "nscd", "systemd/resolve")
#: Of the home of whoever runs the Grid, where jobs run as that person: what holds keys and passwords.
_PERSONAL = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".mozilla", ".password-store", ".pki")
_PERSONAL_FILES = (".netrc", ".pgpass", ".git-credentials", ".my.cnf", ".npmrc", ".pypirc", ".bash_history")


@dataclass(frozen=True, slots=True)
class JobRules:
    """Settings of the portal that concern jobs on the Grid; see `gridportal.base.portal_settings`."""

    first_uid: int | None = None
    users: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: PortalSettings) -> JobRules:
        """The rules that the settings make."""
        return cls(
            first_uid=settings.grid_first_uid,
            users=settings.grid_users,
            limits=Limits(
                settings.grid_processes, settings.grid_open_files, settings.grid_memory_files, settings.grid_memory
            ),
            hidden=(str(settings.home), *settings.grid_hide),
            shown=settings.grid_show,
        )

    def keep(self, state: State) -> None:
        """Leave them for the daemon."""
        write_atomically(state.rules, asdict(self))

    @classmethod
    def read(cls, state: State) -> JobRules:
        """Those that were kept; the defaults where none were."""
        try:
            document = json.loads(state.rules.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        return cls(
            document["first_uid"],
            document["users"],
            Limits(**document["limits"]),
            tuple(document["hidden"]),
            tuple(document["shown"]),
        )


def hidden(rules: JobRules, state: State, run_dir: str, *, as_daemon: bool) -> tuple[str, ...]:
    """The folders that look empty to the run in `run_dir`; `as_daemon`: it runs as the user who runs the Grid."""
    others = str(Path(run_dir).parent)
    folders = [*rules.hidden, str(state.root), str(_CHECKOUT / "var"), _OF_DATABASE, _RUN, tempfile.gettempdir()]
    folders += [others] if others != "/" else []
    folders += [str(each) for each in Path(run_dir).parents if (each / "secret_key").exists()]  # another portal's home
    folders += [config.HOME] if place.folder(state).exists() else []
    if as_daemon:
        folders += [str(Path.home() / name) for name in _PERSONAL]
    return tuple(dict.fromkeys(os.path.realpath(each) for each in folders))


def shown(rules: JobRules, run_dir: str, *, as_daemon: bool) -> tuple[Shown, ...]:
    """What a run finds in hidden folders all the same: Python, this package, and what an administrator named."""
    folders = [*rules.shown, str(_CHECKOUT), *_prefixes(), str(Path(run_dir).parent / ".trace")]
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH"):
        folders += [each for each in os.environ.get(name, "").split(os.pathsep) if os.path.isabs(each)]
    empty = [Path.home() / name for name in _PERSONAL_FILES] if as_daemon else []
    return (
        *(Shown(each, each) for each in dict.fromkeys(folders)),
        *(Shown(f"{_RUN}/{name}", f"{_RUN}/{name}") for name in _OF_RUN),
        *(Shown(os.devnull, str(each), replaces=True) for each in empty if each.is_file()),
        Shown(run_dir, run_dir, writable=True),
    )


def _prefixes() -> list[str]:
    """Where this interpreter lies: a virtual environment leads to others by links."""
    found, program = [sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)], Path(sys.executable)
    for _ in range(10):
        found.append(str(program.parent.parent))
        if not program.is_symlink():
            break
        program = program.parent / program.readlink()
    return [each for each in found if each != "/"]
