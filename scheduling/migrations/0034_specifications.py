"""What an application says of its ranks: groups, who talks to whom, and where they must or must not run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0033_explanations")]

    operations = [
        migrations.AddField(
            "job",
            "specification",
            models.JSONField(blank=True, default=dict, help_text="Groups of ranks, links, pins, exclude."),
        )
    ]
