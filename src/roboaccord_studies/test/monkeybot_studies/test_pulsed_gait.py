"""The kind of gait that docs/monkeybot_gaits.md makes: its code runs, and its table holds."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[4] / "docs" / "monkeybot_gaits.md"


def test_the_page_tells_what_its_code_finds():
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102 - the page's own code
    radii = names["radii"]
    head, row = (
        re.search(rf"^\| {words} \|(.+)\|$", text, re.M)[1].split("|")
        for words in ("motor on, s", "radius, period 0.935 s")
    )
    assert len(head) == len(row) > 8
    for motor, radius in zip(head, row, strict=True):
        assert radii[float(motor)] == pytest.approx(float(radius), abs=6e-4)
    assert max(radii) > 0.9 and radii[max(radii)] < 1.0
    assert min(motor for motor, radius in radii.items() if radius < 1.0) == 0.37  # facts: about
