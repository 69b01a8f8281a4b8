"""The fake commands as a folder on PATH, and what tests ask of them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "scontrol")


@dataclass(frozen=True)
class FakeSlurm:
    """A folder of commands with a cluster.json that says what they answer."""

    folder: Path

    def install(self) -> None:
        """Write the commands and an empty cluster."""
        text = Path(__file__).with_name("fake_slurm.py").read_text(encoding="utf-8")
        for name in COMMANDS:
            file = self.folder / name
            file.write_text(text.replace("#!/usr/bin/env python3", f"#!{sys.executable} -S", 1), encoding="utf-8")
            file.chmod(0o755)
        self._write({"mode": "ok", "accounting": False, "version": "22.05.8", "next": 100, "jobs": []})

    def set(self, **values: Any) -> None:
        """Change the cluster: mode, accounting, version."""
        self._write(self.state() | values)

    def job(self, identity: str, state: str, exit_code: int = 0, **fields: Any) -> None:
        """A job that is there already; `forgotten=True` leaves it to sacct alone."""
        whole = self.state()
        whole["jobs"].append({"id": identity, "state": state, "exit_code": exit_code, "name": "x"} | fields)
        self._write(whole)

    def change(self, identity: str, **fields: Any) -> None:
        """Change a job."""
        whole = self.state()
        for job in whole["jobs"]:
            if job["id"] == identity:
                job.update(fields)
        self._write(whole)

    def state(self) -> dict[str, Any]:
        """The cluster as it is now."""
        state: dict[str, Any] = json.loads((self.folder / "cluster.json").read_text(encoding="utf-8"))
        return state

    def calls(self, name: str | None = None) -> list[dict[str, Any]]:
        """Every command that was called, oldest first."""
        file = self.folder / "calls.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        found = [json.loads(line) for line in lines]
        return [call for call in found if name in (None, call["name"])]

    def _write(self, state: dict[str, Any]) -> None:
        (self.folder / "cluster.json").write_text(json.dumps(state), encoding="utf-8")
