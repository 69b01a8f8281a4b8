"""What is asked in a check of a cluster, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class CheckStep(StrEnum):
    """One question, in the order in which they are asked."""

    BACKEND = "backend"  # does it answer, with which nodes?
    VERSION = "version"  # what is it, and does it do all that the portal asks of it?
    NODES = "nodes"  # which of them take jobs?
    AGENTS = "agents"  # does each node's agent answer?
    TELEMETRY = "telemetry"  # how old are the figures of each source?
    PROBE = "probe"  # a transfer between two nodes


class Verdict(StrEnum):
    """How a question went. SKIPPED: it makes no sense for this cluster."""

    WELL = "well"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class StepResult:
    """One question with its answer; `facts` are told in words by `check_messages`. `seconds`: how long it took."""

    step: CheckStep
    verdict: Verdict
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "step": self.step.value,
            "verdict": self.verdict.value,
            "facts": dict(self.facts),
            "seconds": self.seconds,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> StepResult:
        """The same again.

        >>> result = StepResult(CheckStep.NODES, Verdict.WELL, {"open": 3}, 0.5)
        >>> StepResult.read(result.document()) == result
        True
        """
        step, verdict = CheckStep(document["step"]), Verdict(document["verdict"])
        return cls(step, verdict, dict(document["facts"]), float(document["seconds"]))


def well(step: CheckStep, **facts: Any) -> StepResult:
    """It is as it should be."""
    return StepResult(step, Verdict.WELL, facts)


def failed(step: CheckStep, **facts: Any) -> StepResult:
    """It is not."""
    return StepResult(step, Verdict.FAILED, facts)


def skipped(step: CheckStep, **facts: Any) -> StepResult:
    """There is nothing to ask."""
    return StepResult(step, Verdict.SKIPPED, facts)
