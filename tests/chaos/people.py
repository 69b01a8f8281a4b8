"""People who submit short jobs, some of them twice, and cancel, hold, release, requeue and resubmit some."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections import Counter
from typing import Any

from tests.chaos import world
from tests.chaos.client import SILENT, Client
from tests.chaos.story import Asked, Order

_BETWEEN = 4.0  # seconds between two submissions of one person, in the mean
_LONGEST_WAIT = 10.0
#: Who has so many jobs that are not over submits no other: on a slow machine too the queue stays as short as that.
_MOST_OPEN = 6


class Person(threading.Thread):
    """One person at work until told to stop. What was asked and answered is in `asked` and `statuses`."""

    def __init__(self, client: Client, seed: int, clusters: list[str]) -> None:
        super().__init__(name=client.name, daemon=True)
        self.client, self.clusters = client, clusters
        self.rng = random.Random(f"{client.name} {seed}")
        self.asked: list[Asked] = []
        self.statuses: Counter[int] = Counter()
        self.verbs: Counter[str] = Counter()
        self.orders: list[Order] = []
        self.held: set[int] = set()
        self.traced = False
        self._done, self._over = threading.Event(), threading.Event()
        self._due: list[tuple[float, str, int]] = []

    def run(self) -> None:
        """Submit, and do what is due, until `finish`; then release what is held."""
        while not self._done.is_set():
            if self._has_few():
                self._submit()
            self._wait(self.rng.expovariate(1 / _BETWEEN))
        for job in list(self.held):
            self._until_heard("release", job)

    def finish(self) -> None:
        """No more submissions."""
        self._done.set()

    def give_up(self) -> None:
        """No more questions either: nobody answers."""
        self._over.set()

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + min(seconds, _LONGEST_WAIT)
        while not self._done.wait(0.2) and time.monotonic() < until:
            now = time.monotonic()
            due, self._due = [d for d in self._due if d[0] <= now], [d for d in self._due if d[0] > now]
            for _, verb, job in due:
                self._do(verb, job)

    def _has_few(self) -> bool:
        answer = self.client.get(f"/api/jobs?state=active&owner={self.client.name}&limit={_MOST_OPEN}")
        return answer.status != 200 or len(answer.body["results"]) < _MOST_OPEN

    def _submit(self) -> None:
        asked = Asked(str(uuid.UUID(int=self.rng.getrandbits(128), version=4)), self.client.name)
        body = self._body()
        again = self.rng.random() < 0.1
        self.asked.append(asked)
        while not self._over.is_set():
            answer = self.client.post("/api/jobs", body, asked.key)
            self.statuses[answer.status] += 1
            asked.statuses.append(answer.status)
            if answer.status in (200, 201):
                asked.ids.append(answer.body["id"])
                if not again:
                    return self._plan(answer.body["id"], body["cluster"])
                again = False
            elif 400 <= answer.status < 500 and answer.status != 429:
                asked.refusal = str(answer.body)
                return None
            else:
                time.sleep(min(answer.retry_after, _LONGEST_WAIT))

    def _body(self) -> dict[str, Any]:
        rng = self.rng
        cluster = rng.choice(self.clusters)
        common = {"cluster": cluster, "name": f"of {self.client.name}", "candidates": rng.choice([1, 3])}
        if cluster == "grid" and rng.random() < 0.08:  # the first is traced, so that later ones try its skeleton
            trace, self.traced = not self.traced, True
            cg = {"application": "chaos-cg", "node_count": 2, "trace": trace, "time_limit": 120}
            return {**common, **cg, "candidates": 3}
        seconds = round(rng.choice([0, 0.2, 1, 2, 4, 10]) * rng.random(), 1)
        mode = rng.choices(["end", "fail", "deaf", "crash"], [86, 6, 5, 3])[0]
        slug, nodes = (
            ("chaos-mpi", rng.choice([1, 2, 3])) if rng.random() < 0.15 else ("chaos-shell", rng.choice([1, 1, 2]))
        )
        method = rng.choice(["random", "compute", "pattern", "balanced"])
        more = {"application": slug, "node_count": nodes, "method": method, "time_limit": rng.choice([8, 60, 120])}
        return {**common, **more, "parameters": {"seconds": seconds, "mode": mode}}

    def _plan(self, job: int, cluster: str) -> None:
        """What this person will do with the job later, if anything."""
        verbs, weights = ["", "cancel", "resubmit"], [76, 10, 4]
        if cluster != "grid":
            verbs, weights = [*verbs, "hold", "requeue"], [*weights, 8, 8]
        verb = self.rng.choices(verbs, weights)[0]
        if verb:
            self._due.append((time.monotonic() + self.rng.uniform(0, 6), verb, job))

    def _do(self, verb: str, job: int) -> None:
        key = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        began = world.uptime()
        answer = self.client.post(f"/api/jobs/{job}/{verb}", key=key)
        self.orders.append(Order(verb, job, began, world.uptime()))
        self.statuses[answer.status] += 1
        done = answer.status in (200, 201)
        self.verbs[f"{verb} {'done' if done else 'refused' if 400 <= answer.status < 500 else 'unheard'}"] += 1
        if verb == "hold" and (done or answer.status == SILENT or answer.status >= 500):
            self.held.add(job)
            self._due.append((time.monotonic() + self.rng.uniform(2, 8), "release", job))
        if verb == "release" and done:
            self.held.discard(job)
        if verb == "resubmit":
            asked = Asked(key, self.client.name, statuses=[answer.status])
            asked.ids += [answer.body["id"]] if done else []
            self.asked.append(asked)

    def _until_heard(self, verb: str, job: int) -> None:
        while not self._over.is_set():
            status = self.client.post(f"/api/jobs/{job}/{verb}").status
            if status != SILENT and status < 500 and status != 429:
                return
            time.sleep(1)
