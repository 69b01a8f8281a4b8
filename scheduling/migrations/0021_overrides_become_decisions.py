"""Who took another candidate stood as a dictionary in the placement; from now on it is a row of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.db import migrations

_PART = 500


def to_rows(apps: Any, _editor: Any) -> None:
    """One decision for all placements of a job that have the same dictionary: it was copied with the placement."""
    Decision, Placement = apps.get_model("scheduling", "Decision"), apps.get_model("scheduling", "Placement")
    for placement in _each(Placement.objects.filter(override__isnull=False)):
        if not placement.override:  # JSON has a nothing of its own
            continue
        found = _decision(Decision, placement, placement.override)
        Placement.objects.filter(pk=placement.pk).update(decision=found)


def to_dictionaries(apps: Any, _editor: Any) -> None:
    """Back again."""
    Placement = apps.get_model("scheduling", "Placement")
    for placement in _each(Placement.objects.filter(decision__isnull=False).select_related("decision")):
        one = placement.decision
        override = {"candidate": one.candidate, "by": one.by, "reason": one.why, "at": one.at.isoformat()}
        Placement.objects.filter(pk=placement.pk).update(override=override)


def _decision(model: Any, placement: Any, override: dict[str, Any]) -> Any:
    place = int(override["candidate"])
    groups = {int(one.get("place", at)): one["nodes"] for at, one in enumerate(placement.candidates)}
    given = {"job_id": placement.job_id, "by": str(override["by"]), "at": _moment(override), "candidate": place}
    rest = {"why": str(override.get("reason", "")), "taken": groups.get(place, placement.nodes)}
    proposed = groups.get(0, placement.nodes)
    found, _ = model.objects.get_or_create(**given, defaults={**rest, "proposed": proposed})
    return found


def _moment(override: dict[str, Any]) -> datetime:
    try:
        at = datetime.fromisoformat(str(override.get("at")))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _each(rows: Any) -> Iterator[Any]:
    after = 0
    while part := list(islice(rows.filter(pk__gt=after).order_by("pk"), _PART)):
        yield from part
        after = part[-1].pk


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0020_decisions")]

    operations = [migrations.RunPython(to_rows, to_dictionaries)]
