"""A skeleton's run that is being handed over has a state of its own: it was running without a backend's name for it."""

from typing import Any

from django.db import migrations, models

OPEN = ["planned", "prepared", "running", "stopping"]


def to_prepared(apps: Any, _editor: Any) -> None:
    """Those that no backend is known to have."""
    rows = apps.get_model("scheduling", "SkeletonRun").objects
    rows.filter(state="running", backend_id="").update(state="prepared")


def to_running(apps: Any, _editor: Any) -> None:
    """Back again."""
    apps.get_model("scheduling", "SkeletonRun").objects.filter(state="prepared").update(state="running")


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0028_one_open_run_per_job")]

    operations = [
        migrations.RunPython(to_prepared, to_running),
        migrations.AlterField(
            model_name="skeletonrun",
            name="state",
            field=models.CharField(
                choices=[
                    (word, word)
                    for word in (*OPEN, "done", "failed", "stopped", "skipped")
                ],
                default="planned",
                max_length=10,
            ),
        ),
        migrations.RemoveIndex(model_name="skeletonrun", name="skeleton_run_open"),
        migrations.AddIndex(
            model_name="skeletonrun",
            index=models.Index(condition=models.Q(("state__in", OPEN)), fields=["job"], name="skeleton_run_open"),
        ),
    ]
