"""One skeleton of a profile at a time: of two workers that come together one builds, and one row stays."""

from __future__ import annotations

import json
from pathlib import Path

from tests.scheduling.portal import Portal
from tests.scheduling.skeletons.core.skeleton import programs

_PROFILE = """
from scheduling.profiles.core import profile, trace
from scheduling.profiles.services import stored_profiles
found = trace.parse(json.loads({document!r}))
application = Application.objects.get(slug="nas-ep")
stored_profiles.keep(application, {{}}, profile.of_trace(found), traced=found)
"""
_SHARED = """
import time
from pathlib import Path
from scheduling.skeletons.services import stored_skeletons
stored_skeletons.skeleton_runs.rate = lambda: 1e5
def wait_for(name):
    deadline = time.monotonic() + 60
    while not Path({folder!r}, name).exists():
        assert time.monotonic() < deadline, name
        time.sleep(0.02)
"""
#: Builds, and is not done before the other has tried as well.
_FIRST = """
real = stored_skeletons.build_skeleton
def slowly(*args, **options):
    Path({folder!r}, "building").touch()
    wait_for("tried")
    return real(*args, **options)
stored_skeletons.build_skeleton = slowly
print(stored_skeletons.build_due())
"""
_SECOND = """
from gridportal.base.errors import InputError
from scheduling.profiles.models import Profile
wait_for("building")
built = stored_skeletons.build_due()
try:
    stored_skeletons.build(Profile.objects.get())
except InputError as error:
    refused = str(error)
Path({folder!r}, "tried").touch()
print(json.dumps([built, refused]))
"""


def test_of_two_workers_one_builds(tmp_path: Path) -> None:
    portal = Portal(tmp_path / "home", tmp_path / "grid")
    portal.run(_PROFILE.format(document=json.dumps(programs.trace(programs.ring(4, 100)))))
    workers = [(_SHARED + code).format(folder=str(tmp_path)) for code in (_FIRST, _SECOND)]
    first, (second, refused) = portal.run_at_once(*workers)
    assert (first, second) == (1, 0)
    assert "of which no skeleton is being built at this moment" in refused
    again = portal.run("""
        from scheduling.skeletons.models import Skeleton
        from scheduling.skeletons.services import stored_skeletons
        print(json.dumps([stored_skeletons.build_due(), Skeleton.objects.count()]))
    """)
    assert again == [0, 1]
