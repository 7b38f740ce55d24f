"""The ball's turning in engines against the model."""

from __future__ import annotations

import pytest
from roboaccord_studies.roller_sphere.contact import ContactCase, cases, run_case


@pytest.mark.slow
def test_dart_turns_the_ball_as_the_model_with_its_axis_along_e() -> None:
    """w_t within 2 % over 12 headings, w_s between both lines: with DART's own dry friction."""
    pytest.importorskip("dartpy")
    found = run_case(ContactCase("dart", "contact", "e", 20.0))
    assert found.passed
    assert found.w_s_offset > 1e-3  # it does not settle at the model's value, and need not


def test_the_check_has_both_laws_in_every_engine_and_both_axes_in_dart() -> None:
    found = cases(["reference", "dart"], [20.0])
    assert {case.alpha for case in found} == {20.0}
    assert sorted((case.engine, case.law, case.axis) for case in found) == [
        ("dart", "contact", "e"), ("dart", "contact", "up"), ("dart", "viscous", ""),
        ("reference", "contact", ""), ("reference", "viscous", ""),
    ]  # fmt: skip
