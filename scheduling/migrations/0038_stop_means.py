"""How the program of an application is asked to stop with a checkpoint."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0037_kept_trace_reasons")]

    operations = [
        migrations.AddField(
            "application",
            "stop_means",
            models.JSONField(
                blank=True,
                default=dict,
                help_text="How it is asked to stop with a checkpoint, and how long it may take: by, seconds. "
                "Empty: it cannot.",
            ),
        )
    ]
