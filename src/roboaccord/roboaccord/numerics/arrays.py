"""The type `Array`, an array of float64, with which all modules annotate.

contract/state.py passes it on to robots and users, so it stays. Arrays of other types are defined
where they are used, as `Index` in contract/contact.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
