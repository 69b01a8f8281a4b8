"""Many jobs at once, as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gridportal.web.api_errors import WordedSerializer
from scheduling.jobs.core import job_numbers
from scheduling.pages.chosen_jobs import Deed

#: cancelled, stopping (its program is being stopped), over, forbidden; submitted; refused, unknown: see `detail`.
OUTCOMES = ("cancelled", "stopping", "over", "forbidden", "submitted", "refused", "unknown")


class ManySerializer(WordedSerializer):
    """What is to be done with which jobs."""

    do = serializers.ChoiceField(choices=[(each.value, each.value) for each in Deed])
    jobs = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=10**17),
        allow_empty=False,
        max_length=job_numbers.MOST,
        help_text="Their numbers.",
    )
    request_key = serializers.UUIDField(required=False, help_text="The same key twice resubmits once.")


class ManyOutcomeSerializer(serializers.Serializer[Any]):
    """What became of one of them."""

    job = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=[(word, word) for word in OUTCOMES])
    detail = serializers.CharField(allow_blank=True, help_text="Why not, in words.")
    new_job = serializers.IntegerField(allow_null=True, help_text="The job that was made of it.")
