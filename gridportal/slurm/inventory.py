"""What the cluster has: nodes, partitions, reservations, asked for in text or, on request, in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from gridportal.base.errors import BackendError
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.nodes import SlurmNode, decode_nodes, parse_nodes
from gridportal.slurm.partitions import (
    Partition,
    Reservation,
    decode_partitions,
    decode_reservations,
    parse_partitions,
    parse_reservations,
)
from gridportal.slurm.versions import Cluster

Answers = Literal["text", "json"]
#: The first version whose scontrol speaks JSON; before it sinfo alone did.
_SCONTROL_JSON = (23, 2)


@dataclass(frozen=True, slots=True)
class Inventory:
    """Three questions to scontrol. JSON is used where `answers` says so and the version has it."""

    slurm: SlurmCommands
    cluster: Callable[[], Cluster]
    answers: Answers = "text"

    def nodes(self) -> list[SlurmNode]:
        """All nodes, in Slurm's order."""
        if self._json():
            return decode_nodes(self._document("nodes"), "scontrol show nodes --json")
        if self.answers == "json":
            argv = ["sinfo", "--all", "--json"]
            return decode_nodes(document(self.slurm.ask(argv), "sinfo --json"), "sinfo --json")
        return parse_nodes(self._text("nodes"))

    def partitions(self) -> list[Partition]:
        """All partitions."""
        if self._json():
            return decode_partitions(self._document("partitions"))
        return parse_partitions(self._text("partitions"))

    def reservations(self) -> list[Reservation]:
        """All reservations."""
        if self._json():
            return decode_reservations(self._document("reservations"))
        return parse_reservations(self._text("reservations"))

    def _json(self) -> bool:
        return self.answers == "json" and self.cluster().version[:2] >= _SCONTROL_JSON

    def _text(self, what: str) -> str:
        return self.slurm.ask(["scontrol", "--all", "--oneliner", "--detail", "show", what])

    def _document(self, what: str) -> Any:
        return document(self.slurm.ask(["scontrol", "--all", "show", what, "--json"]), f"scontrol show {what} --json")


def document(output: str, command: str) -> Any:
    """JSON as a value; BackendError in one sentence when it is none. Words before the document are passed over."""
    try:
        return json.loads(output[max(0, output.find("{")) :])
    except (ValueError, RecursionError) as error:
        shown = "".join(c if c.isprintable() else " " for c in output.strip())[:80]
        raise BackendError(f"{command} gave an answer that is no JSON: {shown!r}.") from error
