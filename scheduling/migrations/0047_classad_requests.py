"""Jobs whose nodes have to match a request in ClassAds, which may say how many ranks there are."""

from django.db import migrations, models

from scheduling.migrations._quick_columns import AddQuickField


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0046_notices")]

    operations = [
        AddQuickField(
            "job",
            "classad",
            models.TextField(blank=True, default="", help_text="A request in ClassAds that its nodes have to match; empty: none."),
        ),
        AddQuickField(
            "job",
            "ranks_open",
            models.BooleanField(
                default=False, help_text="The match says how many ranks; until it has, `ranks` is the least number."
            ),
        ),
    ]
