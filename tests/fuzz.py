"""`make fuzz MINUTES=30`: all property tests with new seeds, again and again, in random order, until the time is over.

A round is one pytest of its own, so that a crash or a hang ends no more than that. What fails is said at once with the
falsifying example and the command that shows it again, and the next round goes on. The exit code is 0 when nothing
failed, 1 when a property did, 2 when a round could not be run.

This module is also the plugin of these rounds: it shuffles, stops in time and counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Past its deadline a round ends with the test it is at; pytest-timeout ends that after 300 s.
_GRACE = 400.0
_FUZZ = "PROPERTY_ROUND"
_PASSING = re.compile(r"(\d+) passing")
_RAN = {0: "all passed", 1: "some failed", 5: "no time for a test"}


@dataclass
class Found:
    """What all rounds came to. failed: how often each test failed; broken: rounds that could not be run."""

    rounds: int = 0
    tests: int = 0
    examples: int = 0
    broken: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    @property
    def code(self) -> int:
        """The exit code."""
        return 1 if self.failed else 2 if self.broken or not self.tests else 0

    def text(self) -> str:
        """The last lines: the figures, and each test that failed."""
        figures = f"fuzz: {self.rounds} rounds, {self.tests} tests, {self.examples} examples"
        lines = [f"{figures}, {len(self.failed)} properties failed, {self.broken} rounds broke off"]
        return "\n".join([*lines, *(f"  {test} failed in {times} rounds" for test, times in self.failed.items())])


def main() -> int:
    """Rounds until the time is over."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, 10 unless told")
    parser.add_argument("targets", nargs="*", help="files or tests, all unless told")
    asked = parser.parse_args()
    if not 0 < asked.minutes < 100_000:
        parser.error("minutes: a number above 0 and below 100,000")
    found, end = Found(), time.time() + 60 * asked.minutes
    while time.time() < end:
        _round(asked.targets, end, found)
        sys.stdout.write(f"round {found.rounds}: {found.tests} tests, {found.examples} examples so far\n")
        sys.stdout.flush()
    sys.stdout.write(f"{found.text()}\n")
    return found.code


def again(seed: int, test: str) -> str:
    """The command that runs a test with the examples of a round."""
    return f".venv/bin/pytest --hypothesis-profile=fuzz --hypothesis-seed={seed} '{test}'"


def _round(targets: list[str], end: float, found: Found) -> None:
    seed = secrets.randbelow(2**32)
    found.rounds += 1
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        argv = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "tests.fuzz", "-p", "no:cacheprovider"]
        argv += ["-p", "no:schemathesis"]  # with it falsifying examples have no values
        argv += ["-m", "hypothesis and not bench", "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", *targets]
        env = {**os.environ, _FUZZ: json.dumps({"seed": seed, "end": end, "record": str(record)})}
        try:
            limit = max(0.0, end - time.time()) + _GRACE
            done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            found.broken += 1
            sys.stdout.write(f"the round with seed {seed} did not end in {limit:.0f} s\n")
            return
        told = json.loads(record.read_text()) if record.exists() else {"tests": 0, "examples": 0, "failed": []}
    found.tests += told["tests"]
    found.examples += told["examples"]
    found.failed.update(told["failed"])
    if told["failed"] or done.returncode not in _RAN:
        sys.stdout.write(done.stdout + done.stderr)
    if done.returncode not in _RAN:
        found.broken += 1
        sys.stdout.write(f"the round with seed {seed} ended with {done.returncode}\n")
    for test in told["failed"]:
        sys.stdout.write(f"show it again: {again(seed, test)}\n")


class _Round:
    """The plugin inside of a round."""

    def __init__(self, seed: int, end: float, record: str) -> None:
        self.seed, self.end, self.record = seed, end, Path(record)
        self.tests, self.examples = 0, 0
        self.failed: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        random.Random(self.seed).shuffle(items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        done = yield
        self.tests += 1
        self.examples += sum(map(int, _PASSING.findall(getattr(item, "hypothesis_statistics", ""))))
        if time.time() > self.end:
            item.session.shouldstop = "the time is over"
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        told = {"tests": self.tests, "examples": self.examples, "failed": self.failed}
        self.record.write_text(json.dumps(told), encoding="utf-8")
        if session.shouldstop:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if self.failed else pytest.ExitCode.OK


def pytest_configure(config: pytest.Config) -> None:
    """Only in a round."""
    if _FUZZ in os.environ:
        config.pluginmanager.register(_Round(**json.loads(os.environ[_FUZZ])), "fuzz round")


if __name__ == "__main__":
    raise SystemExit(main())
