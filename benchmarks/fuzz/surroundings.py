"""Cases of what lies beside an input: planted modules, and files that a bag names."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from random import Random

from cases import SHORT, Case, spoil
from roboaccord.cdr import decode_string, encode_string
from test_bag_is_data import COMMANDS, HOSTILE, PROGRAM
from test_bag_is_data import XACRO as HOSTILE_XACRO
from test_safe_path import XACRO
from workspace import PACKAGES

RAN = "ran"
"""A file that whatever is planted would make."""
NAMES = sorted(
    {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    - {*PACKAGES}
)
USUAL = ("json", "random", "struct", "csv", "typing", "numpy", "yaml", "xacro", "mujoco", "joblib")
FROM_THERE = (
    "check in/arm.urdf.xacro --json",
    f"run in/arm.urdf.xacro --transport direct --json --out o {SHORT}",
    "parity in/arm.urdf.xacro --engines mujoco --json",
    "check in/arm.xml --json",
    "crosscheck {seeds}/arm_run/bag --json",
    f"run snake serpenoid --transport direct --json --out o {SHORT}",
    "sweep snake serpenoid --seeds 2 --json --out o --set duration=0.02",
    "compare {seeds}/run/bag {seeds}/run/bag --json",
)
ROS = f"run snake serpenoid --transport ros_processes --json --out o {SHORT}"


def current(rng: Random, seeds: Path) -> Case:
    """Modules that Python or a library would import, in the current folder or beside the input."""
    Path("in").mkdir()
    Path("in/arm.urdf.xacro").write_text(XACRO)
    Path("in/arm.xml").write_text('<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/>'
                                  '<geom size=".1"/></body></worldbody></mujoco>')  # fmt: skip
    tell = f"open({str(Path(RAN).absolute())!r}, 'a').write(__name__ + chr(10))\n"
    for name in {*rng.sample(NAMES, rng.choice((1, 30, len(NAMES)))), *rng.sample(USUAL, 3)}:
        for folder in rng.choice(((".",), ("in",), (".", "in"))):
            end = rng.choice(("", "raise ImportError('planted')\n", "raise SystemExit(0)\n"))
            path = Path(folder, name, "__init__.py" if rng.random() < 0.3 else "")
            path = path if path.suffix else path.with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(tell + end)
    for name in ("a.pth", "in/a.pth"):
        Path(name).write_text(f"import os; {tell}")
    ros = find_spec("rclpy") and rng.random() < 0.1
    words = ROS if ros else rng.choice(FROM_THERE)
    return Case("current folder", shlex.split(words.format(seeds=seeds)), accepted=True,
                script=bool(ros) or "sweep" in words or rng.random() < 0.3)  # fmt: skip


def named(rng: Random, seeds: Path) -> Case:
    """A bag whose scenario and description name files that are there, and must not be read."""
    shutil.copytree(rng.choice((seeds / "arm_bag", seeds / "bags" / "sqlite3_none")), "b",
                    copy_function=shutil.copyfile)  # fmt: skip
    here = Path().absolute()
    prefix = rng.choice(("", "", "./", f"{here}/", f"../{here.name}/", f"file://{here}/"))
    text = HOSTILE_XACRO.replace("2.0 * 1", PROGRAM.format(here / RAN))
    Path("evil").mkdir()
    for name in ("arm.urdf.xacro", "path.csv", "known.json", "rock.obj", "../evil.sdf"):
        if rng.random() < 0.6:
            (Path("evil") / name).write_text(text)
        else:
            spoil(f"evil/{name}", rng.choice(("fifo", "device", "loop", "folder")))
    (file,) = Path("b").glob("*.db3")
    base = sqlite3.connect(file)
    rows = base.execute(
        "SELECT messages.id, name, data FROM messages JOIN topics ON topics.id = topic_id "
        "WHERE name LIKE '%/scenario' OR name LIKE '%/robot_description'"
    ).fetchall()
    for number, topic, data in rows:
        content = decode_string(data)
        if topic.endswith("scenario"):
            facts = json.loads(content)
            for key in rng.sample(sorted(HOSTILE), rng.choice((1, 1, 2, len(HOSTILE)))):
                hostile = json.dumps(HOSTILE[key]).replace('"evil', f'"{prefix}evil')
                facts["scenario"] |= json.loads(hostile)
            content = json.dumps(facts)
        elif rng.random() < 0.5:
            shape = f'<mesh filename="{prefix}evil/rock.obj"/>'
            shape = f"<visual><geometry>{shape}</geometry></visual></link>"
            content = content.replace("</link>", shape, rng.choice((1, 3)))
        base.execute("UPDATE messages SET data = ? WHERE id = ?", (encode_string(content), number))
    base.commit()
    base.close()
    words = rng.choice((*COMMANDS, "run snake serpenoid --transport direct --out o --inputs BAG"))
    return Case("bag with paths", shlex.split(words.replace("BAG", "b")), unread="evil")
