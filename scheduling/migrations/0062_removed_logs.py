"""Logs that are being removed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0061_packed_counts")]

    operations = [
        migrations.AddField(
            "loggedcluster",
            "removing_at",
            models.DateTimeField(
                blank=True, help_text="Since when it is being removed; empty: it stays.", null=True
            ),
        ),
    ]
