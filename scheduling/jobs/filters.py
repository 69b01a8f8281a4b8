"""Which jobs a list shows, read from the address: the page, its CSV and its live part all use this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.dates import MomentField, backwards
from gridportal.base.time_presets import PRESETS
from gridportal.web.paging import distinct
from gridportal.web.worded_form import WordedForm
from scheduling.jobs.core import job_numbers
from scheduling.jobs.core.methods import METHODS
from scheduling.jobs.core.states import ACTIVE, JobState
from scheduling.jobs.models import Application, Job
from scheduling.jobs.selectors import visible_applications, without_logs

#: The times that reports offer; a list of jobs has no year.
REPORT_PRESETS = {**PRESETS, "365d": ("last year", timedelta(days=365))}
SORTS: Mapping[str, str] = {
    "id": "id",
    "name": "name",
    "application": "application__name",
    "owner": "owner__username",
    "state": "state",
    "nodes": "node_count",
    "submitted": "created_at",
}
NEWEST_FIRST = "-id"
#: So many different names of jobs are read before a search.
MOST_NAMES = 300


#: Words that states had before, in addresses that people kept.
FORMER_STATES = {"trying": JobState.TRIAL.value}


class StateField(forms.ChoiceField):
    """A state of jobs, by the word that it had before too."""

    def to_python(self, value: Any) -> str:
        """The word of today."""
        word: str = super().to_python(value)
        return FORMER_STATES.get(word, word)

    def prepare_value(self, value: Any) -> Any:
        """The same in the form that is shown."""
        return FORMER_STATES.get(str(value), value)


class JobNumbersFilter(forms.CharField):
    """Numbers of chosen jobs, as `job_numbers` writes them."""

    accepted = f"numbers of jobs with commas between, such as 12-15,18, at most {job_numbers.MOST}"

    def clean(self, value: Any) -> list[int]:
        """The numbers; none for an empty text."""
        text = super().clean(value)
        try:
            return job_numbers.read(text) if text else []
        except ValueError as error:
            raise forms.ValidationError(f"Enter {self.accepted}.") from error


class JobFilterForm(WordedForm):
    """The filters of a job list; an unreadable one is said beside its field and narrows nothing.

    `user`: who chooses among the applications; without, only everybody's are offered.
    """

    q = forms.CharField(label="Search", required=False, max_length=100)
    state = StateField(
        label="State", required=False, error_messages={"invalid_choice": "There is no state '%(value).40s'."}
    )
    application = forms.ChoiceField(label="Application", required=False)
    owner = forms.CharField(label="Owner", required=False, max_length=150)
    method = forms.ChoiceField(
        label="Method", required=False, choices=[("", "any"), *((m, m) for m in reversed(METHODS))]
    )
    since = forms.ChoiceField(
        label="Submitted", required=False, choices=[("", "any time"), *((k, v[0]) for k, v in PRESETS.items())]
    )
    ids = JobNumbersFilter(label="Jobs", required=False, max_length=4000)
    start = MomentField(label="From", required=False)
    until = MomentField(label="To", required=False)

    def __init__(self, data: Mapping[str, str], user: User | None = None) -> None:
        super().__init__(data)
        self.fields["state"].choices = [  # type: ignore[attr-defined]  # it is a ChoiceField
            ("", "any"),
            ("active", "any not final"),
            *((state.value, state.value) for state in JobState),
        ]
        visible = visible_applications(user) if user else Application.objects.filter(owner__isnull=True)
        chosen = str(data.get("application", ""))
        names = without_logs(visible, chosen if chosen.isprintable() else "").values_list("slug", "name")
        self.fields["application"].choices = [("", "any"), *names]  # type: ignore[attr-defined]
        self.fields["q"].widget.attrs |= {
            "type": "search",
            "placeholder": "id, name, user or state",
            "data-search": "yes",
        }
        for name in ("start", "until"):
            self.fields[name].widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def clean(self) -> None:
        """From lies before To, else neither narrows."""
        if problem := backwards(self.cleaned_data.get("start"), self.cleaned_data.get("until")):
            self.add_error("start", problem)
            del self.cleaned_data["until"]

    @property
    def narrows(self) -> bool:
        """Whether any filter is on."""
        return any(self.values().values())

    def values(self) -> dict[str, object]:
        """What was understood, by name."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])}

    @property
    def reads_names(self) -> bool:
        """Whether names of jobs are looked through for a word, which costs as much for one page as for all of them.

        Words of two letters, which have no trigram, are in so many names that the next ones are soon found.
        """
        terms = str(self.values().get("q", "")).split()
        return any(len(word) > 2 for word in terms) and len(self._names) > MOST_NAMES

    def apply(self, jobs: QuerySet[Job]) -> QuerySet[Job]:
        """The jobs that pass every filter."""
        for name, value in self.values().items():
            jobs = jobs.filter(_search(str(value), self._names) if name == "q" else condition(name, value))
        return jobs

    @cached_property
    def _names(self) -> list[str]:
        return distinct(Job, "name", MOST_NAMES + 1)


def condition(name: str, value: object) -> Q:
    """What a filter other than the search asks of jobs, and of the daily sums of jobs where these have its column."""
    conditions: Mapping[str, Callable[[Any], Q]] = {
        "state": lambda state: Q(state__in=[one.value for one in ACTIVE]) if state == "active" else Q(state=state),
        "since": lambda since: Q(created_at__gte=timezone.now() - REPORT_PRESETS[since][1]),
        "application": lambda slug: Q(application__in=_keys(Application, slug=slug)),
        "owner": lambda username: Q(owner__in=_keys(User, username__iexact=username)),
        "method": lambda method: Q(method=method),
        "ids": lambda numbers: Q(pk__in=numbers),
        "start": lambda start: Q(created_at__gte=start),
        "until": lambda until: Q(created_at__lte=until),
    }
    return conditions[name](value)


def _search(text: str, names: list[str]) -> Q:
    """Id, name, user or state; every word must be found somewhere. `names`: different names of jobs, see `_named`.

    People and applications are looked up first: beside a join no index could serve the condition.
    """
    wanted = Q()
    for word in text.split():
        number = word.removeprefix("#")
        found = _named(word, names)
        found |= Q(owner__in=_keys(User, username__icontains=word))
        found |= Q(application__in=_keys(Application, name__icontains=word))
        state = FORMER_STATES.get(word.lower(), word.lower())
        if state in set(JobState):
            found |= Q(state=state)
        if number.isascii() and number.isdigit() and len(number) < 18:
            found |= Q(pk=int(number))
        wanted &= found
    return wanted


def _named(word: str, names: list[str]) -> Q:
    """Jobs with the word in their name. Where jobs share few `names`, these are looked through in place of the jobs."""
    if len(names) > MOST_NAMES:
        return Q(name__icontains=word) & ~Q(name="")  # only jobs with a name are in its index
    return Q(name__in=[name for name in names if word.upper() in name.upper()])


def _keys(model: type[User] | type[Application], **condition: object) -> list[int]:
    return list(model._default_manager.filter(**condition).order_by().values_list("pk", flat=True))


def is_ordering(wanted: str) -> bool:
    """Whether jobs can be sorted so."""
    return wanted.removeprefix("-") in SORTS


def ordering(wanted: str) -> tuple[str, list[str]]:
    """The sort that is on, and the columns to order by; an unknown word sorts newest first."""
    if not is_ordering(wanted):
        return NEWEST_FIRST, [NEWEST_FIRST]
    name = wanted.removeprefix("-")
    sign = "-" if wanted.startswith("-") else ""
    columns = [f"{sign}{SORTS[name]}"]
    return wanted, columns if name == "id" else [*columns, NEWEST_FIRST]
