"""How long until work goes on: one short job, from the end of a disturbance until it is over."""

from __future__ import annotations

import threading
import time
import uuid

from tests.chaos.client import Client
from tests.chaos.story import Asked

_BODY = {"application": "chaos-shell", "node_count": 1, "method": "compute", "cluster": "grid", "name": "canary"}
_FINAL = ("succeeded", "failed", "cancelled")
_EVERY = 0.25
#: A job that takes longer makes its disturbance one that the portal did not recover from: so many seconds, and on a
#: slow machine so many times what the portal took to come up.
PATIENCE, STARTS = 180.0, 4.0


class Canary(threading.Thread):
    """`seconds` is None until the job is over."""

    def __init__(self, client: Client, kind: str) -> None:
        super().__init__(name=f"canary after {kind}", daemon=True)
        self.kind, self.client = kind, client
        self.asked = Asked(str(uuid.uuid4()), client.name)
        self.seconds: float | None = None
        self._over = threading.Event()

    def run(self) -> None:
        """Submit until it is taken, then ask until it is over."""
        began = time.monotonic()
        body = {**_BODY, "parameters": {"seconds": 0, "mode": "end"}}
        while not self._over.is_set():
            if not self.asked.ids:
                answer = self.client.post("/api/jobs", body, self.asked.key)
                self.asked.statuses.append(answer.status)
                self.asked.ids += [answer.body["id"]] if answer.status in (200, 201) else []
            else:
                answer = self.client.get(f"/api/jobs/{self.asked.ids[0]}")
                if answer.status == 200 and answer.body["state"] in _FINAL:
                    self.seconds = time.monotonic() - began
                    return
            time.sleep(min(answer.retry_after, 5.0) if answer.status == 429 else _EVERY)

    def give_up(self) -> None:
        """Ask no more."""
        self._over.set()
