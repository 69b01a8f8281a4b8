"""What an operator says to start an experiment."""

from __future__ import annotations

from django import forms

from gridportal.experiments import registry
from gridportal.experiments.plan import MAX_SEED_ON_PAGES
from gridportal.web.worded_form import WordedForm


def _choices() -> list[tuple[str, str]]:
    return [(name, name) for name in registry.names()]


class ExperimentForm(WordedForm):
    """Which experiment, with which seed, and how much of it."""

    name = forms.ChoiceField(label="Experiment", choices=_choices)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=MAX_SEED_ON_PAGES,
        initial=1,
        help_text="The same seed gives the same traffic.",
    )
    full = forms.BooleanField(label="A full run: a night in place of some minutes", required=False)
    foreign = forms.BooleanField(
        label="Skeletons only: programs in C and Fortran that are not the project’s own", required=False
    )
