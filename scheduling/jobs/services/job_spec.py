"""What somebody asks for: one frozen value for the form, the REST API, the rows and a second submission.

A new thing to ask for is a field here, a column of Job with the same name, and a field of the form that draws it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from uuid import UUID

from gridportal.base.errors import InputError
from monitoring.clusters import selectors
from scheduling.jobs.core import label_conditions, ranks, specification_text
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.input_files import InputFile, read_all
from scheduling.jobs.core.methods import CANDIDATES, CONCURRENT
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Application, Job
from scheduling.jobs.project_models import Project

#: The choice of the form that opens its field for a graph.
OWN_PATTERN = "own"
_PER_MBIT = 1e6


@dataclass(frozen=True)
class JobSpec:
    """A job as asked for.

    node_count to gres_per_rank: what `rank_request` has, by the names of the columns. time_limit: seconds or None.
    busy_policy: wait, again, next, or empty for the cluster's own. trace: record what the program calls. skeleton:
    choose among the candidates by running its skeleton on them; None for the usual way, which is to do so with the
    method pattern where there is one. pattern: a name, or "discovered" for that of the application's profile.
    pattern_graph: a node-link document. specification: groups of ranks, which say how many there are where nothing else
    does, who talks to whom, and where ranks must or must not run.
    classad: a request in ClassAds that the nodes have to match; without a number of ranks and nodes the match says it.
    continues: goes on by itself where its time limit ended a run that stopped with a checkpoint.
    by_hand: a person takes one of the tried groups; the skeleton only says what each promises.
    project: one of the owner's, or None.
    inputs: files that come with it; a caller of the API sends them beside the rest.
    after, after_ok: numbers of jobs that have to end, or to succeed, before its nodes are chosen.
    request_key: the same one twice gives the same job.
    """

    application: Application
    parameters: Mapping[str, object] = field(default_factory=dict)
    node_count: int | None = None
    ranks: int | None = None
    ranks_per_node: int | None = None
    cpus_per_rank: int = 1
    memory_per_rank: int | None = None
    gres_per_rank: str = ""
    method: str = "pattern"
    pattern: str = ""
    pattern_graph: Mapping[str, object] | None = None
    candidates: int = CANDIDATES
    seed: int = 0
    requirements: Requirements = field(default_factory=Requirements)
    specification: ApplicationSpecification = field(default_factory=ApplicationSpecification)
    classad: str = ""
    time_limit: int | None = None
    name: str = ""
    cluster: str = field(default_factory=selectors.default_cluster)
    options: ClusterOptions = field(default_factory=ClusterOptions)
    busy_policy: str = ""
    trace: bool = False
    skeleton: bool | None = None
    continues: bool = False
    by_hand: bool = False
    project: Project | None = None
    after: tuple[int, ...] = ()
    after_ok: tuple[int, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    request_key: UUID | None = None

    @classmethod
    def from_row(cls, job: Job) -> JobSpec:
        """What was asked for when the job was submitted, without its request key: a second one is another job."""
        asked = job.rank_request.without_what_follows()
        counts = {} if job.ranks_open else {"ranks": asked.ranks, "node_count": asked.nodes}
        values = {name: getattr(job, name) for name in COLUMNS} | {"ranks": None, "node_count": None} | counts
        values |= {"cpus_per_rank": asked.cpus_per_rank, "options": without_cpus(job.options)}
        values |= {"after": tuple(job.after), "after_ok": tuple(job.after_ok), "inputs": read_all(job.inputs)}
        return cls(**values)

    @classmethod
    def from_api(cls, sent: Mapping[str, Any], key: UUID | None = None) -> JobSpec:
        """From the checked body of a request; `key` is that of its header. Raises InputError."""
        return cls(**{"request_key": key, **_read(sent)})

    @classmethod
    def from_form(
        cls, application: Application, filled: Mapping[str, Any], *, options: ClusterOptions, skeleton: bool | None
    ) -> JobSpec:
        """From the cleaned values of the submit form, whose rates are in Mbit/s. Raises InputError."""
        is_graph = filled["pattern"] == OWN_PATTERN
        return cls(
            **{name: filled[name] for name in _AS_FILLED},
            application=application,
            parameters={name.removeprefix("param-"): filled[name] for name in filled if name.startswith("param-")},
            name=filled["name"].strip(),
            pattern="" if is_graph else filled["pattern"],
            pattern_graph=filled["pattern_graph"] if is_graph else None,
            requirements=Requirements.read(_filled_requirements(filled)),
            options=options,
            skeleton=skeleton,
            project=filled.get("project"),
        )

    def with_changes(self, sent: Mapping[str, Any], key: UUID | None = None) -> JobSpec:
        """The same again but for what the body of a request names. Raises InputError."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        forgotten: dict[str, None] = {"pattern_graph": None} if "pattern" in sent else {}
        if "specification" in sent and self.specification.groups:
            forgotten["ranks"] = None
        return JobSpec(**{**own, "request_key": key, **forgotten, **_read(sent)})

    @property
    def ranks_open(self) -> bool:
        """Whether the match says how many ranks and nodes there are."""
        says_count = self.ranks or self.node_count or self.specification.ranks
        return bool(self.classad.strip()) and not says_count

    @property
    def rank_request(self) -> RankRequest:
        """How many ranks it asks for, on how many nodes, and what each of them needs; the least where the match says
        it. Raises InputError."""
        of_groups = self.specification.ranks
        if self.ranks_open and not self.ranks_per_node:
            of_groups = ranks.nearest(self.application.rank_limits, 1)
        if of_groups and self.ranks not in (None, of_groups):
            raise InputError("ranks", self.ranks, f"{of_groups}, as many as the groups have together, or nothing")
        try:
            return RankRequest.of(replace(self, ranks=of_groups or self.ranks), self.node_count)
        except InputError as error:
            field = "node_count" if error.field == "nodes" else error.field
            raise InputError(field, error.value, error.accepted) from error

    def columns(self) -> dict[str, Any]:
        """The columns of its row, by name. Raises InputError for counts that do not agree."""
        asked = self.rank_request
        own = {"ranks_open": self.ranks_open, "inputs": [each.document() for each in self.inputs]}
        counts = {"ranks": asked.total, "node_count": asked.least_nodes(), "nodes_open": asked.nodes_asked is None}
        return {name: getattr(self, name) for name in COLUMNS} | counts | own

    def to_form(self) -> dict[str, object]:
        """First values of the submit form, without those of the cluster's options."""
        asked = self.requirements
        rate, reference = asked.min_bandwidth, asked.reference_bandwidth
        by_method = self.method == "pattern"
        shown = {name: getattr(self, name) for name in ("name", *_AS_FILLED) if name not in ("request_key", "trace")}
        return shown | {
            "project": self.project.pk if self.project else None,
            "pattern": self._shown_pattern(),
            "pattern_graph": json.dumps(self.pattern_graph, indent=1) if self.pattern_graph else "",
            "min_bandwidth": rate / _PER_MBIT if rate else None,
            "min_cpu": asked.min_cpu,
            "compute_priority": asked.compute_priority,
            "reference_bandwidth": reference / _PER_MBIT if reference else None,
            "pins": specification_text.pins(self.specification),
            "exclude": " ".join(self.specification.exclude),
            "network": "forecast" if asked.network == "forecast" else "",
            "flows": bool(asked.flows),
            "require": ", ".join(part for pair in asked.require.items() for part in label_conditions.each(*pair)),
            "skeleton": by_method if self.skeleton is None else self.skeleton,
            **{f"param-{name}": value for name, value in self.parameters.items()},
        }

    def _shown_pattern(self) -> str:
        if self.pattern_graph:
            return OWN_PATTERN
        return "" if self.pattern == self.application.pattern else self.pattern


#: What a row keeps of it, in columns of the same names; of its inputs the documents.
COLUMNS = tuple(each.name for each in fields(JobSpec) if each.name not in ("request_key", "inputs"))
#: What the form fills in under the same name and in the same words.
_AS_FILLED = tuple(
    each.name
    for each in fields(JobSpec)
    if each.name
    not in (
        "application",
        "parameters",
        "name",
        "pattern",
        "pattern_graph",
        "requirements",
        "options",
        "skeleton",
        "project",
        "inputs",
    )
)


def without_cpus(options: ClusterOptions) -> ClusterOptions:
    """The options without the processors of a rank, which a JobSpec has itself."""
    return replace(options, cpus_per_rank=None) if options.cpus_per_rank else options


def _read(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Checked values by name. cpus_per_rank among the options says the same as beside them."""
    readers: Mapping[str, Callable[[Any], Any]] = {
        "requirements": Requirements.read,
        "options": ClusterOptions.read,
        "specification": ApplicationSpecification.read,
        "after": tuple,
        "after_ok": tuple,
    }
    read = {**sent, **{name: read(sent[name]) for name, read in readers.items() if name in sent}}
    options: ClusterOptions | None = read.get("options")
    if options and options.cpus_per_rank and "cpus_per_rank" not in sent:
        return read | {"cpus_per_rank": options.cpus_per_rank, "options": without_cpus(options)}
    return read


def _filled_requirements(filled: Mapping[str, Any]) -> dict[str, object]:
    rate, reference, by_balance = filled["min_bandwidth"], filled["reference_bandwidth"], filled["method"] == "balanced"
    return {
        "min_bandwidth": None if rate is None else rate * _PER_MBIT,
        "min_cpu": filled["min_cpu"],
        # where the method has no use for these they are hidden
        "compute_priority": filled["compute_priority"] if by_balance else None,
        "reference_bandwidth": reference * _PER_MBIT if by_balance and reference else None,
        "flows": True if filled["flows"] and filled["method"] in CONCURRENT else None,
        "network": filled["network"] or None,
        "require": filled["require"],
    }
