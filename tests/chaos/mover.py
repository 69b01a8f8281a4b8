"""A person who has jobs moved: submits some that can be stopped, proposes to move them, and approves, refuses or
overrides what is proposed, as an operator does."""

from __future__ import annotations

import time
import uuid
from typing import Any

from tests.chaos.people import Person

#: Steps of a job, of a fifth of a second each: long enough to be moved while it runs.
_STEPS = (100, 200)
_MOST_OPEN = 2
_REASON = {"reason": "Chaos has it so."}


class Mover(Person):
    """A `Person` whose jobs count their steps, and who moves them."""

    def _body(self) -> dict[str, Any]:
        common = {"application": "chaos-count", "node_count": 2, "method": "compute", "time_limit": 600}
        steps = self.rng.randint(*_STEPS)
        return {**common, "cluster": self.rng.choice(self.clusters), "parameters": {"steps": steps}, "name": "to move"}

    def _plan(self, job: int, cluster: str) -> None:
        """Nothing but moves."""

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._done.wait(0.5) and time.monotonic() < until:
            self._decide()
            self._propose()

    def _has_few(self) -> bool:
        """Two at a time: others need nodes to move to."""
        return len(self._rows(f"/api/jobs?state=active&owner={self.client.name}&limit=3")) < _MOST_OPEN

    def _propose(self) -> None:
        mine = f"/api/jobs?state=running&owner={self.client.name}&limit=5"
        for job in self._rows(mine):
            if self.rng.random() < 0.2:
                self._say("propose", f"/api/jobs/{job['id']}/propose-move", {})

    def _decide(self) -> None:
        for each in self._rows("/api/migrations?limit=5"):
            if each["state"] != "proposed":
                continue
            verb = self.rng.choices(["approve", "override", "refuse"], [60, 25, 15])[0]
            body = {**_REASON, "ranks": self.rng.choice([1, 2, 3])} if verb == "override" else _REASON
            self._say(verb, f"/api/migrations/{each['id']}/{verb}", body)

    def _rows(self, address: str) -> list[dict[str, Any]]:
        answer = self.client.get(address)
        return list(answer.body["results"]) if answer.status == 200 else []

    def _say(self, verb: str, address: str, body: dict[str, Any]) -> None:
        answer = self.client.post(address, body, str(uuid.UUID(int=self.rng.getrandbits(128), version=4)))
        self.statuses[answer.status] += 1
        done = answer.status in (200, 202)
        self.verbs[f"{verb} {'done' if done else 'refused' if 400 <= answer.status < 500 else 'unheard'}"] += 1
