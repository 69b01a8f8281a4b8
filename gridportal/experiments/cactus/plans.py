"""Which runs the experiment has: of computing alone, with communication, with other shares, on all sets of machines."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import combinations

from gridportal.experiments.cactus.machines import by_rank, line_of, machines
from gridportal.experiments.interface import Trial
from scheduling.performance.core.cactus_model import CactusBox, CactusMachine, power


class Part(StrEnum):
    """The parts of the paper's section 5, by the words of --only."""

    COMPUTING = "computing"  # 5.1.1
    COMMUNICATION = "communication"  # 5.1.2
    SHARES = "shares"  # 5.2
    SELECTION = "selection"  # 5.3
    SIX = "six"  # the same with all sets of six machines, which the paper has not


class Kind(StrEnum):
    """What a run is for: to measure what the model has to be told, or to be predicted."""

    CALIBRATION = "calibration"
    RUN = "run"
    CHOICE = "choice"  # no run: which set the matcher selects


#: What one processor of this machine takes for a point, and for an iteration besides, seconds; iterations are counted
#: out by it.
_ABOUT, _ABOUT_EACH = 8e-9, 3e-4
#: Sizes of planes by which exchanging is calibrated.
PLANES = (60, 200)
#: Points of the boxes by which exchanging is calibrated: an iteration lasts for several periods of a quota, as in
#: the runs that are predicted. Shorter ones wait for a neighbour that has used up its quota, again and again.
_EXCHANGED = 4_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of it. seconds: that a run is to take about; *_unit: of a processor of this machine, for the fastest.

    Units are such that the nodes which compute at the same time never ask for more than two processors have: the
    higher a unit, the less the quota of a control group shows, which is dealt out in pieces. sizes: of cubes. boxes: x
    = y and z of part two. offsets: planes by which the division is moved, all of them `rounds` times one after the
    other. candidates: of which all sets are run, by name.
    """

    seconds: float
    computing_unit: float
    several_unit: float
    shares_unit: float
    sizes: Sequence[int]
    loads: Sequence[int]
    boxes: Sequence[tuple[int, int]]
    offsets: Sequence[int]
    candidates: Mapping[str, Sequence[str]]
    repeats: int = 1
    rounds: int = 5


_SETS = {"one-site": ("mystere", "o", "saltimbanco"), "two-sites": ("o", "saltimbanco", "torc6")}
SCALED = Scale(
    seconds=3.0,
    computing_unit=1.0,
    several_unit=0.25,
    shares_unit=1.0,
    sizes=(20, 50, 100),
    loads=(0, 1, 2),
    boxes=((100, 100), (120, 240), (140, 280), (160, 320), (200, 400), (220, 420)),
    offsets=(-30, -15, -5, 0, 5, 15, 30),
    candidates=_SETS,
)
FULL = Scale(
    seconds=20.0,
    computing_unit=1.0,
    several_unit=0.25,
    shares_unit=1.0,
    sizes=(20, 50, 100),
    loads=(0, 1, 2, 3, 4),
    boxes=SCALED.boxes,
    offsets=tuple(range(-40, 41, 5)),
    candidates=_SETS,
    repeats=3,
)
SIX = {"six": ("mystere", "o", "saltimbanco", "dralion", "cirque", "torc6")}
#: The machines of each part; those of part two stand in the figure 3 of the paper.
#: Of computing alone, each with the Grid that it is on: one that asks for no more than this machine has, for what is
#: more is taken from all, and a machine with two processors would be held to a part of them.
_SINGLES, _DUAL = ("cmajor", "o"), ("torc1",)
COMPUTING = {"cmajor": _SINGLES, "o": _SINGLES, "torc1": _DUAL}
COMMUNICATION = ("torc1", "torc3", "torc5", "o")
SHARES = ("dralion", "cirque")
DIVISION = {"dralion": 0.0, "cirque": 2.0}
SHARES_BOX = (100, 200)
SELECTION_BOX = (200, 200)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: `line`: the machines with their planes; `grid`: all machines that are nodes of its Grid."""

    part: Part
    kind: Kind
    grid: Sequence[str]
    unit: float
    line: Sequence[tuple[CactusMachine, float]]
    box: CactusBox
    about: Mapping[str, object] = field(default_factory=dict)

    def trial(self, key: str) -> Trial:
        """As a step of the experiment."""
        nodes, shares = by_rank(self.line)
        return Trial(
            key,
            {
                **self.about,
                **{"part": self.part.value, "kind": self.kind.value, "grid": list(self.grid), "unit": self.unit},
                **{"nodes": nodes, "shares": shares, "line": [(each.name, planes) for each, planes in self.line]},
                "loads": {each.name: each.load for each, _ in self.line if each.load},
                "box": [self.box.x, self.box.y, self.box.z, self.box.iterations],
            },
        )


def cubes(part: Part) -> tuple[int, int]:
    """Sizes of cubes by which computing is calibrated: the large one is as the runs of the part, since a point takes
    longer the less of a cube is in the caches."""
    return (20, 100) if part is Part.COMPUTING else (20, 200)


def trials(part: Part, scale: Scale, seed: int = 1) -> list[Trial]:
    """The runs of a part in their order: first those by which the model is calibrated. seed: for the order of sets."""
    of_part: dict[Part, Callable[[Scale], Iterator[Named]]] = {
        Part.COMPUTING: _computing,
        Part.COMMUNICATION: _communication,
        Part.SHARES: _shares,
        Part.SELECTION: partial(_selection, part=Part.SELECTION, of=scale.candidates, seed=seed),
        Part.SIX: partial(_selection, part=Part.SIX, of=SIX, seed=seed),
    }
    return [run.trial(f"{part}/{name}") for name, run in of_part[part](scale)]


Named = tuple[str, Run]


def _computing(scale: Scale) -> Iterator[Named]:
    unit = scale.computing_unit
    yield from _points(scale, Part.COMPUTING, _SINGLES, unit)
    for name, grid in COMPUTING.items():
        for size in scale.sizes:
            yield f"point/{size}/{name}", _alone(scale, grid, unit, size)  # just before what is held against it
            for load in scale.loads:
                machine = machines(grid, unit, {name: float(load)})[name]
                about = {"size": size, "load": load, "cpus": machine.cpus}
                yield (
                    f"{name}/{size}/{load}",
                    _sized(scale, Part.COMPUTING, grid, unit, [machine], (size, size), about),
                )


def _communication(scale: Scale) -> Iterator[Named]:
    unit, part = scale.several_unit, Part.COMMUNICATION
    yield from _calibrations(scale, part, COMMUNICATION, {"one": ("torc1", "torc3")})
    for number, box in enumerate(scale.boxes):
        yield f"exchange/several/{box[0]}", _half(scale, ("torc1", "o"), box)
        for chosen in (COMMUNICATION, ("torc1", "o")):
            loads = {"o": 1.0} if number % 2 else {}
            these = machines(chosen, unit, loads)
            about = {"size": f"{box[0]}x{box[0]}x{box[1]}", "load": loads.get("o", 0.0)}
            run = _sized(scale, part, COMMUNICATION, unit, list(these.values()), box, about)
            yield f"{'-'.join(chosen)}/{about['size']}", run


def _calibrations(scale: Scale, part: Part, grid: Sequence[str], pairs: Mapping[str, Sequence[str]]) -> Iterator[Named]:
    """Of points, and of planes that are exchanged within a site and over two, small and large."""
    unit = scale.several_unit
    yield from _points(scale, part, grid, unit)
    for name, pair in pairs.items():
        for size in PLANES:
            both = list(machines(pair, unit, {}).values())
            run = _sized(scale, part, grid, unit, both, (size, _EXCHANGED // size**2), {"sites": name, "size": size})
            yield f"exchange/{name}/{size}", replace(run, kind=Kind.CALIBRATION)


def _half(scale: Scale, pair: Sequence[str], box: tuple[int, int]) -> Run:
    """Of the planes of one size between two sites, in a box half as deep: how much of an exchange passes while ranks
    compute depends on how long they do."""
    part, unit, (side, depth) = Part.COMMUNICATION, scale.several_unit, box
    both = list(machines(pair, unit, {}).values())
    about = {"sites": "several", "size": side}
    return replace(_sized(scale, part, COMMUNICATION, unit, both, (side, depth // 2), about), kind=Kind.CALIBRATION)


def _points(scale: Scale, part: Part, grid: Sequence[str], unit: float) -> Iterator[Named]:
    """Of computing, on the first machine that has one processor."""
    for size in cubes(part):
        run = _sized(scale, part, grid, unit, [_single(grid, unit)], (size, size))
        yield f"point/{size}", replace(run, kind=Kind.CALIBRATION)


def _single(grid: Sequence[str], unit: float) -> CactusMachine:
    """The first machine that has one processor, and not the slowest."""
    return next(each for each in machines(grid, unit, {}).values() if each.cpus == 1 and each.name != "cmajor")


def _alone(scale: Scale, grid: Sequence[str], unit: float, size: int) -> Run:
    """A cube on an idle machine of the Grid: on the one with several processors, whose subtasks exchange planes inside
    of it, or on the first that has one."""
    several = (each for each in machines(grid, unit, {}).values() if each.cpus > 1)
    machine = next(several, None) or _single(grid, unit)
    run = _sized(scale, Part.COMPUTING, grid, unit, [machine], (size, size))
    return replace(run, kind=Kind.CALIBRATION)


def _shares(scale: Scale) -> Iterator[Named]:
    unit, (side, depth) = scale.shares_unit, SHARES_BOX
    both = machines(SHARES, unit, DIVISION)
    mapped = {each.name: planes for each, planes in line_of(list(both.values()), depth)}
    for number in range(scale.rounds):
        for offset in scale.offsets:
            planes = mapped["dralion"] + offset
            line = [(both["dralion"], float(planes)), (both["cirque"], float(depth - planes))]
            box = CactusBox(side, side, depth, _iterations(scale, side, depth, list(both.values())))
            about = {"offset": offset, "division": [planes, depth - planes], "round": number}
            yield f"{number}/{planes}", Run(Part.SHARES, Kind.RUN, SHARES, unit, line, box, about)


def _selection(scale: Scale, part: Part, of: Mapping[str, Sequence[str]], seed: int) -> Iterator[Named]:
    rng = random.Random(seed)  # noqa: S311
    for name, candidates in of.items():
        pairs = {"one": candidates[:2]} | ({"several": (candidates[0], "torc6")} if "torc6" in candidates else {})
        for key, run in _calibrations(scale, part, candidates, pairs):
            yield f"{name}/{key}", run
        all_of_them = list(machines(candidates, scale.several_unit, {}).values())
        sized = _sized(
            scale,
            part,
            candidates,
            scale.several_unit,
            all_of_them,
            SELECTION_BOX,
            {"candidates": name},
            alike=True,
        )
        yield f"{name}/choice", replace(sized, kind=Kind.CHOICE)
        for number in range(scale.repeats):
            sets = [each for size in range(1, len(candidates) + 1) for each in combinations(candidates, size)]
            for chosen in rng.sample(sets, len(sets)):
                these = list(machines(chosen, scale.several_unit, {}).values())
                about = {"candidates": name, "set": list(chosen), "round": number}
                run = _sized(scale, part, candidates, scale.several_unit, these, SELECTION_BOX, about, alike=True)
                yield f"{name}/{number}/{'-'.join(chosen)}", run


def _sized(
    scale: Scale,
    part: Part,
    grid: Sequence[str],
    unit: float,
    these: Sequence[CactusMachine],
    box: tuple[int, int],
    about: Mapping[str, object] | None = None,
    *,
    alike: bool = False,
) -> Run:
    """A run of about as long as the scale says; `alike`: with as many iterations as on one slow machine."""
    side, depth = box
    basis = [min(machines(grid, unit, {}).values(), key=power)] if alike else these
    sized = CactusBox(side, side, depth, _iterations(scale, side, depth, basis))
    return Run(part, Kind.RUN, grid, unit, [*line_of(list(these), depth)], sized, dict(about or {}))


def _iterations(scale: Scale, side: int, depth: int, these: Sequence[CactusMachine]) -> int:
    points = side * side * depth * _ABOUT / sum(power(each) for each in these)
    besides = max(_ABOUT_EACH * each.cpus / power(each) for each in these)
    rate = 20e6 if len({each.site for each in these}) > 1 else 100e6
    sent = 8 * 8 * side * side / rate + 2e-3 if len(these) > 1 else 0.0
    return max(4, min(20_000, round(scale.seconds / (points + besides + sent))))
