"""Who may see, submit and cancel jobs, and register applications."""

from __future__ import annotations

from typing import Any

import rules

from gridportal.accounts.rules import administers, granted, manages, operates, oversees, signed_in, submits
from scheduling.jobs.selectors import is_shared_with


@rules.Predicate
def owns(user: Any, job: Any) -> bool:
    """Whether the job, or the request, is this person's own."""
    return job is not None and job.owner_id == user.pk


@rules.Predicate
def reads(user: Any, job: Any) -> bool:
    """Whether the job is shared with this person."""
    return job is not None and is_shared_with(user, job)


@rules.Predicate
def reads_files(user: Any, job: Any) -> bool:
    """Whether it is, with its files."""
    return job is not None and is_shared_with(user, job, files=True)


rules.add_perm("scheduling.view_job", (signed_in & owns) | oversees | (signed_in & reads))
rules.add_perm("scheduling.share_job", signed_in & owns)
rules.add_perm("scheduling.remove_job_inputs", signed_in & owns)
rules.add_perm("scheduling.unshare_job", (signed_in & owns) | operates)
rules.add_perm("scheduling.view_all_jobs", oversees)
rules.add_perm("scheduling.submit_job", submits)
rules.add_perm("scheduling.read_job_files", (signed_in & owns) | operates | (signed_in & reads_files))
rules.add_perm("scheduling.cancel_job", (submits & owns) | operates)
rules.add_perm("scheduling.cancel_jobs", submits | operates)
rules.add_perm("scheduling.view_job_group", (signed_in & owns) | oversees)
rules.add_perm("scheduling.cancel_job_group", (submits & owns) | operates)
rules.add_perm("scheduling.control_job", (submits & owns) | operates)
rules.add_perm("scheduling.move_job", (submits & owns) | operates)
rules.add_perm("scheduling.build_skeleton", operates)
rules.add_perm("scheduling.view_alerts", signed_in)
rules.add_perm("scheduling.change_alert_rules", operates)
rules.add_perm("scheduling.view_clusters", oversees)
rules.add_perm("scheduling.check_cluster", operates)
rules.add_perm("scheduling.view_maintenance", signed_in)
rules.add_perm("scheduling.plan_maintenance", operates)
rules.add_perm("scheduling.make_announcement", administers)
rules.add_perm("scheduling.view_projects", signed_in)
rules.add_perm("scheduling.manage_projects", administers)
rules.add_perm("scheduling.view_budgets", signed_in)
rules.add_perm("scheduling.manage_budgets", manages)
rules.add_perm("scheduling.schedule_reports", manages)
rules.add_perm("scheduling.remove_workload_log", administers)
rules.add_perm("scheduling.view_depots", oversees)
rules.add_perm("scheduling.send_match_request", submits)
rules.add_perm("scheduling.view_match_request", (signed_in & owns) | oversees)
rules.add_perm("scheduling.cancel_match_request", (submits & owns) | operates)
rules.add_perm("scheduling.change_resource_ad", administers)

#: One permission for each step that people take with moves. Operators have all; an administrator may give any of them
#: to other people by a group that has the Django permission of the same name.
MOVE_STEPS = tuple(
    f"scheduling.{name}"
    for name in ("approve_move", "refuse_move", "override_move", "simulate_moves", "change_move_policy")
)
for step in MOVE_STEPS:
    rules.add_perm(step, operates | granted(step))
_proposes = granted("scheduling.propose_move")
_looks = granted("scheduling.view_moves") | _proposes
for step in MOVE_STEPS:
    _looks = _looks | granted(step)
rules.add_perm("scheduling.view_moves", oversees | _looks)
rules.add_perm("scheduling.propose_move", (submits & owns) | operates | _proposes)
rules.add_perm("scheduling.opt_out_of_moves", (submits & owns) | operates)
rules.add_perm("scheduling.change_job_moves", operates)
rules.add_perm("scheduling.view_application", signed_in)
rules.add_perm("scheduling.register_application", administers)
