"""The options of `gridportal select` on ranks: how many, how many a node, what each needs, and where some must be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import InputError
from gridportal.base.sizes import in_unit
from scheduling.jobs.core import cluster_options
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.scaling_table import counts_of

_MEMORY = re.compile(r"(?P<number>[0-9]+)(?P<unit>[KMGT]?)B?", re.IGNORECASE)


@dataclass(frozen=True)
class RankOptions:
    """What was typed."""

    nodes: int | None
    ranks: str | None
    ranks_per_node: int | None
    cpus_per_rank: int
    memory_per_rank: str | None
    gres_per_rank: str | None
    spec: str | None
    pins: Sequence[str]

    def specification(self) -> ApplicationSpecification | None:
        """The file's groups and pins, with those of the command line. Raises InputError."""
        if self.spec is None and not self.pins:
            return None
        asked = ApplicationSpecification() if self.spec is None else ApplicationSpecification.load(self.spec)
        pins = parse_pins(self.pins)
        _check_against_file(pins, asked)
        return asked.with_pins(pins) if pins else asked

    def request(self, specification: ApplicationSpecification | None, count: int | None = None) -> RankRequest:
        """What is asked for, with `count` ranks where that is given; the groups of a specification say the ranks where
        no number does. Raises InputError."""
        ranks = self._ranks() if count is None else count
        if ranks is None and self.nodes is None and specification is not None:
            ranks = specification.ranks
        if ranks is None and self.nodes is None and self.ranks_per_node is None:
            raise InputError("ranks", None, "a number of ranks, or of --nodes")
        memory = None if self.memory_per_rank is None else parse_memory(self.memory_per_rank)
        gres = self.gres_per_rank or ""
        cluster_options.check_gres_once("gres_per_rank", gres)
        return RankRequest(ranks, self.nodes, self.ranks_per_node, self.cpus_per_rank, memory, gres)

    def _ranks(self) -> int | None:
        if self.ranks is None:
            return None
        numbers = counts_of(self.ranks)
        if len(numbers) > 1:
            raise InputError("ranks", self.ranks, "one number, or with --scaling several as 2..16 or 2,4,8")
        return numbers[0]


def parse_pins(texts: Sequence[str]) -> Mapping[str, Any]:
    """`0=n3`, `server=n1,n2` or `server=n1|n2` as a specification has them. Raises InputError.

    >>> parse_pins(["0=n3", "server=n1,n2"])
    {'0': ['n3'], 'server': ['n1', 'n2']}
    """
    pins: dict[str, list[str]] = {}
    for text in texts:
        what, sign, names = text.partition("=")
        nodes = [name.strip() for name in re.split(r"[,|]", names) if name.strip()]
        if not what.strip() or not sign or not nodes:
            raise InputError("pin", text, "RANK=NODE or GROUP=NODE, such as 0=n3 or server=n1,n2")
        if what.strip() in pins:
            raise InputError("pin", text, f"one pin for {what.strip()}; several nodes as {what.strip()}=n1,n2")
        pins[what.strip()] = nodes
    return pins


def _check_against_file(pins: Mapping[str, Sequence[str]], asked: ApplicationSpecification) -> None:
    """Raise InputError for a pin of the command line to a node that the file's pin of the same has not."""
    of_file = {str(pin.what): pin.nodes for pin in asked.pins}
    for what, nodes in pins.items():
        own = of_file.get(str(int(what)) if what.isdecimal() and len(what) <= 6 else what)
        if own is not None and not set(nodes) <= set(own):
            raise InputError(
                "pin", f"{what}={','.join(nodes)}", f"{what}={','.join(own)}, as the file of --spec has it"
            )


def parse_memory(text: str) -> int:
    """MB of 2**20 bytes, from `2000`, `2000M` or `4G`. Raises InputError.

    >>> parse_memory("2000"), parse_memory("4G")
    (2000, 4096)
    """
    match = _MEMORY.fullmatch(text.strip())
    amount = in_unit(int(match["number"]), match["unit"] or "M", "M") if match else 0
    if amount < 1 or len(text) > 18:
        raise InputError("memory-per-rank", text, "MB above 0, or an amount such as 2000M or 4G")
    return int(amount)
