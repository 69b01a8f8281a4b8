"""The form by which operators change how jobs of a cluster are moved."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import WordedForm
from scheduling.rescheduling.core.decision_states import Policy
from scheduling.rescheduling.core.move_cost import CostKind
from scheduling.rescheduling.decision_messages import COSTS, POLICIES
from scheduling.rescheduling.models import ReschedulingPolicy


class PolicyForm(WordedForm):
    """The rules of one cluster. `services.policies` checks what hangs on more than the field itself."""

    policy = forms.ChoiceField(label="Mode", choices=[(each.value, POLICIES[each]) for each in Policy])
    cost_kind = forms.ChoiceField(label="Cost that decides", choices=[(each.value, COSTS[each]) for each in CostKind])
    cost_scale = forms.FloatField(
        label="Worst case, times", min_value=0.0001, max_value=1000, help_text="1 is the 900 s that the paper measured."
    )
    threshold = forms.FloatField(
        label="Threshold of the gain", min_value=0, max_value=0.99, help_text="A share: 0.3 is 30 %."
    )
    learns_threshold = forms.BooleanField(label="Learn the threshold from past moves", required=False)
    changes_ranks = forms.BooleanField(label="A move may halve or double the ranks", required=False)
    expires_after = forms.IntegerField(label="A proposal expires after, s", min_value=1, max_value=86_400)
    most_per_hour = forms.IntegerField(label="Moves in an hour, at most", min_value=0, max_value=1000)
    most_per_job = forms.IntegerField(label="Moves of one job, at most", min_value=0, max_value=1000)
    job_cooldown = forms.IntegerField(label="A job rests after a move for, s", min_value=0, max_value=86_400)
    node_cooldown = forms.IntegerField(label="A node rests after a move for, s", min_value=0, max_value=86_400)
    allow = forms.CharField(
        label="Allowed hours", required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="Empty: all hours."
    )
    deny = forms.CharField(
        label="Denied hours",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One window a line, such as mon-fri 08:00-18:00. Deny wins; a move under way may end.",
    )

    @classmethod
    def initial_of(cls, policy: ReschedulingPolicy) -> dict[str, Any]:
        """What the fields hold at first."""
        return {name: getattr(policy, name) for name in cls.base_fields}
