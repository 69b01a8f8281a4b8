"""What a check of a cluster found, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gridportal.web.templatetags.units import duration, rate
from scheduling.cluster_checks.core.check_step import CheckStep, StepResult, Verdict

Facts = Mapping[str, Any]
#: What each step is called on the page.
TITLES: Mapping[CheckStep, str] = {
    CheckStep.BACKEND: "It answers",
    CheckStep.VERSION: "Version",
    CheckStep.NODES: "Nodes",
    CheckStep.AGENTS: "Agents",
    CheckStep.TELEMETRY: "Telemetry",
    CheckStep.PROBE: "Probe",
}
_SKIPPED: Mapping[CheckStep, str] = {
    CheckStep.AGENTS: "Its setting names no agents.",
    CheckStep.PROBE: "Nobody measures its network: probe is not set.",
}


def step_message(result: StepResult) -> str:
    """One sentence or two.

    >>> step_message(StepResult(CheckStep.BACKEND, Verdict.WELL, {"nodes": 1}))
    'It answers and has 1 node.'
    """
    if result.verdict is Verdict.SKIPPED:
        return _SKIPPED.get(result.step, "There is nothing to ask.")
    if error := result.facts.get("error"):
        text = str(error).strip()
        return f"{text[:1].upper()}{text[1:].rstrip('.')}."
    return _MESSAGES[result.step](result.facts)


def summary(results: list[StepResult]) -> str:
    """The whole check in a sentence.

    >>> summary([StepResult(CheckStep.BACKEND, Verdict.FAILED), StepResult(CheckStep.NODES, Verdict.WELL)])
    '1 of 2 questions has a bad answer: it answers.'
    """
    asked = [result for result in results if result.verdict is not Verdict.SKIPPED]
    wrong = [TITLES[result.step].lower() for result in asked if result.verdict is Verdict.FAILED]
    if not wrong:
        return f"All {len(asked)} questions have good answers."
    return (
        f"{len(wrong)} of {len(asked)} questions {'has a bad answer' if len(wrong) == 1 else 'have bad answers'}: "
        + (f"{', '.join(wrong)}.")
    )


def _backend(facts: Facts) -> str:
    count = facts["nodes"]
    return f"It answers and has {_many(count, 'node')}." if count else "It answers, but has no nodes."


def _version(facts: Facts) -> str:
    if "answers" in facts:
        return f"{'; '.join(facts['answers'])}."
    if "launcher" in facts:
        return f"{facts['launcher']} starts up to {_many(facts['slots'], 'rank')} at a time."
    return f"The emulated Grid {facts['topology']} runs as {facts['mode'] or 'it was started'}."


def _nodes(facts: Facts) -> str:
    count, closed = facts["nodes"], facts["closed_count"]
    busy = f", {facts['busy']} busy" if facts["busy"] else ""
    if not closed:
        return f"All {count} take jobs{busy}."
    more = ", ..." if closed > len(facts["closed"]) else ""
    return f"{count - closed} of {count} take jobs{busy}. Closed: {', '.join(facts['closed'])}{more}."


def _agents(facts: Facts) -> str:
    if not facts["silent_count"]:
        return f"All {facts['agents']} agents answer."
    named = "; ".join(f"{node}: {reason}" for node, reason in facts["silent"].items())
    more = "; ..." if facts["silent_count"] > len(facts["silent"]) else ""
    return f"{facts['silent_count']} of {facts['agents']} agents do not answer. {named}{more}."


def _telemetry(facts: Facts) -> str:
    if stale := facts["stale"]:
        named = "; ".join(f"{name}: {error or 'silent for too long'}" for name, error in stale.items())
        return f"{_many(len(stale), 'source')} {'is' if len(stale) == 1 else 'are'} stale. {named}."
    ages = ", ".join(f"{name} {duration(age)} ago" for name, age in facts["ages"].items())
    return f"All sources answer: {ages}."


def _probe(facts: Facts) -> str:
    latency = facts.get("latency")
    delay = f", latency {1000 * latency:.2g} ms" if latency is not None else ""
    return f"{facts['source']} to {facts['target']}: {rate(facts['bandwidth'])}{delay}."


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


_MESSAGES: Mapping[CheckStep, Callable[[Facts], str]] = {
    CheckStep.BACKEND: _backend,
    CheckStep.VERSION: _version,
    CheckStep.NODES: _nodes,
    CheckStep.AGENTS: _agents,
    CheckStep.TELEMETRY: _telemetry,
    CheckStep.PROBE: _probe,
}
