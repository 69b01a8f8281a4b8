"""Notices that a performance model of a program fails."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0073_moves_of_one_job")]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="application",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="scheduling.application",
            ),
        ),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("started", "started"),
                    ("ended", "ended"),
                    ("failed", "failed"),
                    ("waits", "waits"),
                    ("proposed", "proposed"),
                    ("alert", "alert"),
                    ("budget", "budget"),
                    ("model", "model"),
                    ("report", "report"),
                    ("test", "test"),
                ],
                max_length=10,
            ),
        ),
    ]
