"""One run: a portal, people, disturbances by the plan, the settling, the verdict."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gridportal.base.errors import GridPortalError
from gridportal.testbed.slurm import place
from scheduling.jobs.core.states import JobState
from tests.chaos import aftermath, clock, disturbances, moves_verdict, schedule, verdict, world
from tests.chaos.canary import PATIENCE, STARTS, Canary
from tests.chaos.client import Client
from tests.chaos.disturbances.base import Disturbance, Scene
from tests.chaos.ledger import Ledger
from tests.chaos.mover import Mover
from tests.chaos.moves_verdict import MovesTale
from tests.chaos.people import Person
from tests.chaos.portal import Portal
from tests.chaos.row_watch import RowWatch
from tests.chaos.setting_up import MOVER
from tests.chaos.story import Asked, Story, Window
from tests.chaos.verdict import Violation

_RECOVERING = 60.0  # seconds for which the next disturbance waits when work does not go on
#: Seconds that the portal gets when disturbances have stopped; at least those that its last short job may take.
_SETTLING = 300.0


@dataclass
class Scenario:
    """`run` does it all; what happened is then in the fields."""

    kind: str
    seed: int
    seconds: float
    folder: Path
    only: tuple[str, ...] = ()
    windows: list[Window] = field(default_factory=list)
    canaries: list[Canary] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    excused: list[Violation] = field(default_factory=list)
    settled_after: float | None = None

    def __post_init__(self) -> None:
        self.moves = self.kind == "move"
        portal = "production" if self.moves else self.kind
        slurm = portal == "production" and os.geteuid() == 0 and not place.missing(accounting=False)
        self.portal = Portal(portal, self.folder, self.folder / "six.json", slurm=slurm)

    def run(self) -> dict[str, Any]:
        """The report, as JSON can carry it."""
        self.begun = time.monotonic()
        world.build(postgres=self.portal.kind == "production")
        self.mounts = world.mounts()
        self.ledger = Ledger(world.LEDGER)
        self.ledger.make()
        clock.build()
        try:
            self._open()
            self._disturb()
            self._settle()
            return self._report()
        finally:
            self.portal.end()
            self.portal.end_slurm()
            aftermath.keep(self.folder)

    def _open(self) -> None:
        _topology(self.portal.topology, 6)
        if self.portal.has_slurm:
            self.say("starting a Slurm")
            self.portal.start_slurm(_topology(self.folder / "four.json", 4))
        self.say("starting the portal")
        self.portal.start()
        began = time.monotonic()
        self.portal.wait()
        self.came_up_after = time.monotonic() - began
        self.patience = max(PATIENCE, STARTS * self.came_up_after)
        self.settling = max(_SETTLING, self.patience + _RECOVERING)
        tokens = self.portal.ask("setting_up", str(world.LEDGER))
        self.clients = {name: Client(name, token) for name, token in tokens.items()}
        clusters = ["grid", "grid", "hpc"] if self.portal.has_slurm else ["grid"]
        self.people = self._crowd(clusters)
        self.rows = RowWatch(self.portal, self.folder)
        self.rows.start()
        self.descriptors = aftermath.Descriptors()
        for thread in (*self.people, self.descriptors):
            thread.start()

    def _crowd(self, clusters: list[str]) -> list[Person]:
        if self.moves:
            people: list[Person] = [Mover(self.clients[MOVER], self.seed, clusters)]
            return [*people, Person(self.clients["ada"], self.seed, clusters)]
        names = [name for name in self.clients if name not in ("canary", MOVER)]
        return [Person(self.clients[name], self.seed, clusters) for name in names]

    def _disturb(self) -> None:
        known = disturbances.known(Scene(self.portal, random.Random(0)))
        names = [name for name in known if not self.only or name in self.only]
        until = time.monotonic() + self.seconds
        for step in schedule.plan(names, self.seed, 10 * self.seconds):
            self._idle(step.quiet)
            if not step.hasty:
                self._until_recovered()
            if time.monotonic() > until:
                return
            self._one(known[step.kind], step)

    def _until_recovered(self) -> None:
        """Until the last canary is over, or it has taken so long that others go on."""
        until = time.monotonic() + _RECOVERING
        while any(canary.is_alive() for canary in self.canaries[-1:]) and time.monotonic() < until:
            self._idle(0.5)

    def _one(self, disturbance: Disturbance, step: schedule.Step) -> None:
        scene = Scene(self.portal, random.Random(step.seed))
        window = Window(disturbance.name, world.uptime(), "")
        self.windows.append(window)
        try:
            window.what = disturbance.begin(scene)
            self.say(f"{disturbance.name}: {window.what}")
            self._idle(step.hold)
        finally:
            self._take_back(disturbance, scene)
            window.ended = world.uptime()
        self.canaries.append(Canary(self.clients["canary"], disturbance.name))
        self.canaries[-1].start()

    def _take_back(self, disturbance: Disturbance, scene: Scene) -> None:
        for _ in range(5):
            try:
                return disturbance.end(scene)
            except (GridPortalError, OSError) as error:
                self.say(f"{disturbance.name} cannot be taken back yet: {error}")
                time.sleep(2)
        self.violations.append(Violation(None, "a disturbance ends", disturbance.name))

    def _settle(self) -> None:
        self.say("disturbances have stopped; the portal settles")
        began = time.monotonic()
        for person in self.people:
            person.finish()
        while time.monotonic() - began < self.settling:
            self._idle(2.0)
            if not any(thread.is_alive() for thread in (*self.people, *self.canaries)) and self._unsettled() == []:
                self.settled_after = time.monotonic() - began
                break
        for thread in (*self.people, *self.canaries):
            thread.give_up()
            thread.join(30)
        self.descriptors.stop()
        self.violations += self.rows.stop()

    def _unsettled(self) -> list[Any] | None:
        try:
            found: list[Any] = self.portal.ask("rows", "open", timeout=60)
        except GridPortalError as error:
            self.say(f"rows cannot be read: {error}")
            return None
        self.say(f"{len(found)} jobs are on their way" + (f", such as {found[0]}" if found else ""))
        return found

    def _report(self) -> dict[str, Any]:
        rows = self.portal.ask("rows", timeout=300)
        asked = [each for person in self.people for each in person.asked] + [each.asked for each in self.canaries]
        stories, ran = [Story.from_row(row) for row in rows], self.ledger.read()
        orders = [order for person in self.people for order in person.orders]
        broken, self.excused = verdict.judge(stories, asked, ran, self.windows, orders)
        self.tale = MovesTale.read(self.portal.ask("rows", "moves", timeout=300))
        self.violations += [*broken, *moves_verdict.judge(self.tale), *self._of_the_portal()]
        self.say("ending the portal")
        if not self.portal.end():
            self.violations.append(Violation(None, "it ends when it is told to", "It had to be killed after 90 s."))
        self.portal.end_slurm()
        self.violations += aftermath.left_behind(self.mounts)
        self.violations += aftermath.database(postgres=self.portal.kind == "production")
        self._keep("stories", rows)
        self._keep("asked", [asdict(each) for each in asked])
        self._keep("windows", [asdict(each) for each in self.windows])
        return self._figures(stories, asked, ran)

    def _of_the_portal(self) -> list[Violation]:
        found = [Violation(None, "the supervisor goes on", words) for words in self.portal.ended_by_itself]
        if self.settled_after is None:
            found.append(Violation(None, "it settles", f"Not within {self.settling:.0f} s."))
        late = [each for each in self.canaries if each.seconds is None or each.seconds > self.patience]
        words = f"{self.patience:.0f} s were allowed"
        found += [Violation(None, "work goes on", f"After {each.kind}: {_seconds(each)}; {words}.") for each in late]
        return found + self.descriptors.violations()

    def _figures(self, stories: list[Story], asked: list[Asked], ran: list[Any]) -> dict[str, Any]:
        statuses: Counter[int] = sum((person.statuses for person in self.people), Counter())
        verbs: Counter[str] = sum((person.verbs for person in self.people), Counter())
        recovery: dict[str, list[float | None]] = {}
        for each in self.canaries:
            recovery.setdefault(each.kind, []).append(each.seconds)
        tried = sum(any(event.after == JobState.TRIAL for event in story.events) for story in stories)
        return {
            "kind": self.kind,
            "seed": self.seed,
            "seconds": self.seconds,
            "slurm": self.portal.has_slurm,
            "disturbances": dict(Counter(window.kind for window in self.windows)),
            "recovery": recovery,
            "answers": {str(status): count for status, count in sorted(statuses.items())},
            "orders": dict(sorted(verbs.items())),
            "asked": len(asked),
            "accepted": len({job for each in asked for job in each.ids}),
            "jobs": len(stories),
            "states": dict(Counter(story.state for story in stories)),
            "runs": {"started": len(ran), "complete": sum(one.is_complete for one in ran), "jobs with trials": tried},
            "moves": {"decisions": dict(Counter(each.state for each in self.tale.decisions)), "made": self.tale.moved},
            "settled_after": self.settled_after,
            "came_up_after": self.came_up_after,
            "descriptors": self.descriptors.peaks(),
            "looks": self.rows.looks,
            "excused": [asdict(each) for each in self.excused],
            "violations": [asdict(each) for each in self.violations],
        }

    def _idle(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.portal.watch()
            time.sleep(min(0.5, max(0.0, until - time.monotonic())))

    def _keep(self, name: str, document: Any) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps(document, indent=1), encoding="utf-8")

    def say(self, words: str) -> None:
        """A line of progress, with the seconds of this run and of the machine."""
        jobs = sum(bool(each.ids) for person in getattr(self, "people", ()) for each in person.asked)
        sys.stdout.write(f"{self.kind:<10} {time.monotonic() - self.begun:6.0f} s  {jobs:5d} jobs  {words}\n")
        sys.stdout.flush()


def _seconds(canary: Canary) -> str:
    return "never" if canary.seconds is None else f"{canary.seconds:.0f} s"


def _topology(file: Path, nodes: int) -> Path:
    """Nodes around one switch, each by a link of 100 Mbit/s."""
    names = [f"c{number}" for number in range(1, nodes + 1)]
    document = {
        "directed": False,
        "nodes": [*({"id": name} for name in names), {"id": "switch", "kind": "network"}],
        "links": [{"source": name, "target": "switch", "capacity": 1e8} for name in names],
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    return file
