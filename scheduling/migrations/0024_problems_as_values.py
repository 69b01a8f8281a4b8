"""Why there is no skeleton becomes a code with facts, as 0018 has it for other reasons: one UPDATE for each sentence."""

import json
import re
from typing import Any

from django.db import migrations

_FAILED = re.compile(r"Building it failed with (\w+); the portal's log says more\.")


def reason(sentence: str) -> dict[str, Any]:
    """The code and the facts of a sentence of an earlier version."""
    if found := _FAILED.fullmatch(sentence):
        return {"code": "skeleton_build_failed", "facts": {"error": found[1]}}
    return {"code": "told", "facts": {"text": sentence}}


def to_values(apps: Any, editor: Any) -> None:
    """Every sentence."""
    rows = apps.get_model("scheduling", "Skeleton").objects.exclude(problem="")
    for sentence in list(rows.order_by().values_list("problem", flat=True).distinct()):
        rows.filter(problem=sentence).update(problem=json.dumps(reason(sentence), sort_keys=True))


def to_sentences(apps: Any, editor: Any) -> None:
    """Back to what people read."""
    from gridportal.base.reasons import Reason
    from scheduling.messages import message

    rows = apps.get_model("scheduling", "Skeleton").objects.exclude(problem="")
    for kept in list(rows.order_by().values_list("problem", flat=True).distinct()):
        rows.filter(problem=kept).update(problem=message(Reason.load(kept)))


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0023_use_by_state_and_method")]

    operations = [migrations.RunPython(to_values, to_sentences)]
