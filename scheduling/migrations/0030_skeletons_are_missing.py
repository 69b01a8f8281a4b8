"""A skeleton's run that its backend does not know at the moment is missing, as a run is; `state_since` says since when."""

from typing import Any

import django.utils.timezone
from django.db import migrations, models

OPEN = ["planned", "prepared", "running", "missing", "stopping"]
STATES = [*OPEN, "done", "failed", "stopped", "skipped"]


def nothing(_apps: Any, _editor: Any) -> None:
    """No row is missing yet."""


def to_others(apps: Any, _editor: Any) -> None:
    """Back to what it was before it was missing: one with a cause was being stopped."""
    rows = apps.get_model("scheduling", "SkeletonRun").objects.filter(state="missing")
    rows.filter(cause="").update(state="running")
    rows.update(state="stopping")


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0029_skeletons_are_prepared")]

    operations = [
        migrations.RunPython(nothing, to_others),
        migrations.AddField(
            model_name="skeletonrun",
            name="state_since",
            field=models.DateTimeField(
                default=django.utils.timezone.now, help_text="When the portal saw it enter this state."
            ),
        ),
        migrations.AlterField(
            model_name="skeletonrun",
            name="state",
            field=models.CharField(choices=[(word, word) for word in STATES], default="planned", max_length=10),
        ),
        migrations.RemoveIndex(model_name="skeletonrun", name="skeleton_run_open"),
        migrations.AddIndex(
            model_name="skeletonrun",
            index=models.Index(condition=models.Q(("state__in", OPEN)), fields=["job"], name="skeleton_run_open"),
        ),
        migrations.AddConstraint(
            model_name="skeletonrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", STATES)), name="skeleton_run_state_known"
            ),
        ),
    ]
