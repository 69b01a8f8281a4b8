"""Static files: hashed, compressed and cached for ever. Every start gathers them first (`serve/assets.py`)."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """A file that the gathered ones do not name is served by its plain name, without a hash."""

    manifest_strict = False
