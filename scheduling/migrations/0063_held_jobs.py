"""Jobs that wait for node-hours of their project; until when jobs were held back, and that time in sums of use."""

from importlib import import_module

from django.db import migrations, models

from scheduling.projects.core.budget_state import WhenUsed

forget = import_module("scheduling.migrations.0061_packed_counts").forget


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0062_removed_logs")]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.AddField(
            "job",
            "held_until",
            models.DateTimeField(blank=True, help_text="Until when it was held back, where it was.", null=True),
        ),
        migrations.AlterField(
            "job",
            "held_back",
            models.BooleanField(
                default=False,
                help_text="It waits for other jobs or for node-hours, not for nodes: the line of its cluster goes past it.",
            ),
        ),
        migrations.AlterField(
            "budget",
            "when_used",
            models.CharField(
                choices=[("warn", "warn"), ("refuse", "refuse"), ("wait", "wait")],
                default=WhenUsed["WARN"],
                max_length=10,
            ),
        ),
        migrations.AddField(
            "perioduse",
            "held_jobs",
            models.PositiveBigIntegerField(default=0, help_text="Of these jobs those that were held back."),
        ),
        migrations.AddField(
            "perioduse", "held", models.BigIntegerField(default=0, help_text="Microseconds that they were, together.")
        ),
        migrations.AlterField(
            "perioduse",
            "waited",
            models.BigIntegerField(
                default=0,
                help_text="Microseconds until they ran, together; without the time for which they were held back.",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget),
    ]
