"""Sums of days and months of each person. All sums are forgotten and counted anew, as when packed counts came."""

from importlib import import_module

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

forget = import_module("scheduling.migrations.0061_packed_counts").forget


class Migration(migrations.Migration):

    dependencies = [
        ("scheduling", "0064_cluster_checks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.CreateModel(
            name="PersonUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("period", models.CharField(choices=[("day", "day"), ("month", "month")], max_length=5)),
                ("start", models.DateField(help_text="The day, or the first one of the month.")),
                ("cluster", models.SlugField(db_index=False, max_length=60)),
                ("parts", models.TextField(help_text="`scheduling.usage.core.packed_parts` writes and reads it.")),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "period", "start", "cluster"), name="use_of_person_once"
                    )
                ],
            },
        ),
    ]
