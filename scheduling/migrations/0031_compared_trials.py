"""The number of trials whose saving is known gets a name that says so; the column's data stay."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0030_skeletons_are_missing")]

    operations = [migrations.RenameField("dailyuse", "known", "compared")]
