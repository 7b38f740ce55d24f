"""The type of arrays of float64, which all modules annotate with.

It must stay: contract/state.py gives `Array` on to robots and users. Types of arrays of other
numbers may be defined where they are used, as `Index` in contract/contact.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
