"""What somebody asks for, as JSON. Bandwidth in bit/s, times in seconds, cpu 0..1."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django.db.models import QuerySet
from rest_framework import serializers

from gridportal.accounts.caller import caller
from gridportal.base.clusters import BUSY
from gridportal.web.api_errors import SlugField, WordedSerializer
from scheduling.jobs.core import dependency
from scheduling.jobs.core.methods import METHODS
from scheduling.jobs.models import Application, Job
from scheduling.jobs.project_models import Project
from scheduling.jobs.selectors import own_projects, usable_applications, usual_project, without_logs
from scheduling.jobs.services.job_spec import COLUMNS, JobSpec
from scheduling.placing.services.requests import MAX_TIME_LIMIT

_COUNTS = ("ranks", "node_count", "ranks_per_node")


class _ShownField(serializers.DictField):
    """An object; sentences show an example of it, as JSON, to whoever sent something of another shape."""

    def __init__(self, example: str, **options: Any) -> None:
        super().__init__(**options)
        self.example = example


class RequirementsSerializer(WordedSerializer):
    """What the nodes must have; each may be left out. {"min_cpu": 0.5, "require": {"mem_gb": ">=16", "site": "utk"}}"""

    example = '{"min_cpu": 0.5, "require": {"mem_gb": ">=16", "site": "utk"}}'
    belongs_in: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mem_gb", "cpus", "site", "speed", "memory", "latency"), "require"
    )

    min_bandwidth = serializers.FloatField(required=False, allow_null=True, min_value=0, help_text="bit/s")
    min_cpu = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=1)
    compute_priority = serializers.FloatField(required=False, allow_null=True)
    reference_bandwidth = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="bit/s that count as 100 % with the method balanced; null: each link's own capacity.",
    )
    require = _ShownField(
        '{"mem_gb": ">=16", "site": "utk"}',
        child=serializers.CharField(),
        required=False,
        help_text='Labels with what they must be: {"site": "utk", "mem_gb": ">=16 & <64", "rack": "in 1|2"}',
    )
    network = serializers.ChoiceField(
        choices=["now", "forecast"], required=False, help_text="Which figures of the network nodes are chosen by."
    )

    flows = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="All pairs talk at once: what they leave each other on shared links counts (not compute, random).",
    )


class _ApplicationField(SlugField):
    """The short name of an application that the caller may submit; others are not there."""

    def get_queryset(self) -> QuerySet[Application]:
        request = self.context.get("request")
        return usable_applications(caller(request)) if request else Application.objects.none()

    def named(self) -> QuerySet[Application]:
        """Those that run now: without the ones that are switched off, or that only a log names."""
        return without_logs(self.get_queryset()).filter(enabled=True).order_by("slug")


class _ProjectField(SlugField):
    """The name of a project of the caller; others are not there."""

    def get_queryset(self) -> QuerySet[Project]:
        request = self.context.get("request")
        return own_projects(caller(request)) if request else Project.objects.none()


class SubmitSerializer(WordedSerializer, serializers.ModelSerializer[Job]):
    """A job as asked for. Who owns it and where it is in its life is not for the caller to say.

    What has no field of its own here is taken as the column of Job is.
    """

    #: Whether an old job says how many ranks and nodes there are.
    partial_counts = False
    belongs_in: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("pins", "exclude", "groups", "links"), "specification"),
        **dict.fromkeys(("require", "min_bandwidth", "min_cpu", "flows"), "requirements"),
    }

    application = _ApplicationField(slug_field="slug", queryset=Application.objects.none())
    parameters = serializers.DictField(required=False)
    ranks = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="Of the program.")
    node_count = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, help_text="Nodes; alone: one rank on each."
    )
    ranks_per_node = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="At most.")
    cpus_per_rank = serializers.IntegerField(required=False, min_value=1, help_text="Threads of each rank.")
    memory_per_rank = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="MB")
    gres_per_rank = serializers.CharField(required=False, allow_blank=True, max_length=200, help_text="Such as gpu:1")
    method = serializers.ChoiceField(
        choices=[(m, m) for m in METHODS],
        required=False,
        help_text="Without it: pattern, or balanced where nothing says who talks to whom.",
    )
    pattern = serializers.CharField(required=False, allow_blank=True, max_length=60)
    pattern_graph = serializers.DictField(required=False, allow_null=True)
    candidates = serializers.IntegerField(required=False, min_value=1)
    seed = serializers.IntegerField(required=False, min_value=0)
    requirements = RequirementsSerializer(required=False)
    specification = _ShownField(
        '{"groups": [{"name": "clients", "count": 3, "require": ["mem_gb>=16"]}], '
        '"pins": {"clients": ["n1", "n2"]}, "exclude": ["n4"]}',
        required=False,
        help_text="groups (name, count, require, most), links (source, target, weight, pattern), pins and exclude: "
        '{"groups": [{"name": "clients", "count": 3, "require": ["mem_gb>=16"]}], '
        '"pins": {"clients": ["n1", "n2"]}, "exclude": ["n4"]}',
    )
    classad = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=20_000,
        help_text="A request in ClassAds that the nodes have to match; without ranks and nodes it says how many.",
    )
    time_limit = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_TIME_LIMIT, help_text="seconds"
    )
    name = serializers.CharField(required=False, allow_blank=True, max_length=120)
    cluster = serializers.CharField(required=False, max_length=60)
    options = serializers.DictField(
        required=False,
        help_text="Of a Slurm cluster: partition, account, qos, reservation, constraint, gres, "
        "memory (bytes on each node), cpus_per_rank, exclusive",
    )
    busy_policy = serializers.ChoiceField(
        choices=list(BUSY.items()), required=False, allow_blank=True, help_text="Empty: the cluster's own."
    )
    trace = serializers.BooleanField(required=False, help_text="Record what the program calls, for its profile.")
    skeleton = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="Choose among the candidates by running its skeleton on them; null: with the method pattern, where "
        "there is one.",
    )
    by_hand = serializers.BooleanField(
        required=False, help_text="Once its groups are tried it waits until somebody takes one of them."
    )
    project = _ProjectField(
        slug_field="name",
        queryset=Project.objects.none(),
        required=False,
        allow_null=True,
        help_text="One of yours; left out: your project where you have exactly one.",
    )
    after = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=dependency.MOST,
        help_text="Numbers of jobs that have to end before this one starts.",
    )
    after_ok = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=dependency.MOST,
        help_text="Numbers of jobs that have to succeed; if one does not, this job is cancelled.",
    )
    request_key = serializers.UUIDField(
        required=False, help_text="The same key twice gives the same job; or send an Idempotency-Key header."
    )

    class Meta:
        model = Job
        fields = (*COLUMNS, "request_key")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Somebody who says neither how many ranks nor how many nodes has forgotten it."""
        says_count = any(attrs.get(name) for name in (*_COUNTS, "classad")) or attrs.get("specification", {}).get(
            "groups"
        )
        if not self.partial_counts and not says_count:
            message = cast(str, serializers.Field.default_error_messages["required"])
            raise serializers.ValidationError({"node_count": message}, code="required")
        return attrs

    def spec(self, key: uuid.UUID | None = None) -> JobSpec:
        """What is asked for, after is_valid(). Raises InputError."""
        request = self.context.get("request")
        usual = {"project": usual_project(caller(request))} if request else {}
        sent = self.validated_data
        return JobSpec.from_api({**usual, "method": _usual_method(sent), **sent}, key)


def _usual_method(sent: Mapping[str, Any]) -> str:
    """That of somebody who names none, as the form has it."""
    says_pattern = any(sent.get(name) for name in ("pattern", "pattern_graph", "specification"))
    return "pattern" if says_pattern or sent["application"].pattern else "balanced"


class ResubmitSerializer(SubmitSerializer):
    """What is to differ from the old job; nothing has to."""

    application = _ApplicationField(slug_field="slug", queryset=Application.objects.none(), required=False)
    keep_inputs = serializers.BooleanField(required=False, help_text="Whether its input files come along; else yes.")
    partial_counts = True

    class Meta(SubmitSerializer.Meta):
        fields = (*SubmitSerializer.Meta.fields, "keep_inputs")
