"""What a disk says that may take more again later, in the errno of an OSError."""

from __future__ import annotations

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)
#: Full, or read-only for a while: no fault of what was to be written.
UNWRITABLE = (*FULL, errno.EROFS)
