"""Files keep the names that they have where they come from; a name with a folder is refused."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Job

pytestmark = pytest.mark.django_db


def submit(client, slug, file_name):
    """A job with one input file, as a browser sends it."""
    edge = "edge"
    parts = (
        f'--{edge}\r\nContent-Disposition: form-data; name="job"\r\n\r\n{{"application": "{slug}", "ranks": 2}}\r\n'
        f'--{edge}\r\nContent-Disposition: form-data; name="inputs"; filename="{file_name}"\r\n'
        f"Content-Type: text/plain\r\n\r\nx\r\n--{edge}--\r\n"
    )
    return client.post("/api/jobs", parts.encode(), content_type=f"multipart/form-data; boundary={edge}")


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("mesh%22a%22.dat", 'mesh"a".dat'),
        ("50%25 &lt;of&gt; it.dat", "50%25 &lt;of&gt; it.dat"),
        ("it's.dat", "it's.dat"),
        ("größe.dat", "größe.dat"),
    ],
)
def test_a_legal_name_stays_as_it_is(client_as, application, sent, name):
    answer = submit(client_as("user"), application.slug, sent)
    assert answer.status_code == 201, answer.content
    assert [each["name"] for each in Job.objects.get().inputs] == [name]


@pytest.mark.parametrize(
    "sent",
    [" ", "  ", "\u3164", "\u2800", "\u200b", "a\u202eb", "../x", "a/b", "/etc/passwd", "C:\\\\\\\\x", "..", "a%0Ab"],
)
def test_a_name_with_a_folder_is_refused(client_as, application, sent):
    answer = submit(client_as("user"), application.slug, sent)
    assert answer.status_code == 400
    assert "cannot be called" in answer.json()["detail"]
    assert "accepted is a name, without a folder." in answer.json()["detail"]
    assert not Job.objects.exists()
