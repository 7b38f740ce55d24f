"""What `accord view` and `ra.view` show: runs, a simulation or a robot, on a page or as a film.

Each kind of view is a function here (or a method of Recorded) and a branch in door.py. A page is
served to browsers (stage.py), and `Page` has its options; a bag is a recorded run. What is told to
the user, such as a page's address, goes through a function `tell`. viser and Pillow, on which pages
and films depend, are imported only when something is drawn.

A bag may come from a stranger and name any file as a mesh. Which meshes are read is decided in
`Recorded.read` and nowhere else.
"""

from __future__ import annotations

import math
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from roboaccord.bag import BagRun, read_arrows, read_pair, read_run
from roboaccord.contract import AccordError, Aim, check_target, did_you_mean
from roboaccord.description import Surface, Tree, ships
from roboaccord.engines import check_engine
from roboaccord.run import make_simulator, run_setup
from roboaccord.scenario import Setup, make_controller, robot_names, surfaces_around

from roboaccord_view.options import FPS, SIZE, FilmOptions, Page, Tell, check_film, parse_size
from roboaccord_view.second import SecondRun, names_of, runs_beside
from roboaccord_view.stage import Stage


@dataclass(frozen=True)
class Recorded:
    """A recorded run to be drawn.

    Args:
        run, urdf: the run, and the robot description that is drawn.
        others: further runs, or the run's reference, which are drawn translucent.
        name: name of the first motion's source, to tell it from the others.
        setup: robot and scenario, for the target; None if the robot is not installed.
        surfaces: surfaces around the robot.
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

        Only meshes of installed packages are drawn, and those that the user's `robot` names.

        Args:
            bags: the first is drawn as usual, the others translucent.
            robot: setup of the robot's file that the user names; None if there is none.
            tell: shows a line to the user.

        Raises:
            AccordError: if a file is no bag, or has no description to draw.
        """
        run, motion, looks = read_pair(bags[0])  # a run, and the reference's motion in its bag
        runs = [run, *(read_run(bag) for bag in bags[1:])]
        meshes = ET.fromstring(robot.urdf()).iter("mesh") if robot else ()
        trusted = {mesh.get("filename") for mesh in meshes}
        dropped = set[str]()
        urdfs = [
            _without_foreign_meshes(_described(run, bag), trusted, dropped)
            for run, bag in zip(runs, bags, strict=True)
        ]
        reference = [SecondRun(motion, urdfs[0], looks)] if motion else []
        others = runs_beside(runs, urdfs[1:]) if len(runs) > 1 else reference
        if dropped:
            hint = "accord view BAG --robot FILE"
            tell(f"not drawn: {len(dropped)} meshes that only the bag names: {hint}")
        setup = _setup_of(run, tell)
        surfaces = surfaces_around(setup) if setup else []
        if run.trajectory.bodies is None:
            surfaces = [surface for surface in surfaces if not surface.frame]
        others = [other.with_bodies(surfaces) for other in others]
        return cls(run, urdfs[0], others, names_of(runs)[0], setup, surfaces)

    @property
    def aim(self) -> Aim | None:
        """The point whose path is drawn, with its target; None if the robot has none."""
        return self.setup.robot.aim(self.setup) if self.setup else None

    def play(self, page: Page, speed: float, tell: Tell, *, collision: bool) -> None:
        """Play the run in the browser."""
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
        bags: the first is drawn as usual, the others translucent.
        film: files to write, and options of the film.
        speed: seconds of motion per second of film.
        robot: setup of the robot's file that the user names; None if there is none.
        tell: shows a line to the user.
        drawn: called with the number of pictures drawn so far, and the total.
        collision: whether collision shapes are drawn instead of visual ones.

    Returns:
        Number of pictures.

    Raises:
        AccordError: for wrong options, or a bag or film that cannot be read, drawn or written.
    """
    from roboaccord_view.film import Film
    from roboaccord_view.film_files import WRITERS, find_ffmpeg

    fps = FPS if film.fps is None else film.fps
    size = SIZE if film.size is None else parse_size(film.size)
    check_film(fps, size, speed)
    files = {suffix: file for suffix, file in ((".gif", film.gif), (".mp4", film.mp4)) if file}
    for suffix, file in files.items():
        if file.suffix.lower() != suffix:
            raise AccordError(f"--{suffix[1:]} takes a FILE{suffix}, not {file}")
        check_target(file)
    if film.mp4:
        find_ffmpeg(size)
    recorded = Recorded.read(bags, robot, tell)
    pictures = Film(
        recorded.urdf, recorded.run.trajectory, fps=fps, size=size, speed=speed,
        surfaces=recorded.surfaces, beside=recorded.others, name=recorded.name, aim=recorded.aim,
        findings=recorded.run.findings, uncut=film.uncut, collision=collision,
    )  # fmt: skip
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
        live.replay(run_setup(setup, live.wrap(simulator), (live,), controller), page.stay)


def pose(setup: Setup, page: Page, tell: Tell, *, collision: bool) -> None:
    """Show a robot with a slider for each joint, until interrupted."""
    from roboaccord_view.posing import view_robot

    with page.shown(view_robot(setup, page.port, page.host, collision=collision), tell):
        threading.Event().wait(None if math.isinf(page.stay) else page.stay)


def _without_foreign_meshes(urdf: str, trusted: Collection[str | None], dropped: set[str]) -> str:
    """Return a description without meshes that are neither trusted nor of an installed package.

    Args:
        urdf: the description.
        trusted: file names of meshes that are kept.
        dropped: the file names of the others are added.

    Raises:
        AccordError: for a text that is no URDF.
    """
    Tree.parse(urdf)  # raises the error
    top = ET.fromstring(urdf)
    for mesh in top.iter("mesh"):
        name = mesh.get("filename", "")
        if name not in trusted and not ships(name):
            dropped.add(mesh.attrib.pop("filename", ""))
    return ET.tostring(top, encoding="unicode")


def _described(run: BagRun, path: Path) -> str:
    """Return the description in a bag, or that of the installed robot.

    Raises:
        AccordError: if there is neither.
    """
    if not run.urdf and run.robot not in robot_names():
        lacks = f"and {run.robot or 'its robot'} is not installed"
        hint = did_you_mean(run.robot, robot_names())
        raise AccordError(f"{path} holds no robot_description, {lacks}{hint}")
    return run.urdf or run.setup().urdf()


def _setup_of(run: BagRun, tell: Tell) -> Setup | None:
    """Return the setup of a run, for its surroundings and target; None if it has none."""
    if run.robot not in robot_names() or not run.scenario:
        return None
    try:
        return run.setup()
    except AccordError as error:
        tell(f"the surroundings are not drawn: {error}")
        return None
