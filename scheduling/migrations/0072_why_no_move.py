"""Decisions keep what other nodes lacked; that nobody can predict how long a job takes there is a verdict of its own."""

from typing import Any

from django.db import migrations, models


def tell_apart(apps: Any, editor: Any) -> None:
    """Where there were nodes, only nobody could predict."""
    decisions = apps.get_model("scheduling", "MoveDecision").objects
    decisions.filter(verdict="no_nodes").exclude(nodes=[]).update(verdict="no_prediction")


def as_before(apps: Any, editor: Any) -> None:
    """Both under one name."""
    apps.get_model("scheduling", "MoveDecision").objects.filter(verdict="no_prediction").update(verdict="no_nodes")


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0071_cancelled_early")]

    operations = [
        migrations.AddField(
            model_name="movedecision",
            name="lacking",
            field=models.JSONField(blank=True, default=dict, help_text="What other nodes lack, where none can take the job."),
        ),
        migrations.AlterField(
            model_name="movedecision",
            name="verdict",
            field=models.CharField(choices=[("move", "move"), ("no_nodes", "no_nodes"), ("no_prediction", "no_prediction"), ("no_forecast", "no_forecast"), ("too_late", "too_late"), ("too_little_gain", "too_little_gain"), ("not_stoppable", "not_stoppable"), ("opted_out", "opted_out"), ("denied_hours", "denied_hours"), ("not_allowed_hours", "not_allowed_hours"), ("job_cools_down", "job_cools_down"), ("node_cools_down", "node_cools_down"), ("too_many_moves", "too_many_moves")], max_length=20),
        ),
        migrations.RunPython(tell_apart, as_before),
    ]
