"""Reports: pages, figures and lists of findings, which need no network and no other file."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
