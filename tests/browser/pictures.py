"""Pictures of a page in both themes, wide and narrow, for whoever wants to look, where SCREENSHOTS names a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def keep_pictures(page: Any, name: str) -> None:
    """NAME-light-1280.png and so on; the page is as before after it."""
    folder = os.environ.get("SCREENSHOTS")
    if not folder:
        return
    before = page.viewport_size
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in (1280, 375):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(300)
            page.screenshot(path=Path(folder) / f"{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size(before)
