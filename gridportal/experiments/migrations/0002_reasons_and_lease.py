"""Why an experiment ended becomes a code with facts, and who runs it a lease.

The words below are those of earlier versions.
"""

import json
from typing import Any

from django.db import migrations, models
from django.db.models import Q

_STATES = ["queued", "running", "stopping", "stopped", "done", "failed"]
_CUT_SHORT = "It was ended in the middle of a trial."
_NOT_STARTED = "It could not be started: "
_SILENT = "Its process ended without a word."


def reason(state: str, sentence: str) -> dict[str, Any]:
    """The code and the facts of what was written of an experiment in `state`."""
    if sentence == _CUT_SHORT:
        return {"code": "experiment_cut_short", "facts": {}}
    if state != "failed":
        return {"code": "told", "facts": {"text": sentence}}
    if sentence.startswith(_NOT_STARTED):
        return {"code": "experiment_not_started", "facts": {"error": sentence.removeprefix(_NOT_STARTED)}}
    error = "" if sentence == _SILENT else sentence
    return {"code": "experiment_failed", "facts": {"exit_code": None, "error": error}}


def to_values(apps: Any, editor: Any) -> None:
    """Every sentence."""
    for pk, state, text in _written(apps):
        _write(apps, pk, json.dumps(reason(state, text), sort_keys=True))


def to_sentences(apps: Any, editor: Any) -> None:
    """Back to what people read."""
    from gridportal.base.reasons import Reason
    from scheduling.messages import message

    for pk, _, text in _written(apps):
        _write(apps, pk, message(Reason.load(text)))


def _written(apps: Any) -> list[tuple[int, str, str]]:
    rows = apps.get_model("experiments", "Experiment").objects.exclude(reason="")
    return list(rows.values_list("pk", "state", "reason"))


def _write(apps: Any, pk: int, text: str) -> None:
    apps.get_model("experiments", "Experiment").objects.filter(pk=pk).update(reason=text)


class Migration(migrations.Migration):
    dependencies = [("experiments", "0001_initial")]

    operations = [
        migrations.RenameField("experiment", "heartbeat", "running_until"),
        migrations.RenameField("experiment", "host", "running_holder"),
        migrations.AlterField(
            model_name="experiment",
            name="running_until",
            field=models.DateTimeField(blank=True, help_text="Lease of the machine that runs it.", null=True),
        ),
        migrations.AlterField(
            model_name="experiment",
            name="reason",
            field=models.TextField(blank=True, help_text="Why it ended: code and facts."),
        ),
        migrations.AddConstraint(
            model_name="experiment",
            constraint=models.CheckConstraint(condition=Q(state__in=_STATES), name="experiment_state_known"),
        ),
        migrations.RunPython(to_values, to_sentences),
    ]
