"""Reports: pages, figures and lists of findings, which need no network and no other file.

The names for robot packages, benchmarks and notebooks are listed in `__init__.pyi`: colours,
`picture` and `plot`, with which packages draw figures of their own. Removing or renaming one breaks
them. Pages are made of the templates template.html, sweep.html and plots.html beside, with
report.css: their look is changed there.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
