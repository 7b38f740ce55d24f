"""What every page has: a template, the style, and Plotly, so that it needs no other file."""

from __future__ import annotations

from importlib.resources import files
from typing import Any


def render_page(template: str, **values: Any) -> str:
    """Return a page as HTML.

    Args:
        template: file name of the template, beside this module.
        values: what it shows.
    """
    import jinja2

    here = files(__package__)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: here.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    plotly = files("plotly").joinpath("package_data/plotly.min.js")
    return environment.get_template(template).render(
        style=here.joinpath("report.css").read_text(encoding="utf-8"),
        plotly=plotly.read_text(encoding="utf-8"),
        **values,
    )
