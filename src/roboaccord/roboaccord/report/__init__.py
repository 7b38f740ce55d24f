"""Reports: pages, figures, tables and sentences about results.

Inside are: the page of a cross-check (figures), its sentences (words, with phrases and cause_words)
and tables (tables, energy); recorded runs (comparison, overlay, signals, settings); drawing by
Plotly (curves, plots) and by Matplotlib (drawing, stills). Pages need no network and no other file.

The look of pages may be changed, by template.html, page.html, plots.html and report.css beside, and
so may words. No verdict is computed here. Names in `__init__.pyi`, which robot packages, benchmarks
and notebooks use, and keys of `--json` stay. Tests: src/roboaccord/test (test_report, test_words,
test_drawing, test_compare).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
