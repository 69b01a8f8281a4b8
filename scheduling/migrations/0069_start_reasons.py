"""Runs say how their ranks were started, where that was odd."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0068_placements_tried")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="start_reason",
            field=models.TextField(blank=True, help_text="What is odd about how its ranks were started."),
        ),
    ]
