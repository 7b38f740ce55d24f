"""Reports: pages, figures, tables and words of results; pages need no network and no other file.

figures.py makes the page of a cross-check, words.py its sentences (with phrases.py and
cause_words.py), tables.py its tables; comparison.py, overlay.py and signals.py show recorded runs;
curves.py and drawing.py are the parts of all figures. The look of pages may be changed:
template.html, page.html, plots.html and report.css beside; so may words. No verdict is computed
here. Names in `__init__.pyi` stay, which robot packages, benchmarks and notebooks draw with, and
keys of `--json`. Tests: src/roboaccord/test (test_report, test_words, test_drawing, test_compare).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
