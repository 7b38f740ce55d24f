"""Reports: pages, figures and lists of findings, which need no network and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.report.colours import AMBER as AMBER
    from roboaccord.report.colours import BLUE as BLUE
    from roboaccord.report.colours import EMPTY as EMPTY
    from roboaccord.report.colours import GREEN as GREEN
    from roboaccord.report.colours import INK as INK
    from roboaccord.report.colours import PAGE as PAGE
    from roboaccord.report.colours import RED as RED
    from roboaccord.report.colours import RULE as RULE
    from roboaccord.report.colours import SOFT as SOFT
    from roboaccord.report.comparison import Comparison as Comparison
    from roboaccord.report.comparison import compare as compare
    from roboaccord.report.curves import axis as axis
    from roboaccord.report.curves import plain as plain
    from roboaccord.report.curves import stride as stride
    from roboaccord.report.drawing import SIZE as SIZE
    from roboaccord.report.drawing import SQUARE as SQUARE
    from roboaccord.report.drawing import contour as contour
    from roboaccord.report.drawing import heat_map as heat_map
    from roboaccord.report.drawing import label_dots as label_dots
    from roboaccord.report.drawing import legend as legend
    from roboaccord.report.drawing import picture as picture
    from roboaccord.report.overlay import Overlay as Overlay
    from roboaccord.report.overlay import plot as plot
    from roboaccord.report.page import render_report as render_report
    from roboaccord.report.plots import Curve as Curve
    from roboaccord.report.plots import Plot as Plot
    from roboaccord.report.plots import Still as Still
    from roboaccord.report.plots import render_plots as render_plots
    from roboaccord.report.plots import write_curves as write_curves
    from roboaccord.report.signals import RunSignals as RunSignals
    from roboaccord.report.space import AZIMUTH as AZIMUTH
    from roboaccord.report.space import ELEVATION as ELEVATION
    from roboaccord.report.space import Solid as Solid
    from roboaccord.report.space import arrow as arrow
    from roboaccord.report.space import bare as bare
    from roboaccord.report.space import draw_ball as draw_ball
    from roboaccord.report.space import draw_solids as draw_solids
    from roboaccord.report.space import line as line
    from roboaccord.report.space import pointer as pointer
    from roboaccord.report.space import see as see

__getattr__, __dir__, __all__ = lazy_names(__name__)
