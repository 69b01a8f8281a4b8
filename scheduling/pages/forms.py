"""The submit form, made from an application's parameters, and what it asks of the services."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.urls import reverse_lazy

from gridportal.accounts.models import User
from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.base.errors import GridPortalError, InputError, TextError
from gridportal.web.worded_form import WordedForm
from monitoring.clusters import selectors
from scheduling.jobs.core import label_conditions, parameters, patterns, ranks
from scheduling.jobs.core.input_files import InputFile
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.sweep import Axes
from scheduling.jobs.models import Application
from scheduling.jobs.project_models import Project
from scheduling.jobs.services.job_spec import OWN_PATTERN as OWN
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.pages import cluster_fields, rank_fields, specification_fields, sweep_fields
from scheduling.pages import form_messages as form_words
from scheduling.pages.batch_values import batch_values
from scheduling.pages.order_and_input_fields import InputFilesField, JobNumbersField, keep_field
from scheduling.pages.parameter_field import ParameterField
from scheduling.placing.services.requests import MAX_TIME_LIMIT
from scheduling.profiles.services import stored_profiles
from scheduling.skeletons.models import Skeleton
from scheduling.skeletons.services import stored_skeletons

#: The fields at the end of the form, one below the other.
LAST = ("continues", "trace")
#: The fields that are folded away until somebody needs them.
REQUIREMENTS = frozenset(
    [
        "min_bandwidth",
        "min_cpu",
        "require",
        "network",
        "flows",
        "compute_priority",
        "reference_bandwidth",
        "candidates",
        "seed",
        "classad",
        *LAST,
    ]
)
METHODS = [
    ("pattern", "pattern: best paths for pairs that talk"),
    ("balanced", "balanced: processors and network"),
    ("communication", "communication: best network of all"),
    ("compute", "compute: least loaded nodes"),
    ("random", "random: any nodes, to compare"),
]
SPECIFIED = frozenset({"specification", "pins", "exclude"})
# Where an error of the services belongs in this form.
PLACES = {
    "nodes": "node_count",
    "requirements": "require",
    "graph": "pattern_graph",
    "groups": "specification",
    "links": "specification",
}

#: What is said of labels where no node has any.
_USUAL_LABELS = "Such as site=utk, mem_gb>=16: all count."


class SubmitForm(WordedForm):
    """What to run, on how many ranks and nodes, chosen how. Fields named `param-NAME` are the application's own."""

    request_key = forms.UUIDField(widget=forms.HiddenInput)
    name = forms.CharField(label="Job name", required=False, max_length=120, help_text="Helps you find this job later.")
    method = forms.ChoiceField(label="Method", choices=METHODS)
    pattern = forms.ChoiceField(label="Communication pattern", required=False)
    pattern_graph = forms.CharField(
        label="Own pattern",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text='Node-link JSON over ranks: {"nodes": [{"id": 0}, {"id": 1}], '
        '"links": [{"source": 0, "target": 1, "weight": 8}]}',
    )
    candidates = forms.IntegerField(label="Candidate groups", min_value=1, max_value=10, initial=CANDIDATES)
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, initial=0)
    min_bandwidth = forms.FloatField(
        label="Bandwidth at least, Mbit/s", required=False, min_value=0, help_text="Of every pair that talks."
    )
    min_cpu = forms.FloatField(
        label="Free processor at least", required=False, min_value=0, max_value=1, help_text="0 to 1, of every node."
    )
    compute_priority = forms.FloatField(
        label="Compute priority",
        required=False,
        min_value=0.001,
        max_value=1000,
        help_text="Balanced method only; 2 makes processors count twice.",
    )
    reference_bandwidth = forms.FloatField(
        label="Reference capacity, Mbit/s",
        required=False,
        min_value=1e-6,
        max_value=1e9,
        help_text="What counts as 100 % of a link; empty: each link's own capacity.",
    )
    network = forms.ChoiceField(
        label="Choose by",
        required=False,
        choices=[("", "the network as it is now"), ("forecast", "the network as it is forecast")],
        help_text="Forecasts come from earlier measurements. Without a forecast the last measurement counts.",
    )
    flows = forms.BooleanField(
        label="All pairs talk at once",
        required=False,
        help_text="Pairs that share a link then get only what the others leave; balanced then counts the "
        "application's own pairs where they are known.",
    )
    require = forms.CharField(label="Node labels", required=False, max_length=400)
    classad = forms.CharField(
        label="Request in ClassAds",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(
            attrs={
                "rows": 8,
                "spellcheck": "false",
                "hx-post": reverse_lazy("match-request-check"),
                "hx-trigger": "input changed delay:500ms, load",
                "hx-target": "#classad-check",
                "hx-include": "#submit-form",
                "hx-sync": "this:queue last",
            }
        ),
        help_text='What the nodes have to match. With Type = "Set" and without ranks and nodes: as many as match.',
    )
    time_limit = forms.IntegerField(
        label="Time limit, s",
        required=False,
        min_value=1,
        max_value=MAX_TIME_LIMIT,
        help_text=f"Empty: none. At most {MAX_TIME_LIMIT:,} s (30 days).",
    )
    skeleton = forms.BooleanField(
        label="Choose by its skeleton",
        required=False,
        help_text="It runs on each candidate group for a moment, and the job starts where it was fastest.",
    )
    inputs = InputFilesField(label="Input files")
    after = JobNumbersField("after", label="Start after jobs", help_text="Once these have ended, in whatever way.")
    after_ok = JobNumbersField(
        "after_ok",
        label="Only after success of jobs",
        help_text="Once these have succeeded; if one fails or is cancelled, this job is cancelled.",
    )
    by_hand = forms.BooleanField(
        label="Wait for my choice",
        required=False,
        help_text="Once each group is tried the job keeps them and waits until you take one on its page.",
    )
    continues = forms.BooleanField(
        label="Go on by itself",
        required=False,
        help_text="Where its time limit ends a run that stopped with a checkpoint, the next one goes on from there. "
        "Off: it waits for a person.",
    )
    trace = forms.BooleanField(
        label="Record its communication", required=False, help_text="For the application's profile; costs little time."
    )

    def __init__(
        self,
        application: Application,
        data: Any = None,
        *,
        labels: str = "",
        user: str = "",
        kept: Sequence[InputFile] = (),
        **options: Any,
    ) -> None:
        """`kept`: files of the job that the form is filled from, which may come along."""
        self.axes: Axes = {}
        super().__init__(data and sweep_fields.with_first_values(application, data), **options)
        self.application = application
        self.fields["require"].help_text = labels or _USUAL_LABELS
        self.fields["pattern"].choices = self._patterns()  # type: ignore[attr-defined]  # it is a ChoiceField
        self.own = [f"param-{parameter.name}" for parameter in parameters.parse(application.parameters)]
        for parameter in parameters.parse(application.parameters):
            self.fields[f"param-{parameter.name}"] = ParameterField(parameter)
        mine = Project.objects.filter(members__username=user)
        if user and mine.exists():
            self.fields["project"] = forms.ModelChoiceField(mine, label="Project", required=False, empty_label="none")
        self.fields["cluster"] = cluster_fields.cluster_field()
        self.fields["busy_policy"] = cluster_fields.busy_field()
        self._with_options = [found for found in selectors.configured().values() if found.traits.has_options]
        for found in self._with_options:
            self.fields |= cluster_fields.option_fields(found, user)
        self.fields |= rank_fields.rank_fields(application)
        self.fields["specification"] = specification_fields.SpecificationField()
        self.fields |= specification_fields.pin_fields(self._node_names())
        self.fields |= sweep_fields.sweep_fields(application)
        self._kept = kept
        if kept:
            self.fields["keep_inputs"] = keep_field(kept)

    def _node_names(self) -> list[str]:
        """The nodes of the cluster that is chosen, for examples."""
        asked = self.data.get("cluster") or self.initial.get("cluster")
        return selectors.compute_names(asked if asked in selectors.configured() else selectors.default_cluster())

    def parameter_fields(self) -> list[forms.BoundField]:
        """The application's own fields, in their order."""
        return [self[name] for name in self.own]

    def last_fields(self) -> list[forms.BoundField]:
        """Those that the page arranges in no other way."""
        return [self[name] for name in LAST]

    def sweep_parts(self) -> list[forms.BoundField]:
        """The fields for several values: of each parameter and of the ranks."""
        return [self[name] for name in self.fields if name.startswith(sweep_fields.PREFIX)]

    @property
    def several_clusters(self) -> bool:
        """Whether there is a cluster to choose."""
        return len(selectors.configured()) > 1

    def cluster_parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """For each cluster that offers a choice its name and its fields."""
        return [
            (found.name, [self[name] for name in self.fields if name.startswith(f"{found.name}-")])
            for found in self._with_options
        ]

    def clean_cluster(self) -> str:
        """The cluster, or the default one."""
        return self.cleaned_data["cluster"] or selectors.default_cluster()

    def clean_pattern_graph(self) -> dict[str, Any] | None:
        """The graph, read only when the own pattern is chosen."""
        if self.data.get("pattern") != OWN:
            return None
        if not self.cleaned_data["pattern_graph"].strip():
            raise forms.ValidationError("Write the graph here, in the form that is shown below.")
        try:
            document = bounded_json.loads(self.cleaned_data["pattern_graph"])
            patterns.parse(document)
        except UnreadableError as error:
            raise forms.ValidationError(error.sentence) from error
        except InputError as error:
            raise forms.ValidationError(form_words.beside(error)) from error
        return dict(document)

    def clean_require(self) -> dict[str, str]:
        """`site=utk, mem_gb>=16` as a mapping."""
        conditions = []
        for part in label_conditions.listed_conditions(self.cleaned_data["require"]):
            try:
                conditions.append(label_conditions.parse(part))
            except InputError as error:
                raise forms.ValidationError(form_words.beside(error)) from error
        return label_conditions.merge(conditions)

    def clean(self) -> dict[str, Any]:
        """With the numbers of ranks and nodes as they agree with each other; what does not is said beside its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self.axes = sweep_fields.axes(self.application, self)
        if self.errors.keys().isdisjoint(SPECIFIED):
            try:
                cleaned["specification"] = specification_fields.specification(cleaned)
            except InputError as error:
                self.blame(error)
                return cleaned
        if self.errors.keys().isdisjoint({*SPECIFIED, *rank_fields.FIELDS.values()}):
            try:
                cleaned |= rank_fields.filled(rank_fields.rank_request(cleaned))
            except InputError as error:
                self.add_error(error.field, form_words.beside(error))
        try:
            cluster_fields.options(cleaned.get("cluster", ""), cleaned)
        except InputError as error:
            self.blame(error)
        return cleaned

    def to_spec(self) -> JobSpec:
        """What is asked for; call only when the form is valid. Raises InputError."""
        filled = self.cleaned_data
        options = cluster_fields.options(filled["cluster"], filled)
        skeleton = self._skeleton(filled)
        if self.axes:  # where one fits: not every job of a sweep has one
            skeleton = None if skeleton else skeleton
        return JobSpec.from_form(self.application, filled, options=options, skeleton=skeleton)

    def kept_inputs(self) -> list[InputFile]:
        """The files of the old job that come along."""
        chosen = self.cleaned_data.get("keep_inputs", [])
        return [each for each in self._kept if each.name in chosen]

    @property
    def misses_skeleton(self) -> bool:
        """Whether a choice by a skeleton is ticked and there is none for this."""
        given = self.cleaned_data
        return bool(given["skeleton"]) and self.has_skeletons and self._skeleton(given) is None

    @property
    def fits_skeleton(self) -> bool:
        """Whether a skeleton was made with these parameters on so many ranks; while either is unclear, none was."""
        try:
            given = self.cleaned_data if self.is_bound else self._first_values()
            return self._best_skeleton(given) is not None
        except (KeyError, InputError, forms.ValidationError):
            return False

    @property
    def has_skeletons(self) -> bool:
        """Whether there is a choice to be made by a skeleton."""
        return stored_skeletons.usable(self.application).exists()

    def _skeleton(self, given: Mapping[str, Any]) -> bool | None:
        """As chosen where there is such a skeleton; else nothing, for other programs or numbers of ranks have none."""
        if not self.has_skeletons:
            return None
        return None if self._best_skeleton(given) is None else bool(given["skeleton"])

    def _best_skeleton(self, given: Mapping[str, Any]) -> Skeleton | None:
        own = {name.removeprefix("param-"): given[name] for name in self.own}
        return stored_skeletons.best(self.application, own, rank_fields.rank_request(given).total)

    def _first_values(self) -> dict[str, Any]:
        """What the fields of the ranks and parameters hold before anything is typed. Raises ValidationError."""
        asked = [*rank_fields.FIELDS.values(), *self.own]
        first = {name: self.fields[name].clean(self.get_initial_for_field(self.fields[name], name)) for name in asked}
        return first | {"specification": self.initial.get("specification")}

    #: The check beside the field of the request says the same fault.
    is_repeated = False

    def blame(self, error: GridPortalError) -> None:
        """Put an error of the services beside the field that it names, else above the form."""
        field: str | None = None
        if isinstance(error, InputError):
            if error.field.startswith("specification."):
                error = InputError(error.field.removeprefix("specification."), error.value, error.accepted)
            first = error.field.partition(".")[0].partition("[")[0]
            field = PLACES.get(first, first)
            if field == "pattern" and self.data.get("pattern") == OWN:
                field = "pattern_graph"
            cluster = self.cleaned_data.get("cluster", "")
            field = next(
                (name for name in (field, f"param-{field}", f"{cluster}-{field}") if name in self.fields), None
            )
        self.is_repeated = field == "classad" and isinstance(error, TextError) and bool(error.line)
        self.add_error(field, form_words.beside(error) if field else str(error))

    def _patterns(self) -> list[tuple[str, str]]:
        default = self.application.pattern
        choices = [("", f"the application's own: {default}" if default else "none")]
        sizes = stored_profiles.choices(self.application)
        if sizes:
            choices.append(
                (stored_profiles.DISCOVERED, f"discovered: from the profile on {ranks.accepted({'choices': sizes})}")
            )
        choices += [(name, name) for name in patterns.NAMES]
        asked = str(self.data.get("pattern") or self.initial.get("pattern") or "")
        if asked.partition(":")[0] in patterns.NAMES and ":" in asked:
            choices.append((asked, asked))
        return [*choices, (OWN, "a graph of your own")]


def initial(application: Application, user: User, old: JobSpec | None = None) -> dict[str, Any]:
    """First values of a fresh form of this person's, or those of an old job."""
    method = "pattern" if application.pattern else "balanced"
    fresh: dict[str, Any] = {"request_key": uuid.uuid4(), "method": method, "skeleton": method == "pattern"}
    if old is None:
        return fresh | batch_values(application, user)
    return fresh | old.to_form() | cluster_fields.initial(old.cluster, old.options)
