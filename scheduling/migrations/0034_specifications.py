"""What an application says of its ranks: groups, who talks to whom, and where they must or must not run."""

from django.db import migrations, models

from scheduling.migrations._quick_columns import AddQuickField


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0033_explanations")]

    operations = [
        AddQuickField(
            "job",
            "specification",
            models.JSONField(blank=True, default=dict, help_text="Groups of ranks, links, pins, exclude."),
        )
    ]
