"""Whether what the portal says of the jobs, what its clients were promised and what really ran agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scheduling.jobs.core.states import FINAL, LIFE, JobState
from scheduling.runs.core.run_states import JOB_STATE, RunState
from tests.chaos.ledger import Attempt
from tests.chaos.story import Asked, Order, Story, Window

#: Applications whose launcher is the ledger's.
NOTED = ("chaos-shell", "chaos-mpi", "chaos-cg")
#: While these last a run that ends cannot write its exit record, or nobody is left who saw it end.
_UNRECORDED = ("fill home", "fill runs", "lock home", "lock runs", "kill grid", "kill supervisor", "kill slurmd")
#: Seconds that the script takes to start a program and to record its end, on a machine that is busy.
_AROUND = 2.0
_BEFORE_IT_STARTED = frozenset({JobState.QUEUED, JobState.PLACING, JobState.WAITING, JobState.TRIAL})


@dataclass(frozen=True, slots=True)
class Violation:
    """One promise that was broken: the job (None: none in particular), the rule, and the story."""

    job: int | None
    rule: str
    story: str


def judge(
    stories: Sequence[Story],
    asked: Sequence[Asked],
    ran: Sequence[Attempt],
    windows: Sequence[Window],
    orders: Sequence[Order] = (),
) -> tuple[list[Violation], list[Violation]]:
    """Violations, and the cases that are none: runs which ended when nobody could record it, so that the portal says
    that they were lost, and those that ended while a person had them run again."""
    by_job: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in ran:
        by_job[attempt.job].append(attempt)
    broken = [*_promises(stories, asked), *_strangers(stories, by_job)]
    excused: list[Violation] = []
    for story in stories:
        broken += _life(story)
        if story.application not in NOTED:
            continue
        mine = by_job.get(story.job, [])
        broken += _ran(story, [attempt for attempt in mine if not attempt.is_trial])
        for each in _twice(story, [attempt for attempt in mine if not attempt.is_trial]):
            (excused if _put_back(story, mine, orders) else broken).append(each)
        broken += _repeated(story, mine)
        for each in _failed_but_complete(story, mine):
            (excused if _excused(story, mine, windows) else broken).append(each)
    return broken, excused


def _promises(stories: Sequence[Story], asked: Sequence[Asked]) -> Iterator[Violation]:
    """Every accepted job exists, and one key made one job."""
    jobs = {story.job for story in stories}
    by_key: dict[str, list[int]] = defaultdict(list)
    for story in stories:
        by_key[story.request_key].append(story.job)
    for each in asked:
        ids = set(each.ids) | set(by_key.get(each.key, ()))
        if len(ids) > 1:
            yield Violation(min(ids), "one key, one job", f"The key {each.key} made the jobs {sorted(ids)}.")
        for job in set(each.ids) - jobs:
            yield Violation(job, "an accepted job exists", f"{each.person} was told {job} for {each.key}; it is gone.")


def _strangers(stories: Sequence[Story], by_job: Mapping[int, Sequence[Attempt]]) -> Iterator[Violation]:
    known = {key for story in stories for key in story.run_keys}
    for job, attempts in by_job.items():
        for key in sorted({attempt.key for attempt in attempts} - known):
            yield Violation(job, "what runs is known", f"{key} ran, and the portal has no such run.")


def _life(story: Story) -> Iterator[Violation]:
    state = JobState(story.state)
    if state not in FINAL and state is not JobState.WAITING:
        yield Violation(story.job, "nothing is stuck", f"It is still {state}: {story.reason}")
    if state is not JobState.SUCCEEDED and not story.reason:
        yield Violation(story.job, "every end has a reason", f"It is {state}, and nobody knows why.")
    if state in FINAL and not story.is_dated:
        yield Violation(story.job, "every end has a time", f"It is {state} without a time.")
    if (state in FINAL or state is JobState.WAITING) and story.open_runs:
        yield Violation(story.job, "an end ends the runs", f"It is {state}; not over: {', '.join(story.open_runs)}.")
    yield from _events(story)
    yield from _runs(story)


def _runs(story: Story) -> Iterator[Violation]:
    """Counted from 1; one that is followed by another has not ended the job, and the last one ended as it did."""
    numbers, states = [number for number, _ in story.runs], [RunState(state) for _, state in story.runs]
    if numbers != list(range(1, len(numbers) + 1)):
        yield Violation(story.job, "one run after the other", f"Its runs are {numbers}.")
    for number, state in list(zip(numbers, states, strict=True))[:-1]:
        if JOB_STATE[state] is not JobState.QUEUED and not _moves(state, states[: number - 1]):
            yield Violation(story.job, "one run after the other", f"Run {number} is {state}, and another one followed.")
    if story.state in FINAL and states and JOB_STATE[states[-1]] not in (JobState.QUEUED, story.state):
        yield Violation(story.job, "a job ends as its run", f"It is {story.state}, and its last run {states[-1]}.")


def _moves(state: RunState, before: Sequence[RunState]) -> bool:
    """Whether a run was stopped so that the job goes on elsewhere, or could not go on there and the job went back."""
    return state is RunState.CHECKPOINTED or (state is RunState.FAILED and RunState.CHECKPOINTED in before)


def _events(story: Story) -> Iterator[Violation]:
    now, ends = "", 0
    for event in story.events:
        first = event.after == JobState.QUEUED and not event.before
        same = event.before == event.after
        legal = first if not now else event.before == now and (same or LIFE.may_follow(now, event.after))
        if not legal:
            yield Violation(story.job, "a legal life", f"{event.before or 'new'} to {event.after} while it was {now}.")
        now = event.after
        ends += not same and JobState(event.after) in FINAL
    if now != story.state:
        yield Violation(story.job, "a legal life", f"Its last event is {now!r}, and it is {story.state}.")
    if ends > 1:
        yield Violation(story.job, "it ends once", f"It ended {ends} times.")


def _ran(story: Story, mine: Sequence[Attempt]) -> Iterator[Violation]:
    complete = [attempt for attempt in mine if attempt.is_complete]
    if story.state == JobState.SUCCEEDED and not complete:
        yield Violation(story.job, "succeeded means that it ran", f"What ran: {told(mine) or 'nothing'}.")
    if story.state == JobState.WAITING and complete:
        yield Violation(story.job, "who waits has not run", f"It waits, and ran: {told(complete)}.")
    if mine and _never_started(story):
        yield Violation(story.job, "cancelled before it started", f"It says so, and ran: {told(mine)}.")


def _twice(story: Story, mine: Sequence[Attempt]) -> Iterator[Violation]:
    complete = [attempt for attempt in mine if attempt.is_complete]
    if len(complete) > 1:
        yield Violation(story.job, "never run twice", f"It is {story.state}; complete: {told(complete)}.")


def _put_back(story: Story, mine: Sequence[Attempt], orders: Sequence[Order]) -> bool:
    """Whether each complete attempt but the last ended while a person had the job put back into the queue: then its
    script was killed together with the program, or so soon after it that it could not record the end."""
    mine_again = [order for order in orders if order.job == story.job and order.verb == "requeue"]
    *first, _ = [attempt for attempt in mine if attempt.is_complete and not attempt.is_trial]
    return all(any(order.began <= (one.ended or 0.0) <= order.ended + _AROUND for order in mine_again) for one in first)


def _never_started(story: Story) -> bool:
    """Whether its life says that no run of it was ever handed over."""
    if story.state != JobState.CANCELLED or any(event.after == JobState.STARTING for event in story.events):
        return False
    return JobState(story.events[-1].before or JobState.QUEUED) in _BEFORE_IT_STARTED


def _repeated(story: Story, mine: Sequence[Attempt]) -> Iterator[Violation]:
    """One start for each key and each time that its cluster put it back; and no two at once."""
    seen: dict[tuple[str, int], list[Attempt]] = defaultdict(list)
    for attempt in mine:
        seen[attempt.key, attempt.restart].append(attempt)
    for (key, _), same in seen.items():
        if len(same) > 1:
            yield Violation(story.job, "a key starts once", f"{key} was started {len(same)} times: {told(same)}.")
    for attempt in mine:
        if attempt.overlaps:
            yield Violation(story.job, "never two at once", f"{told([attempt])} began while another one lived.")


def _failed_but_complete(story: Story, mine: Sequence[Attempt]) -> Iterator[Violation]:
    complete = [attempt for attempt in mine if attempt.is_complete and not attempt.is_trial]
    if story.state == JobState.FAILED and complete:
        words = f"It failed ({story.reason}), and ran to its end: {told(complete)}."
        yield Violation(story.job, "failed means that it did not end well", words)


def _excused(story: Story, mine: Sequence[Attempt], windows: Sequence[Window]) -> bool:
    """Whether each complete attempt ended when its end could not be recorded, or together with its time."""
    hit = [window for window in windows if window.kind in _UNRECORDED]
    return all(
        any(window.covers(one.ended, before=1.0, after=1.0) for window in hit) or _at_its_limit(story, one)
        for one in mine
        if one.is_complete and one.ended is not None
    )


def _at_its_limit(story: Story, attempt: Attempt) -> bool:
    """Whether it ended so near to its time limit that the script around it ended after that."""
    took = (attempt.ended or attempt.began) - attempt.began
    return story.time_limit is not None and took >= story.time_limit - _AROUND


def told(attempts: Iterable[Attempt]) -> str:
    """Attempts in words."""
    return "; ".join(
        f"{one.key} from {one.began:.1f} s to {'nowhere' if one.ended is None else f'{one.ended:.1f} s'}"
        f" with {'no code' if one.code is None else one.code} (restart {one.restart})"
        for one in attempts
    )
