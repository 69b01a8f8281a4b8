"""`python -m tests.chaos.setting_up LEDGER`: people with tokens, and applications whose launcher is the ledger's."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.chaos.ledger import MODES, Ledger

#: An operator, who moves jobs.
MOVER = "opa"
PEOPLE = ("ada", "bob", "cyd", "canary", MOVER)


def main() -> None:
    """Make them, and print the tokens by name."""
    from gridportal.base import home
    from gridportal.web.command_database import set_up_django

    home.join()
    set_up_django()
    from gridportal.accounts.models import User
    from gridportal.accounts.services import create_token, set_role
    from scheduling.jobs.services.registering import register_application

    tokens = {}
    for name in PEOPLE:
        person = User.objects.create_user(username=name)
        set_role(person, "operator" if name == MOVER else "user")
        tokens[name] = create_token(person, "chaos", days=30)[1]
    for fields in applications(Ledger(Path(sys.argv[1]))):
        register_application("chaos", fields)
    sys.stdout.write(json.dumps(tokens))


def applications(ledger: Ledger) -> list[dict[str, Any]]:
    """A program without MPI, the same under MPI, one that is traced and has a skeleton, and one that can be moved."""
    from gridportal.workloads.catalogue import PROGRAMS

    mpi = [str(Path(sys.executable).parent / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}"]
    launcher, words = ["sh", str(ledger.launcher)], ["sh", str(ledger.program), "{seconds}", "{mode}"]
    asked = [
        {"name": "seconds", "type": "float", "min": 0, "max": 60, "default": 1},
        {"name": "mode", "type": "choice", "choices": list(MODES), "default": "end"},
    ]
    common = {"ranks": {"min": 1, "max": 4}, "parameters": asked, "command": words, "pattern": "ring"}
    counting = ["{python}", str(Path(__file__).with_name("counting.py")), "{steps}"]
    steps = [{"name": "steps", "type": "integer", "min": 1, "max": 1000, "default": 100}]
    moved = {"ranks": {"min": 1, "max": 4}, "pattern": "ring", "parameters": steps, "stop_means": {"by": "srs"}}
    cg = dict(next(program for program in PROGRAMS if program["slug"] == "nas-cg"))
    return [
        {**common, "slug": "chaos-shell", "name": "Chaos, no MPI", "launcher": launcher},
        {**common, "slug": "chaos-mpi", "name": "Chaos, MPI", "launcher": [*launcher, *mpi]},
        {**moved, "slug": "chaos-count", "name": "Chaos, moved", "command": counting, "launcher": mpi},
        {**cg, "slug": "chaos-cg", "name": "Chaos, CG", "launcher": [*launcher, *mpi]},
    ]


if __name__ == "__main__":
    main()
