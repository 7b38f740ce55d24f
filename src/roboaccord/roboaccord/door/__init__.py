"""What a command does, as a function: from a robot or a recorded run to a result with its type.

The functions are those of the package `roboaccord` itself (`ra.run`, `ra.crosscheck`);
`__init__.pyi` here adds what packages beside need to make such functions of their own. A parameter
added to one of them is to be an option of its command, too: test_modes compares the two.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
