"""The field into which a script is pasted: it stays a text area, and is drawn in the colours of its language."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Application
from tests.browser.conftest import page_faults
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHELL = '#!/bin/bash\n#SBATCH -n 2\n# it isn\'t much\nfor n in $NODES; do\n  srun ./solve --in "a b" 3\ndone\n'
PYTHON = 'from mpi4py import MPI\n\n@cached\ndef size(n=1.5e3):\n    """Not\n    <b>much</b>."""\n    return n  # all'


def _parts(page, kind):
    return page.locator(f".script-drawn .token-{kind}").all_text_contents()


def test_a_script_is_shown_in_the_colours_of_its_language(live_server, portal, network):
    portal.sign_in("user")
    page = portal.page
    portal.go("/applications/own/new")
    field = page.get_by_label("Or paste a script")
    field.fill(SHELL)
    page.get_by_text("Shell script, 7 lines.").wait_for()
    assert page.locator(".script-drawn").text_content() == SHELL + "\n"
    assert _parts(page, "directive") == ["#!/bin/bash", "#SBATCH -n 2"]
    assert _parts(page, "comment") == ["# it isn't much"]
    assert _parts(page, "variable") == ["$NODES"]
    assert _parts(page, "string") == ['"a b"']
    assert page.locator(".script-lines").text_content().split() == list("1234567")
    assert page_faults(portal) == []
    _keep(page, "/own-program-shell/")
    field.fill(PYTHON)
    page.get_by_text("Python, 7 lines.").wait_for()
    assert _parts(page, "string") == ['"""Not\n    <b>much</b>."""']
    assert _parts(page, "word") == ["from", "import", "def", "return"]
    page.get_by_label("Started as").select_option("batch")
    page.get_by_text("Shell script, 7 lines.").wait_for()
    assert (portal.errors, portal.foreign) == ([], [])


def test_the_keyboard_writes_a_script_leaves_the_field_and_sends_it(live_server, portal, network):
    portal.sign_in("user")
    page = portal.page
    portal.go("/applications/own/new")
    page.get_by_label("Name", exact=True).fill("Typed")
    field = page.get_by_label("Or paste a script")
    field.focus()
    page.keyboard.type("#!/bin/bash\nif true; then\n  srun hostname\nfi")
    assert field.input_value() == "#!/bin/bash\nif true; then\n  srun hostname\n  fi"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "id_path"
    page.get_by_label("Started as").select_option("batch")
    page.get_by_role("button", name="Keep and go on to submit").click()
    page.wait_for_url("**/submit/**")
    assert "  srun hostname" in Application.objects.get(name="Typed").program.text
