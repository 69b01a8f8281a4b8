"""Which of the candidates the set matcher selects: a request as that of Set matching 2002, 3.2, and ads of machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.experiments.cactus.predicting import Calibrated
from scheduling.matching.services.limited_match import limited_match
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.performance.core.cactus_model import POINT_BYTES, CactusBox, CactusMachine, power

#: A machine that has two neighbours exchanges twice: one in a set of three or more has.
_REQUEST = """[
  Type = "Set";
  iter = {box.iterations}; x = {box.x}; y = {box.y}; z = {box.z};
  point = {cost.point!r}; each = {cost.iteration!r}; lan = {lan!r}; wan = {wan!r};
  startone = {one!r}; startseveral = {several!r};
  computetime = x * y * z * point / other.power;
  requirements = Sum(other.memorysize) >= 1.757 + 0.0000138 * x * y * z;
  rank = -(iter * (x * y * z * point / Sum(other.power) + each / Min(other.cpuspeed)
                   + (SetSize >= 2 ? lan : 0.0) + (SetSize >= 3 ? lan : 0.0)
                   + (Max(other.sitenumber) > Min(other.sitenumber) ? wan - lan : 0.0))
           + (Max(other.sitenumber) > Min(other.sitenumber) ? startseveral : startone));
  Mapper = [ libraryname = "cactus" ]
]"""


@dataclass(frozen=True, slots=True)
class SelectedSet:
    """The machines, and the seconds that the request predicts for them; none where nothing satisfies it."""

    names: tuple[str, ...]
    predicted: float | None
    exact: bool


def selected(box: CactusBox, candidates: Sequence[CactusMachine], calibration: Calibrated) -> SelectedSet:
    """The set that the matcher finds for the box. Raises GridPortalError."""
    sent = box.x * box.y * POINT_BYTES
    hops = {sites: each.fixed + sent * each.per_byte for sites, each in calibration.exchanges.items()}
    lan = hops.get("one", 0.0)
    text = _REQUEST.format(
        box=box,
        cost=calibration.cost,
        lan=lan,
        wan=hops.get("several", lan),
        one=calibration.start_up.get("one", 0.0),
        several=calibration.start_up.get("several", 0.0),
    )
    answer = limited_match(MatchQuestion(text, "\n".join(_ads(candidates))))
    names = tuple(sorted(machine.dns for machine in answer.machines))
    return SelectedSet(names, None if answer.rank is None else -answer.rank, answer.exact)


def _ads(candidates: Sequence[CactusMachine]) -> list[str]:
    sites = sorted({each.site for each in candidates})
    return [
        f'[machine = "{each.name}"; power = {power(each)!r}; cpus = {each.cpus}; cpuspeed = {each.speed!r}; '
        f"memorysize = {512 * each.cpus}; sitenumber = {sites.index(each.site)}]"
        for each in candidates
    ]
