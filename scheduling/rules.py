"""Who may see, submit and cancel jobs, and register applications."""

from __future__ import annotations

from typing import Any

import rules

from gridportal.accounts.rules import administers, operates, oversees, signed_in, submits


@rules.Predicate
def owns(user: Any, job: Any) -> bool:
    """Whether the job, or the request, is this person's own."""
    return job is not None and job.owner_id == user.pk


rules.add_perm("scheduling.view_job", (signed_in & owns) | oversees)
rules.add_perm("scheduling.view_all_jobs", oversees)
rules.add_perm("scheduling.submit_job", submits)
rules.add_perm("scheduling.cancel_job", (submits & owns) | operates)
rules.add_perm("scheduling.control_job", (submits & owns) | operates)
rules.add_perm("scheduling.move_job", (submits & owns) | operates)
rules.add_perm("scheduling.build_skeleton", operates)
rules.add_perm("scheduling.view_moves", oversees)
rules.add_perm("scheduling.propose_move", (submits & owns) | operates)
rules.add_perm("scheduling.decide_move", operates)
rules.add_perm("scheduling.change_move_policy", operates)
rules.add_perm("scheduling.send_match_request", submits)
rules.add_perm("scheduling.view_match_request", (signed_in & owns) | oversees)
rules.add_perm("scheduling.cancel_match_request", (submits & owns) | operates)
rules.add_perm("scheduling.change_resource_ad", administers)
rules.add_perm("scheduling.view_application", signed_in)
rules.add_perm("scheduling.register_application", administers)
