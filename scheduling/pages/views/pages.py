"""Pages that say things: help."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.accounts.roles import MAY
from scheduling.pages import own_program

STATES = (
    ("queued", "accepted; a worker starts on it within seconds"),
    ("placing", "the network is measured and nodes are chosen"),
    ("waiting", "no placement is possible now; its page says why and what to do"),
    ("trial", "its skeleton runs on the candidate groups, or a person is to take one of them; its page says which"),
    ("starting", "nodes are chosen; the program is being started"),
    ("running", "the program runs"),
    ("moving", "it is taken out of its queue, or stopped, to start on other nodes"),
    ("stopped", "it has stopped with a checkpoint and holds no nodes; a person lets it go on, or cancels it"),
    ("cancelling", "somebody cancelled it; the program is being stopped"),
    ("succeeded", "the program ended well; the result of its own check is shown beside it"),
    ("failed", "it ended badly or could not run; its page has the reason, the first error and the end of the log"),
    ("cancelled", "it was stopped, or cancelled before it started"),
)
RUN_STATES = (
    ("prepared", "nodes and script are ready; it is about to be handed over"),
    ("submitted", "its cluster has it, and it waits for its nodes there"),
    ("held", "it waits there until somebody releases it"),
    ("requeued", "it had started, and its cluster put it back into the queue"),
    ("recalling", "it is taken out of the queue, to start on other nodes"),
    ("running", "the program runs"),
    ("halting", "it is asked to stop with a checkpoint; until it does it computes on"),
    ("missing", "its cluster does not know it at the moment"),
    ("stopping", "its job was cancelled; the program is being stopped"),
    ("succeeded", "the program ended well"),
    ("failed", "it ended badly or could not run"),
    ("cancelled", "it was stopped, or cancelled before it started"),
    ("recalled", "it never started, and the next run has other nodes"),
    ("checkpointed", "it was stopped, and the next run goes on from there"),
)


@login_not_required
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """What each page is, the words, the shortcuts, the roles."""
    return render(
        request, "help.html", {"roles": MAY.items(), "states": STATES, "run_states": RUN_STATES, "own": own_program}
    )
