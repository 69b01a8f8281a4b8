"""Sums of days and months by person, project, node and so on. All sums are forgotten, as in 0023, and counted anew."""

from importlib import import_module

from django.db import migrations, models

forget = import_module("scheduling.migrations.0023_use_by_state_and_method").forget


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0056_nodes_of_runs")]

    operations = [
        migrations.CreateModel(
            name="PeriodUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("period", models.CharField(choices=[("day", "day"), ("month", "month")], max_length=5)),
                ("start", models.DateField(help_text="The day, or the first one of the month.")),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("whole", "whole"),
                            ("person", "person"),
                            ("project", "project"),
                            ("application", "application"),
                            ("site", "site"),
                            ("node", "node"),
                            ("size", "size"),
                            ("failure", "failure"),
                        ],
                        max_length=12,
                    ),
                ),
                ("cluster", models.SlugField(db_index=False, max_length=60)),
                ("name", models.CharField(blank=True, max_length=255)),
                ("jobs", models.PositiveBigIntegerField(default=0, help_text="That ended in this time.")),
                ("failed", models.PositiveBigIntegerField(default=0)),
                ("node_time", models.BigIntegerField(default=0, help_text="Node microseconds.")),
                ("cpu_time", models.BigIntegerField(default=0, help_text="Processor microseconds.")),
                ("started", models.PositiveBigIntegerField(default=0, help_text="Of these jobs those that ran.")),
                ("waited", models.BigIntegerField(default=0, help_text="Microseconds until they ran, together.")),
                ("newest", models.BigIntegerField(default=0, help_text="The number of the newest job.")),
                (
                    "waits",
                    models.JSONField(blank=True, default=dict, help_text="How many waited how long, by bucket."),
                ),
                ("slowdowns", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("period", "part", "start", "cluster", "name"), name="use_of_period_once"
                    )
                ]
            },
        ),
        migrations.AddIndex(model_name="job", index=models.Index(fields=["-ended_at"], name="job_ended")),
        migrations.RunPython(forget, forget),
    ]
