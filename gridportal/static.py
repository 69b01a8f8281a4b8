"""Static files: hashed, compressed and cached for ever once collected; straight from the source before that."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    """A missing manifest entry is served by its plain name, so tests need no collectstatic."""

    manifest_strict = False
