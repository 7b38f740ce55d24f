"""The type `Array` of annotations: a NumPy array of float64.

Its name must stay, because robots and users import it from contract/state.py. Types of other arrays
are defined where they are needed, such as `Index` of integers in contract/contact.py.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
