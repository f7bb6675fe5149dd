"""Type aliases that every package uses."""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
AnyPath: TypeAlias = str | os.PathLike[str]
