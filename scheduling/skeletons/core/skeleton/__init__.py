"""Communication skeletons: short programs with the message exchanges of long ones, made from traces.

Source: Pattern 2003, 2.2 and 2.5; making them automatically is what its section 4 leaves as future work.
"""

from scheduling.skeletons.core.skeleton.build import Skeleton, build
from scheduling.skeletons.core.skeleton.document import document
from scheduling.skeletons.core.skeleton.folding import Repeat, fold, unfold

__all__ = ["Repeat", "Skeleton", "build", "document", "fold", "unfold"]
