"""Reports: pages, figures and lists of findings, which need no network and no other file.

The look of pages may be changed: template.html, page.html, plots.html and report.css beside. The
names in `__init__.pyi` stay: robot packages, benchmarks and notebooks draw with them. Add a name
there if another package is to import it (test/test_door.py).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
