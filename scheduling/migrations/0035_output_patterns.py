"""What the lines of an application's output mean."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0034_specifications")]

    operations = [
        migrations.AddField(
            "application",
            "output_patterns",
            models.JSONField(
                blank=True,
                default=dict,
                help_text="What lines of its output mean: success, failure, seconds, figures.",
            ),
        )
    ]
