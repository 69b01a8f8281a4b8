"""Counts of waiting and slowdown as text that a database joins. All sums are forgotten and counted anew: the columns are
made new, so it takes no time however many rows there are."""

from typing import Any

from django.db import migrations, models


def forget(apps: Any, _editor: Any) -> None:
    """As before the first job was counted. The mark comes first: who counts at this moment ends before."""
    marks = apps.get_model("scheduling", "UseMark").objects
    marks.update(through=0, version=models.F("version") + 1)
    for name in ("DailyUse", "UncountedJob", "PeriodUse"):
        apps.get_model("scheduling", name).objects.all()._raw_delete("default")


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0060_shared_jobs_and_inputs")]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveField("perioduse", "waits"),
        migrations.RemoveField("perioduse", "slowdowns"),
        migrations.AddField(
            "perioduse",
            "waits",
            models.TextField(
                blank=True, default="", help_text="How many waited how long, by bucket: `packed_counts`."
            ),
        ),
        migrations.AddField("perioduse", "slowdowns", models.TextField(blank=True, default="")),
        migrations.RunPython(migrations.RunPython.noop, forget),  # on the way back it comes first
    ]
