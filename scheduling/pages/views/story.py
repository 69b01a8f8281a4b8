"""What the pages of one job and of its runs show, gathered for their templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from gridportal.accounts.list_pages import LISTS
from gridportal.accounts.models import User
from gridportal.base import rank_places
from gridportal.base.reasons import NOTHING, Code
from gridportal.web.templatetags.job_times import ran
from monitoring.clusters import selectors as clusters_selectors
from scheduling.checkpoints.selectors import move_story
from scheduling.checkpoints.services import requesting
from scheduling.contracts.charts import contract_chart
from scheduling.contracts.selectors.contract_stories import ContractStory, story_of
from scheduling.contracts.selectors.promises import contract_of, is_settled
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.jobs.core.launcher_lines import program_lines
from scheduling.jobs.core.states import ACTIVE
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import may_use
from scheduling.jobs.services.job_inputs import are_kept
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages.trial_messages import outcome
from scheduling.pages import selectors
from scheduling.pages.changed_program import changed_program
from scheduling.pages.charts import phases
from scheduling.pages.charts.timeline import timeline
from scheduling.pages.inner_pairs import inner_pairs
from scheduling.pages.job_order import order_of
from scheduling.pages.job_summary import asked_rows
from scheduling.pages.promised_groups import promised_groups
from scheduling.pages.run_figures import figure_units, reported_figures
from scheduling.pages.time_left import time_left
from scheduling.pages.trial_document import trial_document
from scheduling.placing.models import Placement
from scheduling.placing.selectors.trial_stories import last_placement, trial
from scheduling.placing.services.random_nodes import can_have_random_nodes
from scheduling.profiles.charts import picture
from scheduling.profiles.models import Profile
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling import selectors as rescheduling_selectors
from scheduling.rescheduling.decision_messages import DecisionRow, decision_rows
from scheduling.runs import selectors as runs_selectors
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import start_check
from scheduling.runs.services.start_hints import start_hints
from scheduling.skeletons.charts import predicted_times as trial_chart

LAST_LINES = 12
#: Reasons that quote the log in a list.
_QUOTES = (Code.ENDED, Code.OUTPUT_LACKS_SUCCESS)
MOST_EDGES = 200
MOST_DECISIONS = 20
#: What a list of its decisions need not say on the page of a job.
_OF_THE_JOB = ("job", "cluster")
MOST_ALIKE = 5
READINGS = 2
BRISK = 15.0  # seconds after a step during which the page asks more often: the next one is likely near
MOVING = ("state", "reason", "started_at", "ended_at")


def story(job: Job, user: User | AnonymousUser) -> dict[str, Any]:
    """The context of the page and of its live part: one moment, so that its parts do not contradict each other."""
    now = timezone.now()
    story_now = _one_moment(job)
    run, placement = story_now["run"], story_now["placement"] or last_placement(job)
    last_lines = _last_lines(story_now["log"]) if job.state == "failed" else ""
    may_control = user.has_perm("scheduling.control_job", job)
    moves = move_story(job)
    return {
        **story_now,
        "placement": placement,
        **_trial(placement, run),
        "made_profile": Profile.objects.filter(run__job=job).first() if job.trace else None,
        "takes": promised_groups(job, placement) if may_control else [],
        "steps": timeline(story_now["events"], now, job.started_at, job.ended_at),
        "brisk": any((now - event.at).total_seconds() < BRISK for event in story_now["events"][-1:]),
        "asked": asked_rows(job, names_files=user.has_perm("scheduling.read_job_files", job)),
        "ranks": _ranks(placement, run) if run else [],
        "rank_places": _rank_places(placement),
        "figures": _figures(run),
        "not_begun": start_check.not_begun(run, now) if run else NOTHING,
        "script": run.script if run else "",
        "last_lines": last_lines,
        "quoted_lines": _quoted_lines(job, last_lines),
        "may_cancel": user.has_perm("scheduling.cancel_job", job) and not job.is_final and job.state != "cancelling",
        "moves": moves,
        "decisions": _decisions(job) if moves else [],
        "decision_columns": [name for name in LISTS["migrations"].shown(()) if name not in _OF_THE_JOB],
        **_move_policy(job, user),
        "may_propose": user.has_perm("scheduling.propose_move", job),
        "movable": moves is not None and not requesting.problem(job),
        "may_move": user.has_perm("scheduling.move_job", job),
        "controls": story_now["verbs"] if may_control else (),
        "may_submit": user.has_perm("scheduling.submit_job"),
        "private_program": isinstance(user, User) and not may_use(user, job.application),
        "may_read_files": user.has_perm("scheduling.read_job_files", job),
        "may_draw_nodes": _may_draw_nodes(job, user),
        "alike": _alike(job, user),
        "is_shared": _is_shared(job, user),
        "may_share": user.has_perm("scheduling.share_job", job),
        "share_count": job.shares.count() if user.has_perm("scheduling.unshare_job", job) else 0,
        "inputs_kept": are_kept(job),
        "may_remove_inputs": job.is_final and user.has_perm("scheduling.remove_job_inputs", job),
        "changed_program": changed_program(job, run),
        "start_hints": start_hints(run) if job.state == "failed" and run and not run.start_reason else [],
        "order": order_of(job, user) if isinstance(user, User) else None,
        "over": job.is_final,
        "from_start_to_end": _of_all_runs(job, story_now["runs"]),
        "run_count": len(story_now["runs"]),
        "addresses": _addresses("job", job.pk),
        **_chosen(placement, job.cluster),
        **_phase_chart(run, story_now["phases"]),
        **(contract := _contract(run)),
        "time_left": time_left(job, contract["contract"].contract if contract else None, now),
        "settled": job.is_final and _is_settled(contract.get("contract"), now),
    }


def _of_all_runs(job: Job, runs: Sequence[Run]) -> float | None:
    """Seconds from start to end on its nodes, of all runs together; None while the job is not over."""
    lasted: list[float | None] = [ran(run) for run in runs]
    return sum(seconds or 0.0 for seconds in lasted) if job.ended_at and any(lasted) else None


def _may_draw_nodes(job: Job, user: User | AnonymousUser) -> bool:
    """Whether this person may submit it again on random nodes, which tells something only where there is a network."""
    has_network = clusters_selectors.traits(job.cluster).has_network
    return has_network and can_have_random_nodes(job) and user.has_perm("scheduling.submit_job")


def _is_shared(job: Job, user: User | AnonymousUser) -> bool:
    """Whether this person reads it only because it is shared."""
    return job.owner_id != user.pk and not user.has_perm("scheduling.view_all_jobs")


def _alike(job: Job, user: User | AnonymousUser) -> list[Job]:
    """The job that this one was submitted from, and the newest that were submitted from it."""
    if not isinstance(user, User):
        return []
    same = Q(resubmitted_from=job) | Q(pk=job.resubmitted_from_id)
    return list(selectors.jobs_visible_to(user).filter(same).exclude(pk=job.pk)[:MOST_ALIKE])


def _move_policy(job: Job, user: User | AnonymousUser) -> dict[str, Any]:
    """Whether the portal moves it, and who may change that."""
    own = rescheduling_selectors.job_policy(job)
    weighed = rescheduling_selectors.open_request(job) if job.state in ACTIVE else None
    return {
        "weighed": weighed,
        "weighed_words": decision_messages.progress_of(weighed) if weighed else "",
        "move_policy": own,
        "move_policy_words": decision_messages.job_policy(own),
        "move_modes": [(mode.value, words) for mode, words in decision_messages.POLICIES.items()],
        "may_opt_out": user.has_perm("scheduling.opt_out_of_moves", job),
        "may_set_mode": user.has_perm("scheduling.change_job_moves", job),
    }


def _decisions(job: Job) -> list[DecisionRow]:
    return decision_rows(rescheduling_selectors.with_missed(rescheduling_selectors.of_job(job)[:MOST_DECISIONS]))


def run_story(run: Run) -> dict[str, Any]:
    """The context of the page of one run, and of its live part."""
    summary, over, now = runs_selectors.phase_summary(run), runs_selectors.is_over(run), timezone.now()
    return {
        "job": run.job,
        "run": run,
        "others": [number for number in run.job.runs.values_list("number", flat=True) if number != run.number],
        "over": over,
        "from_start_to_end": ran(run),
        "addresses": _addresses("job-run", run.job_id, run.number),
        "ranks": _ranks(run.placement, run),
        "rank_places": _rank_places(run.placement),
        "figures": _figures(run),
        "not_begun": start_check.not_begun(run, now),
        "script": run.script,
        "log": runs_selectors.log_tail(run, done=over),
        "phases": summary,
        **_phase_chart(run, summary),
        **(contract := _contract(run)),
        "settled": over and _is_settled(contract.get("contract"), now),
    }


def _addresses(name: str, *keys: int) -> dict[str, str]:
    """Where the log, its end and the script are: of a job, which are those of its newest run, or of one run."""
    parts = {"log": "log", "tail": "log-tail", "script": "script"}
    return {part: reverse(f"{name}-{words}", args=keys) for part, words in parts.items()}


def _one_moment(job: Job) -> selectors.JobStory:
    """The story, read again when the job moved on meanwhile: its state and its last event change in one transaction."""
    story_now = selectors.job_story(job)
    for _ in range(READINGS):
        if not story_now["events"] or story_now["events"][-1].to_state == job.state:
            break
        job.refresh_from_db(fields=MOVING)
        story_now = selectors.job_story(job)
    return story_now


def groups(
    candidates: Sequence[CandidateGroup], link_peaks: picture.Peaks
) -> list[tuple[CandidateGroup, float | None]]:
    """Candidates with the share of its peak that each bottleneck has."""
    slowest = [(group, group.bottleneck) for group in candidates]
    return [(group, picture.share_of_peak(worst.pair, link_peaks) if worst else None) for group, worst in slowest]


def edges(candidate: CandidateGroup, link_peaks: picture.Peaks) -> list[tuple[RankPair, float | None]]:
    """The pairs that talk, the slowest first, with the share of their peak."""
    rows = sorted(candidate.edges, key=lambda edge: edge.bandwidth or 0.0)[:MOST_EDGES]
    return [(edge, picture.share_of_peak(edge, link_peaks)) for edge in rows]


def _chosen(placement: Placement | None, cluster: str) -> dict[str, Any]:
    if placement is None:
        return {}
    alone = CandidateGroup(tuple(placement.nodes), placement.objective)
    groups_shown, talks = placement.candidates or (alone,), placement.method == "pattern"
    return shown_groups(groups_shown, cluster, talks=talks, asked=placement.job)


def shown_groups(
    candidates: Sequence[CandidateGroup], cluster: str, *, talks: bool, asked: Job | JobSpec | None = None
) -> dict[str, Any]:
    """The chosen group as a picture with its sentence, all groups and the pairs of the first as rows. `talks`: the
    pairs are those of a pattern, so others do not count. `asked`: what has the pattern, for ranks of one node that
    talk. Of a cluster without a network there is only the group."""
    chosen, link_peaks = candidates[0], clusters_selectors.peaks(cluster)
    if not clusters_selectors.traits(cluster).has_network:
        return {"no_network": True, "candidates": [(chosen, None)]}
    number, inner = len(chosen.edges), inner_pairs(chosen.nodes, asked) if talks else ()
    return {
        "picture": picture.picture(chosen, link_peaks, talks=talks, inner=inner),
        "picture_finding": picture.finding(chosen, link_peaks, talks=talks),
        "candidates": groups(candidates, link_peaks),
        "edges": edges(chosen, link_peaks),
        "edge_count": number,
        "edge_summary": picture.pairs_that_talk(number, talks=talks),
    }


def _trial(placement: Placement | None, run: Run | None) -> dict[str, Any]:
    """The part about the skeleton on the candidate groups; nothing for a job without."""
    found = trial(placement)
    if found is None:
        return {}
    shown = {"trial": trial_document(found), "trial_figure": trial_chart.figure(found.rows)}
    predicted = found.predicted
    if run is None or predicted is None or run.state != RunState.SUCCEEDED or not (run.started_at and run.ended_at):
        return shown
    return {**shown, "outcome": outcome((run.ended_at - run.started_at).total_seconds(), predicted)}


@dataclass(frozen=True, slots=True)
class _Rank:
    """Where a rank was placed. `host`: what it printed of itself, None for nothing; `is_slot`: its node is one of
    several slots of one host. `share`: its part of the work as text, empty where nobody gave it one."""

    rank: int
    node: str
    host: str | None
    is_slot: bool
    share: str


def _ranks(placement: Placement | None, run: Run | None) -> list[_Rank]:
    if placement is None:
        return []
    printed, slots = list(run.hosts) if run else [], clusters_selectors.traits(placement.job.cluster).has_slots
    return [
        _Rank(rank, node, printed[rank] if rank < len(printed) else None, slots, _share(placement, rank))
        for rank, node in enumerate(placement.nodes)
    ]


def _share(placement: Placement, rank: int) -> str:
    """As per cent of the whole where shares are parts of 1, else the parts that were dealt out."""
    if rank >= len(placement.shares):
        return ""
    share, whole = placement.shares[rank], sum(placement.shares)
    of_whole = f"{100 * share / whole:.1f} %" if whole else ""
    return of_whole if abs(whole - 1) < 1e-6 else f"{share:g} ({of_whole})"


def _rank_places(placement: Placement | None) -> list[tuple[str, str]]:
    """Which ranks each node has; nothing where each has one, which the table says as shortly."""
    places = rank_places.ranks_of(placement.nodes) if placement else {}
    several = any(len(ranks) > 1 for ranks in places.values())
    return [(node, rank_places.numbered(ranks)) for node, ranks in places.items()] if several else []


def _figures(run: Run | None) -> list[tuple[str, Any, str]]:
    """The figures with their units, where the application's patterns say them."""
    if run is None:
        return []
    units = figure_units(run.job.application)
    return [(name, value, units.get(name, "")) for name, value in reported_figures(run.result).items()]


def _last_lines(log: runs_selectors.LogPart | None) -> str:
    return "\n".join(program_lines(log.text.splitlines())[-LAST_LINES:]) if log else ""


def _quoted_lines(job: Job, last_lines: str) -> str:
    """What the reason quotes of the log, where that is not all among its last lines."""
    quoted: list[str] = job.reason.facts.get("log", []) if job.reason.code in _QUOTES else []
    return "\n".join(quoted) if any(line not in last_lines for line in quoted) else ""


def _phase_chart(run: Run | None, summary: list[runs_selectors.PhaseSummary]) -> dict[str, Any]:
    main = phases.main_phase(summary)
    if run is None or main is None:
        return {}
    reports = runs_selectors.phase_history(run, main["phase"])
    return {
        "phase_finding": phases.finding(summary, run.seconds),
        "phase_note": phases.overlap(summary, _lasted(run)),
        "phase_figure": phases.figure(reports, main["phase"]),
        "main_phase": main["phase"],
        "phase_thinned": main["count"] > phases.MOST_BARS,
    }


def _lasted(run: Run) -> float | None:
    """Seconds from start to end, once it is over."""
    return (run.ended_at - run.started_at).total_seconds() if run.started_at and run.ended_at else None


def _contract(run: Run | None) -> dict[str, Any]:
    """The part about the contract; nothing for a run that has none."""
    contract = contract_of(run)
    if contract is None:
        return {}
    shown = story_of(contract)
    return {
        "contract": shown,
        "contract_finding": contract_chart.finding(shown),
        "contract_source": contract_chart.source(shown.promised.model) if shown.promised else "",
        "contract_figure": contract_chart.figure(shown) if shown.reports else None,
    }


def _is_settled(shown: ContractStory | None, now: datetime) -> bool:
    """Whether the part about the contract changes no more: the page's last update waits for it."""
    return shown is None or is_settled(shown.contract, now)
