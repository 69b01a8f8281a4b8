"""The sentences of a job's story: what was found, and why it waits, with the thing to do.

Placement dictionaries are those of scheduling.core.placement.document and of the Placement model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling.core import last_words
from scheduling.core.requirements import Requirements
from scheduling.core.units import rate_text, share_text

_SHOWN_JOBS = 4
_SHOWN_LINES = 3
#: Between why a run failed and the last words of its log.
LOG_ENDS = " Its log ends: "


def finding(candidate: Mapping[str, Any], peak: float | None = None, *, talks: bool = True) -> str:
    """One line about a group of nodes: its bottleneck, and the next slowest pair. `talks`: the pairs are those of a
    pattern, not simply all pairs of the group.

    `peak` is the capacity, bit/s, of the link that binds. `candidate` needs "bottleneck", "edges" and "nodes".

    >>> finding({"nodes": ["n1", "n2"], "edges": [], "bottleneck": {"source": "n1", "target": "n2",
    ...     "ranks": [0, 1], "bandwidth": 48e6}}, 100e6)
    'n1-n2 is the bottleneck: 48 of 100 Mbit/s.'
    """
    bottleneck = candidate.get("bottleneck")
    if not bottleneck:
        if len(candidate["nodes"]) == 1:
            return f"One rank on {candidate['nodes'][0]}: no pair of nodes talks."
        return "No pair of its ranks talks, so no link can hold the job up."
    slowest = bottleneck["bandwidth"]
    head = f"{_between(bottleneck)} is the bottleneck: {_of(slowest, peak)}"
    rest = [e["bandwidth"] for e in candidate.get("edges", []) if list(e["ranks"]) != list(bottleneck["ranks"])]
    if not rest:
        return head + "."
    level = sum(rate <= slowest * 1.01 for rate in rest)
    if level:
        others = (
            f"1 other pair{' that talks' * talks} has"
            if level == 1
            else f"{level} other pairs{' that talk' * talks} have"
        )
        return f"{head}; {others} no more."
    return f"{head}; every other pair{' that talks' * talks} has {rate_text(min(rest))} or more."


def _between(bottleneck: Mapping[str, Any]) -> str:
    pair = f"{bottleneck['source']}-{bottleneck['target']}"
    link = bottleneck.get("link")
    if not link or {link["source"], link["target"]} == {bottleneck["source"], bottleneck["target"]}:
        return pair
    return f"{pair}, over the link {link['source']}-{link['target']},"


def _of(rate: float, peak: float | None) -> str:
    if not peak:
        return rate_text(rate)
    value, unit = rate_text(rate).split(" ", 1)
    whole, whole_unit = rate_text(peak).split(" ", 1)
    return f"{value} of {whole} {unit}" if unit == whole_unit else f"{value} {unit} of {whole} {whole_unit}"


def too_few_free(needed: int, free: int, total: int, holders: Sequence[int]) -> str:
    """Why a job waits for nodes, and what ends the wait.

    >>> too_few_free(4, 2, 10, [12, 13])
    'Needs 4 free nodes; 2 of 10 are free. Jobs 12 and 13 hold the others; it starts when enough of them end.'
    """
    have = f"{free} of {total} {'is' if free == 1 else 'are'} free"
    ends = "it ends" if len(holders) == 1 else "enough of them end"
    hold = "holds" if len(holders) == 1 else "hold"
    return f"Needs {_nodes(needed)}; {have}. {jobs(holders)} {hold} the others; it starts when {ends}."


def enough_free(needed: int, reason: str) -> str:
    """The reason of a job for which enough nodes are free by now: what it was told, unless that was the want of nodes.

    >>> enough_free(4, too_few_free(4, 2, 10, [12]))
    'Enough nodes are free now; it is tried again within seconds.'
    """
    told = reason.startswith(f"Needs {_nodes(needed)};")
    return "Enough nodes are free now; it is tried again within seconds." if told else reason


def not_among_free(why: str, holders: Sequence[int]) -> str:
    """Enough nodes are free, but not the ones that would do."""
    return f"{_sentence(why)} That holds for the nodes that are free now; it starts when {_end(holders)}."


def not_now(why: str, asked: Requirements) -> str:
    """Not even the whole empty cluster has what is asked for, as measured now."""
    change = [f"lower {word}" for word in _lowerable(asked)]
    advice = f" To start it sooner, cancel it and resubmit with: {' or '.join(change)}." if change else ""
    return f"{_sentence(why)} It is tried again with every new measurement of the network.{advice}"


def out_of_reach(why: str, asked: Requirements) -> str:
    """The same of a job that is not submitted yet.

    >>> out_of_reach("No 2 nodes have 900 Mbit/s", Requirements(min_bandwidth=9e8))
    'No 2 nodes have 900 Mbit/s. The job would wait until a new measurement finds it. To start now: lower minimum \
bandwidth (now 900 Mbit/s).'
    """
    change = [f"lower {word}" for word in _lowerable(asked)]
    advice = f" To start now: {' or '.join(change)}." if change else ""
    return f"{_sentence(why)} The job would wait until a new measurement finds it.{advice}"


def backend_silent(error: str, cluster: str = "") -> str:
    """The cluster cannot be reached; `cluster` is its name where it is not the emulated Grid."""
    if cluster:
        return (
            f"The cluster {cluster} does not answer; the job is tried again every few seconds and starts once it does, "
            f"once only. An operator can see to it. ({_sentence(error)})"
        )
    return (
        f"The emulated Grid does not answer; the job is tried again every few seconds and starts once it does. "
        f"An operator can start it with `gridportal testbed up`. ({_sentence(error)})"
    )


def nodes_busy(nodes: Sequence[str], jobs_there: Sequence[int]) -> str:
    """The best nodes are taken, and the job is to wait for them.

    >>> nodes_busy(["n1", "n2"], [12])
    'It waits for n1 and n2, the best nodes for it; it starts when job 12 ends.'
    """
    *most, last = nodes
    names = f"{', '.join(most)} and {last}" if most else last
    plural = "s" if most else ""
    return f"It waits for {names}, the best node{plural} for it; it starts when {_end(jobs_there)}."


def nodes_closed(closed: Mapping[str, str]) -> str:
    """Too many nodes take no jobs.

    >>> nodes_closed({"n3": "Slurm has it as down."})
    'Too few nodes take jobs now. n3: Slurm has it as down. It is tried again when they are back.'
    """
    shown = " ".join(f"{node}: {_sentence(why)}" for node, why in list(closed.items())[:_SHOWN_JOBS])
    more = f" And {len(closed) - _SHOWN_JOBS} more." if len(closed) > _SHOWN_JOBS else ""
    return f"Too few nodes take jobs now. {shown}{more} It is tried again when they are back."


def queued_there(backend: str, why: str, expected: str) -> str:
    """The job is in the queue of its cluster. `expected`: when it should start, in words, or empty.

    >>> queued_there("Slurm", "The chosen nodes are busy.", "14:05 UTC")
    'In the queue of Slurm. The chosen nodes are busy. Expected to start at 14:05 UTC.'
    """
    start = f" Expected to start at {expected}." if expected else ""
    return f"In the queue of {backend}. {_sentence(why)}{start}".replace("  ", " ").strip()


def taken_back(backend: str, closed: Mapping[str, str]) -> str:
    """The job leaves the queue of its cluster, since `closed` of its nodes take no jobs; with the reasons.

    >>> taken_back("hpc", {"m1": "It is down (power)."})
    'It is taken out of the queue of hpc, to be placed on other nodes: m1 takes no jobs. It is down (power).'
    """
    return f"It is taken out of the queue of {backend}, to be placed on other nodes{_closed_words(closed)}"


def placed_anew(nodes: Sequence[str], closed: Mapping[str, str]) -> str:
    """The job is out of the queue of its cluster, in which it had `nodes`.

    >>> placed_anew(["m1", "m2"], {"m1": "It is down (power)."})
    'Other nodes than m1 m2 are chosen for it: m1 takes no jobs. It is down (power).'
    """
    return f"Other nodes than {' '.join(nodes)} are chosen for it{_closed_words(closed)}"


def _closed_words(closed: Mapping[str, str]) -> str:
    if not closed:
        return "."
    reasons = " ".join(dict.fromkeys(_sentence(why) for why in closed.values()))
    return f": {' '.join(closed)} {'takes' if len(closed) == 1 else 'take'} no jobs. {reasons}"


def behind(ahead: Sequence[int]) -> str:
    """Older jobs have the first claim on the free nodes."""
    verb = "is" if len(ahead) == 1 else "are"
    return f"{jobs(ahead)} came first and {verb} being placed; this one is next."


def in_line(older: int) -> str:
    """How many jobs that have not started came before; empty for none."""
    if not older:
        return ""
    verb = "job that waits" if older == 1 else "jobs that wait"
    return f"{older} {verb} came before it and {'is' if older == 1 else 'are'} tried first."


def kept_for(first: int, needed: int, start: str) -> str:
    """The free nodes are kept for an older job, which should start at `start`, in words, or empty.

    >>> kept_for(12, 8, "14:05 UTC")
    'Job 12 came first and gets 8 nodes by 14:05 UTC; a job with a time limit that ends before then could start now.'
    >>> kept_for(12, 8, "")
    'Job 12 came first, needs 8 nodes and has waited long: the free ones are kept for it, and this one is next.'
    """
    if not start:
        return (
            f"Job {first} came first, needs {_count(needed)} and has waited long: the free ones are kept for it, "
            "and this one is next."
        )
    return (
        f"Job {first} came first and gets {_count(needed)} by {start}; "
        "a job with a time limit that ends before then could start now."
    )


def chosen(nodes: Sequence[str], method: str, reason: str) -> str:
    """Why the job went on to start: its nodes and the candidate's own reason."""
    return f"{', '.join(nodes)} chosen by {method}: {_sentence(reason)}"


def unreadable(fault: str) -> str:
    """Why a run that ended well by its exit code has failed: `fault` is the sentence about one of its files.

    >>> unreadable("exit.json is a directory, not a plain file.")
    'Its program ended with exit code 0, but what it left cannot be read: exit.json is a directory, not a plain file.'
    """
    return f"Its program ended with exit code 0, but what it left cannot be read: {fault}"


def with_fault(sentence: str, fault: object) -> str:
    """A sentence, with another one about a file that cannot be read where there is one.

    >>> with_fault("It is lost.", None)
    'It is lost.'
    """
    return f"{sentence} {fault}".strip() if fault else sentence


def ended(
    exit_code: int | None,
    verified: bool | None,
    backend_reason: str,
    last_lines: Sequence[str],
    fault: str = "",
) -> str:
    """Why a run failed, ending with the last words of the program in its log.

    `fault`: the sentence about a file of its run directory that cannot be read.

    >>> ended(143, None, "over its time limit of 4 s", ["step 7", "=   EXIT CODE: 15"])
    'It ran over its time limit of 4 s and was stopped. Its log ends: step 7'
    """
    absent = last_words.not_started(last_lines)
    if absent:
        return f"{absent} Check its command, and that it is installed on every node."
    own = [line.strip() for line in last_words.said(last_lines)][-_SHOWN_LINES:]
    how = with_fault(_how(exit_code, verified, backend_reason), fault)
    if own:
        return f"{how}{LOG_ENDS}{' / '.join(own)}"
    if fault:
        return how
    return f"{how} {'It wrote nothing itself.' if last_lines else 'Its log is empty.'}"


def _how(exit_code: int | None, verified: bool | None, backend_reason: str) -> str:
    if backend_reason.startswith("over its time limit"):
        return f"It ran {backend_reason.rstrip('.')} and was stopped."
    if backend_reason:
        return _sentence(backend_reason[0].upper() + backend_reason[1:])
    if exit_code == 0 and verified is False:
        return "The program ended, but its own verification failed."
    if exit_code is None:
        return "The program ended without saying how."
    return f"The program ended with exit code {exit_code}{_signal(exit_code)}."


def jobs(ids: Sequence[int]) -> str:
    """
    >>> jobs([12]), jobs([12, 13]), jobs([1, 2, 3, 4, 5, 6])
    ('Job 12', 'Jobs 12 and 13', 'Jobs 1, 2, 3, 4 and 2 more')
    """
    words = [str(job) for job in ids[:_SHOWN_JOBS]]
    if len(ids) > _SHOWN_JOBS:
        words.append(f"{len(ids) - _SHOWN_JOBS} more")
    if len(words) < 2:
        return f"Job {words[0]}" if words else "Other jobs"
    return f"Jobs {', '.join(words[:-1])} and {words[-1]}"


def _end(holders: Sequence[int]) -> str:
    if not holders:
        return "the jobs there end"
    name = jobs(holders)
    return f"{name[0].lower()}{name[1:]} {'ends' if len(holders) == 1 else 'end'}"


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def _nodes(count: int) -> str:
    return "1 free node" if count == 1 else f"{count} free nodes"


def _lowerable(asked: Requirements) -> list[str]:
    """The limits that a person may lower, with their values."""
    words = []
    if asked.min_bandwidth:
        words.append(f"minimum bandwidth (now {rate_text(asked.min_bandwidth)})")
    if asked.min_cpu:
        words.append(f"minimum cpu (now {share_text(asked.min_cpu)})")
    return words


def _signal(exit_code: int) -> str:
    names = {130: "interrupted", 134: "aborted", 137: "killed", 139: "a memory fault", 143: "terminated"}
    return f" ({names[exit_code]})" if exit_code in names else ""


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."
