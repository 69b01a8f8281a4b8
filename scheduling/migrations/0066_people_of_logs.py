"""People who came with logs that were read are marked: pages of people hide them."""

import re
from typing import Any

from django.db import migrations


def mark(apps: Any, _editor: Any) -> None:
    """Those who never had a password and never came, with the names that the log gives."""
    users = apps.get_model("accounts", "User").objects
    for log in apps.get_model("scheduling", "LoggedCluster").objects.values_list("name", flat=True):
        rows = users.filter(username__startswith=f"{log}-u", is_active=False, last_login=None, password__startswith="!")
        names = rows.values_list("pk", "username")
        numbers = [pk for pk, name in names if re.fullmatch(rf"{re.escape(log)}-u(\d+|nknown)", name)]
        for begin in range(0, len(numbers), 500):
            users.filter(pk__in=numbers[begin : begin + 500]).update(from_log=log)


class Migration(migrations.Migration):

    dependencies = [("accounts", "0007_people_of_logs"), ("scheduling", "0065_use_of_people")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
