"""What `accord view` and `ra.view` show: runs, a simulation or a robot, on a page or as a film.

A kind of view may be added: a function here, and a branch in door.py for command and function. A
bag may name any file: which meshes are then read must be decided in `Recorded.read`, and nowhere
else. Options of pages and films are in options.py; viser and Pillow are imported when something is
drawn.
"""

from __future__ import annotations

import math
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from roboaccord.bag import BagRun, read_arrows, read_pair, read_run
from roboaccord.contract import AccordError, Aim, check_target, did_you_mean
from roboaccord.description import Surface, Tree, ships
from roboaccord.engines import check_engine
from roboaccord.run import make_simulator, run_setup
from roboaccord.scenario import Setup, make_controller, robot_names, surfaces_around

from roboaccord_view.options import FPS, SIZE, FilmOptions, Page, Tell, check, parse_size
from roboaccord_view.second import SecondRun, beside, names_of
from roboaccord_view.stage import Stage


@dataclass(frozen=True)
class Recorded:
    """A recorded run as it is drawn.

    Args:
        run, urdf: the run, and the description that is drawn.
        others: further runs or its reference, translucent.
        name: of what made the motion, where there are others.
        setup: of its target; None where the robot is not installed.
        surfaces: what stands around.
    """

    run: BagRun
    urdf: str
    others: Sequence[SecondRun]
    name: str
    setup: Setup | None
    surfaces: Sequence[Surface]

    @classmethod
    def read(cls, bags: Sequence[Path], robot: Setup | None, tell: Tell) -> Recorded:
        """Read a bag, and others to be shown beside it.

        A bag may name any file: meshes are read of installed packages, and those of `robot`.

        Raises:
            AccordError: if one is no bag, or holds no description to draw.
        """
        run, motion, looks = read_pair(bags[0])
        runs, dropped = [run, *map(read_run, bags[1:])], set[str]()
        own = ET.fromstring(robot.urdf()).iter("mesh") if robot else ()
        shipped = {mesh.get("filename") for mesh in own}

        def drawn(urdf: str) -> str:
            Tree.parse(urdf)  # which refuses what is none
            for mesh in (top := ET.fromstring(urdf)).iter("mesh"):
                if (name := mesh.get("filename", "")) not in shipped and not ships(name):
                    dropped.add(mesh.attrib.pop("filename", ""))
            return ET.tostring(top, encoding="unicode")

        urdf, *urdfs = (drawn(_described(each, bag)) for each, bag in zip(runs, bags, strict=True))
        second = [SecondRun(motion, urdf, looks)] if motion else []
        others = beside(runs, urdfs) if urdfs else second
        if dropped:
            hint = "accord view BAG --robot FILE"
            tell(f"not drawn: {len(dropped)} meshes that only the bag names: {hint}")
        setup = _setup_of(run, tell)
        around = surfaces_around(setup) if setup else []
        return cls(run, urdf, others, names_of(runs)[0], setup, around)

    @property
    def aim(self) -> Aim | None:
        """The point whose path is drawn, and its target."""
        return self.setup.robot.aim(self.setup) if self.setup else None

    def play(self, page: Page, speed: float, tell: Tell, *, collision: bool) -> None:
        """Show it in the browser."""
        from roboaccord_view.player import Player

        stage = Stage(self.urdf, page.port, page.host, self.surfaces, collision)
        run, arrows = self.run, read_arrows(self.run.contacts)
        player = Player(stage, run.trajectory, speed, arrows, self.others, self.aim, run.findings)
        with page.shown(stage, tell):
            player.play(page.stay)


def write_films(
    bags: Sequence[Path],
    film: FilmOptions,
    speed: float,
    robot: Setup | None,
    tell: Tell,
    drawn: Callable[[int, int], None] = lambda done, total: None,
    *,
    collision: bool,
) -> int:
    """Write a bag, with others translucent beside it, as a GIF, as an MP4, or as both.

    Args:
        bags, robot, tell: as of `Recorded.read`.
        film: the files, and what they are to be like.
        speed: seconds of motion a second of film.
        drawn: called with how many pictures are done, and of how many.
        collision: draw the collision shapes, not the visual ones.

    Returns:
        Number of pictures.

    Raises:
        AccordError: for wrong options, or what cannot be read, drawn or written.
    """
    from roboaccord_view.film import Film
    from roboaccord_view.film_files import WRITERS, find_ffmpeg

    fps = FPS if film.fps is None else film.fps
    size = SIZE if film.size is None else parse_size(film.size)
    check(fps, size, speed)
    files = {suffix: file for suffix, file in ((".gif", film.gif), (".mp4", film.mp4)) if file}
    for suffix, file in files.items():
        if file.suffix.lower() != suffix:
            raise AccordError(f"--{suffix[1:]} takes a FILE{suffix}, not {file}")
        check_target(file)
    if film.mp4:
        find_ffmpeg(size)
    shown = Recorded.read(bags, robot, tell)
    pictures = Film(
        shown.urdf,
        shown.run.trajectory,
        fps=fps,
        size=size,
        speed=speed,
        surfaces=shown.surfaces,
        beside=shown.others,
        name=shown.name,
        aim=shown.aim,
        findings=shown.run.findings,
        uncut=film.uncut,
        collision=collision,
    )
    for suffix, file in files.items():
        WRITERS[suffix](pictures, file, drawn)
    return len(pictures)


def simulate(
    setup: Setup, engine: str, speed: float, page: Page, tell: Tell, *, collision: bool
) -> None:
    """Simulate in the browser without recording, from when the page is open; then replay.

    Raises:
        AccordError: as the run does.
    """
    from roboaccord_view.live import LiveView, open_stage

    check_engine(engine)
    simulator, controller = make_simulator(setup, engine), make_controller(setup)
    stage = open_stage(setup, page.port, page.host, collision=collision)
    with page.shown(stage, tell):
        stage.wait_for_page(page.stay)
        live = LiveView(setup, speed, stage)
        trajectory = run_setup(setup, live.wrap(simulator), (live,), controller)
        live.replay(trajectory, page.stay)


def pose(setup: Setup, page: Page, tell: Tell, *, collision: bool) -> None:
    """Show a robot with a slider a joint, until interrupted."""
    from roboaccord_view.live import view_robot

    with page.shown(view_robot(setup, page.port, page.host, collision=collision), tell):
        threading.Event().wait(None if math.isinf(page.stay) else page.stay)


def _described(run: BagRun, path: Path) -> str:
    """Return the description of the robot of a bag, the robot's own where the bag holds none.

    Raises:
        AccordError: if the bag does not even name its robot.
    """
    if not run.urdf and run.robot not in robot_names():
        lacks = f"and {run.robot or 'its robot'} is not installed"
        hint = did_you_mean(run.robot, robot_names())
        raise AccordError(f"{path} holds no robot_description, {lacks}{hint}")
    return run.urdf or run.setup().urdf()


def _setup_of(run: BagRun, tell: Tell) -> Setup | None:
    """Return the setup of a run, of which surroundings and target are drawn; None without any."""
    if run.robot not in robot_names() or not run.scenario:
        return None
    try:
        return run.setup()
    except AccordError as error:
        tell(f"the surroundings are not drawn: {error}")
        return None
