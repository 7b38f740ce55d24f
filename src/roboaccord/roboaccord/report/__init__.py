"""Reports: pages, figures and lists of findings, which need no network and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.report.comparison import Comparison as Comparison
    from roboaccord.report.comparison import compare as compare
    from roboaccord.report.curves import AMBER as AMBER
    from roboaccord.report.curves import BLUE as BLUE
    from roboaccord.report.curves import EMPTY as EMPTY
    from roboaccord.report.curves import GREEN as GREEN
    from roboaccord.report.curves import INK as INK
    from roboaccord.report.curves import PAGE as PAGE
    from roboaccord.report.curves import RED as RED
    from roboaccord.report.curves import RULE as RULE
    from roboaccord.report.curves import SOFT as SOFT
    from roboaccord.report.curves import axis as axis
    from roboaccord.report.curves import plain as plain
    from roboaccord.report.curves import stride as stride
    from roboaccord.report.drawing import AZIMUTH as AZIMUTH
    from roboaccord.report.drawing import ELEVATION as ELEVATION
    from roboaccord.report.drawing import SIZE as SIZE
    from roboaccord.report.drawing import SQUARE as SQUARE
    from roboaccord.report.drawing import Solid as Solid
    from roboaccord.report.drawing import arrow as arrow
    from roboaccord.report.drawing import bare as bare
    from roboaccord.report.drawing import contour as contour
    from roboaccord.report.drawing import draw_ball as draw_ball
    from roboaccord.report.drawing import draw_solids as draw_solids
    from roboaccord.report.drawing import heat_map as heat_map
    from roboaccord.report.drawing import label_dots as label_dots
    from roboaccord.report.drawing import legend as legend
    from roboaccord.report.drawing import line as line
    from roboaccord.report.drawing import picture as picture
    from roboaccord.report.drawing import pointer as pointer
    from roboaccord.report.drawing import see as see
    from roboaccord.report.figures import render_report as render_report
    from roboaccord.report.overlay import Overlay as Overlay
    from roboaccord.report.overlay import plot as plot
    from roboaccord.report.plots import Curve as Curve
    from roboaccord.report.plots import Plot as Plot
    from roboaccord.report.plots import Still as Still
    from roboaccord.report.plots import render_plots as render_plots
    from roboaccord.report.plots import write_curves as write_curves
    from roboaccord.report.signals import RunSignals as RunSignals

__getattr__, __dir__, __all__ = lazy_names(__name__)
