"""Placements with a trial are found by their time."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0067_expected_moves")]

    operations = [
        migrations.AddIndex(
            model_name="placement",
            index=models.Index(
                condition=models.Q(("trial__isnull", False)), fields=["created_at"], name="placement_tried_at"
            ),
        ),
    ]
