"""The page of a sweep, and the figure on it."""

from __future__ import annotations

from roboaccord.run.sweep import Cell
from roboaccord_studies.sweep.page import dots_figure, render_sweep
from roboaccord_studies.sweep.study import Study


def test_the_page_of_a_sweep_stands_alone_and_names_runs_without_a_value() -> None:
    result = Study(
        robot="arm", scenario="swing", figure="travel_per_cycle", unit="m", seeds=3,
        cells=[Cell("dart", 5e-4, {0: 0.2, 2: 0.3}, {1: "dart diverged </script>"})],
        scenario_data={}, versions={"python": "3"}, command="accord sweep arm swing",
    )  # fmt: skip
    page = render_sweep(result)
    assert "seed 1: dart diverged &lt;/script&gt;" in page
    assert "src=" not in page.split("<script>")[0]
    dots = dots_figure(result)["data"][0]
    assert dots["y"] == [0.2, 0.3] and dots["text"] == ["seed 0", "seed 2"]
