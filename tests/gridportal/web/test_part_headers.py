"""The headers of a form's parts are looked at whatever the pieces are in which it arrives."""

from __future__ import annotations

import io

import pytest

from gridportal.web.part_headers import PartError, PartHeaders

GOOD = (
    b'--sep\r\nContent-Disposition: form-data; name="a"\r\n\r\n--se not the end\r\n\r\n'
    b'\r\n--sep\r\nContent-Disposition: form-data; name="b"; filename="\xc3\xa9.txt"\r\n\r\nContent-Disposition'
    b'\r\n--sep\r\nContent-Disposition: form-data; name="c"; filename=""\r\n\r\n'
    b"\r\n--sep--\r\nwhat follows is not looked at"
)


def read_in(body: bytes, size: int) -> bytes:
    stream, parts = PartHeaders(io.BytesIO(body), b"sep"), []
    while part := stream.read(size):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_what_can_be_read_goes_through_as_it_is(size: int) -> None:
    assert read_in(GOOD, size) == GOOD


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\xc3\xa9.txt", b"\xe9.txt"),
        (b'filename=""\r\n\r\n', b'filename=""\r\n\r\nx'),
        (b'name="a"', b'name=""'),
        (b'Content-Disposition: form-data; name="b"', b"X-Other: 1"),
    ],
)
def test_what_would_be_lost_is_refused(size: int, old: bytes, new: bytes) -> None:
    with pytest.raises(PartError):
        read_in(GOOD.replace(old, new), size)
