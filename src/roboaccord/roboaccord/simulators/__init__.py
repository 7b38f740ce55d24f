"""What every simulator derives from; references (analytical models) in joint space and of trees.

Names for robots and engines may be added, as lines of `__init__.pyi` (test_door). This folder must
stay without a physics library: what one needs goes into `engines`, what one robot needs into its
package.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
