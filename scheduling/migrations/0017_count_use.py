"""Counted here what jobs had used; since then 0023 empties the sums, and beat counts every few minutes."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0016_daily_use")]
    operations: list[migrations.RunPython] = []
