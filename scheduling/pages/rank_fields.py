"""The form's fields for how many ranks run on how many nodes, and what each rank needs; in the words of sbatch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from gridportal.base.errors import InputError
from monitoring.clusters import selectors
from scheduling.jobs.core import ranks
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.rank_request import MOST, RankRequest
from scheduling.jobs.models import Application
from scheduling.pages.size_field import SIZES, SizeField

USUAL_RANKS = 4
#: Fields of the form, by the names that a RankRequest has for them.
FIELDS = {
    "ranks": "ranks",
    "nodes": "node_count",
    "ranks_per_node": "ranks_per_node",
    "cpus_per_rank": "cpus_per_rank",
    "memory_per_rank": "memory_per_rank",
    "gres_per_rank": "gres_per_rank",
}


def rank_fields(application: Application) -> dict[str, forms.Field]:
    """The fields by name; numbers go as far as the program and the largest cluster allow, where clusters are known."""
    sizes = {name: size for name in selectors.configured() if (size := len(selectors.compute_names(name)))}
    return {
        "ranks": _ranks(application, sizes),
        "node_count": _count("Nodes", max(sizes.values(), default=MOST), _about_nodes(sizes)),
        "ranks_per_node": _count("Ranks per node, at most", MOST, "Empty: as many as a node has room for."),
        "cpus_per_rank": _count("Threads of each rank", MOST, "Processors that each rank needs; empty: 1."),
        "memory_per_rank": SizeField("Memory of each rank", 2**30, f"{SIZES} Empty: not limited."),
        "gres_per_rank": forms.CharField(
            label="GRES of each rank", required=False, max_length=200, help_text="Such as gpu:1."
        ),
    }


def rank_request(cleaned: Mapping[str, Any]) -> RankRequest:
    """What was filled in. Raises InputError whose field is one of the form."""
    given: dict[str, Any] = {name: cleaned.get(field) for name, field in FIELDS.items()}
    specification: ApplicationSpecification | None = cleaned.get("specification")
    if of_groups := specification.ranks if specification else None:
        if given["ranks"] not in (None, of_groups):
            raise InputError("ranks", given["ranks"], f"{of_groups}, as many as the groups have together, or nothing")
        given["ranks"] = of_groups
    if not (given["ranks"] or given["nodes"] or given["ranks_per_node"] or (cleaned.get("classad") or "").strip()):
        raise InputError("node_count", None, "how many nodes, or choose a number of ranks")
    given |= {"cpus_per_rank": given["cpus_per_rank"] or 1, "gres_per_rank": (given["gres_per_rank"] or "").strip()}
    try:
        return RankRequest(**given)
    except InputError as error:
        raise InputError(FIELDS[error.field], error.value, error.accepted) from error


def filled(asked: RankRequest) -> dict[str, Any]:
    """The values of the fields, by their names in the form."""
    return {field: getattr(asked, name) for name, field in FIELDS.items()}


def _ranks(application: Application, sizes: Mapping[str, int]) -> forms.Field:
    limits = application.rank_limits
    most = max(sizes.values(), default=MOST)
    first = ranks.nearest(limits, USUAL_RANKS, most)
    help_text = "Processes of the program."
    if limits.get("choices"):
        return forms.TypedChoiceField(
            label="Ranks",
            required=False,
            coerce=int,
            empty_value=None,
            choices=[("", "from the nodes"), *((number, str(number)) for number in limits["choices"])],
            initial=first,
            help_text=help_text,
            error_messages={"invalid_choice": f"Enter {ranks.accepted(limits)}."},
        )
    low, high = limits.get("min") or 1, limits.get("max") or MOST
    return _count("Ranks", high, f"From {low} to {high}. {help_text}", low=low, initial=first)


def _about_nodes(sizes: Mapping[str, int]) -> str:
    have = "; ".join(f"{name} has {size}" for name, size in sizes.items())
    return f"Empty: as many as the ranks need{f'; {have}' if have else ''}."


def _count(label: str, high: int, help_text: str, *, low: int = 1, initial: int | None = None) -> forms.IntegerField:
    field = forms.IntegerField(
        label=label, required=False, min_value=low, max_value=high, initial=initial, help_text=help_text
    )
    for validator in field.validators:
        validator.message = f"Enter a whole number from {low} to {high}."  # type: ignore[attr-defined]
    return field
