"""Views of recorded runs, simulations and robots: in the browser, or as films."""

from __future__ import annotations

import math
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from roboaccord.bag.reader import BagRun, read_run
from roboaccord.bag.second import SecondRun, beside, names_of, read_pair
from roboaccord.bag.transforms import read_arrows
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.files import check_target
from roboaccord.contract.modes import SETUP, Modes
from roboaccord.description.meshes import ships
from roboaccord.description.solids import BACKDROPS, TERRAIN, WALL
from roboaccord.description.tree import Tree
from roboaccord.door import arguments
from roboaccord.door.arguments import Options, Recording, Settings, Subject, bag_of, setup_of
from roboaccord.engines import check_engine
from roboaccord.run.runner import Run
from roboaccord.scenario.files import make_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, robot_names
from roboaccord.scenario.surroundings import surroundings
from roboaccord.view.stage import HOST, PORT

if TYPE_CHECKING:
    from roboaccord.view.stage import Stage

Shows = Callable[["Stage"], AbstractContextManager[None]]
"""Keeps a page while what is within it lasts."""


@contextmanager
def shown(stage: Stage) -> Iterator[None]:
    """Log where a page is, and close it at the end, also on Ctrl-C."""
    arguments.tell(f"open {stage.url} in a browser")
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        stage.close()


def _modes(given: Mapping[str, Any]) -> list[str]:
    place = "as a film" if given.get("gif") or given.get("mp4") else "in the browser"
    if (mode := arguments.subject_mode(given["what"])) == "BAG":
        return [mode, place]
    acts = mode == SETUP or given.get("beside") or given.get("words")
    return [mode, "with SCENARIO" if acts else "without SCENARIO", "in the browser"]


VIEW = Modes(_modes, {
    "": "collision",
    "BAG": "gif mp4 speed others robot base package trust",
    "FILE": "base package trust",
    "FILE.xacro": "base package trust :=",
    "with SCENARIO": "words set fault engine speed",
    "in the browser": "stay port host",
    "as a film": "fps size uncut",
})  # fmt: skip


@VIEW.guard
def view(
    what: Subject | Recording,
    *others: Recording,
    scenario: str | Path | None = None,
    robot: str | Path = "",
    engine: str = "reference",
    settings: Settings | None = None,
    gif: str | Path | None = None,
    mp4: str | Path | None = None,
    fps: float | None = None,
    size: str | None = None,
    uncut: bool = False,
    collision: bool = False,
    speed: float = 1.0,
    stay: float = math.inf,
    port: int = PORT,
    host: str = HOST,
    **options: Unpack[Options],
) -> None:
    """Show runs, a simulation or a robot in the browser, or write a film, as `accord view` does.

    Args:
        what: a recorded run; or a robot, to be simulated in a scenario or else posed by hand.
        others: further runs, shown translucent.
        scenario: name, or a YAML file.
        robot: file of the robot of a recorded run, whose meshes are drawn.
        engine: that simulates it.
        settings: values by key.
        gif, mp4: files of a film instead of a page.
        fps: pictures of a film [1/s].
        size: of its pictures [pixels], `WIDTH` or `WIDTHxHEIGHT`.
        uncut: show also the time in which nothing moves.
        collision: draw the collision shapes, not the visual ones.
        speed: seconds of motion a second.
        stay: how long the page stays [s]; until interrupted where infinite.
        port, host: of the page.
        **options: of the robot.

    Raises:
        AccordError: if something is missing, or cannot be drawn or written.
    """
    if not isinstance(what, Setup) and arguments.subject_mode(what) == "BAG":
        bags = [bag_of(each) for each in (what, *others)]
        of = setup_of(robot, **options) if robot else None
        if gif or mp4:
            files = [Path(each) if each else None for each in (gif, mp4)]
            write_films(
                bags,
                *files,
                fps=fps,
                size=size,
                uncut=uncut,
                collision=collision,
                speed=speed,
                robot=of,
            )
        else:
            view_runs(bags, speed, stay, port, host, collision=collision, robot=of)
        return
    if isinstance(what, Setup) or scenario:
        assert not isinstance(what, Run)
        setup = setup_of(what, scenario, settings, **options)
        simulate_in_view(setup, engine, speed, stay, port, host, collision=collision)
    else:
        pose_robot(setup_to_pose(str(what), **options), stay, port, host, collision=collision)


def write_films(
    bags: Sequence[Path],
    gif: Path | None = None,
    mp4: Path | None = None,
    *,
    fps: float | None = None,
    size: str | None = None,
    uncut: bool = False,
    collision: bool = False,
    speed: float = 1.0,
    drawn: Callable[[int, int], None] = lambda done, total: None,
    tell: Callable[[str], None] = arguments.tell,
    robot: Setup | None = None,
) -> int:
    """Write a bag, with others translucent beside it, as a GIF, as an MP4, or as both.

    Args:
        bags: the first is drawn, the others beside it.
        gif, mp4, fps, size, uncut, collision, speed: as of `view`.
        drawn: called with how many pictures are done, and of how many.
        tell: called with a line on surroundings or meshes that are not drawn.
        robot: whose meshes are drawn, where a bag names those of a robot's file.

    Returns:
        Number of pictures.

    Raises:
        AccordError: if it is not a bag, or holds no description to draw; or for wrong options.
    """
    from roboaccord.view import film as films
    from roboaccord.view.film_files import find_ffmpeg, write_gif, write_mp4

    rate = films.FPS if fps is None else fps
    pixels = films.SIZE if size is None else films.parse_size(size)
    films.check(rate, pixels, speed)
    for file, suffix in ((gif, ".gif"), (mp4, ".mp4")):
        if file and file.suffix.lower() != suffix:
            raise AccordError(f"--{suffix[1:]} takes a FILE{suffix}, not {file}")
        check_target(file)
    if mp4:
        find_ffmpeg(pixels)
    run, urdf, others, name = _read(bags, robot, tell)
    setup = recorded_setup(run, tell)
    surfaces = surroundings(setup) if setup else []
    relief = next((s for s in surfaces if s.name == TERRAIN), None)
    pictures = films.Film(
        urdf,
        run.trajectory,
        fps=rate,
        size=pixels,
        speed=speed,
        terrain=(relief.vertices, relief.faces) if relief else None,
        surroundings=[(s.vertices, s.faces) for s in surfaces if s.name not in BACKDROPS],
        beside=others,
        name=name,
        aim=setup.robot.aim(setup) if setup else None,
        findings=run.findings,
        uncut=uncut,
        collision=collision,
        wall=any(s.name == WALL for s in surfaces),
    )
    if gif:
        write_gif(pictures, gif, drawn)
    if mp4:
        write_mp4(pictures, mp4, drawn)
    return len(pictures)


def view_runs(
    bags: Sequence[Path],
    speed: float = 1.0,
    stay: float = math.inf,
    port: int = PORT,
    host: str = HOST,
    shows: Shows = shown,
    tell: Callable[[str], None] = arguments.tell,
    *,
    collision: bool = False,
    robot: Setup | None = None,
) -> None:
    """Show a bag in the browser, and others or its reference translucent; `robot` as of a film.

    Raises:
        AccordError: if one is not a bag, or holds no description to draw.
    """
    from roboaccord.view.player import Player
    from roboaccord.view.stage import Stage

    run, urdf, others, _ = _read(bags, robot, tell)
    setup = recorded_setup(run, tell)
    stage = Stage(urdf, port, host, surroundings(setup) if setup else [], collision)
    arrows, aim = read_arrows(run.contacts), setup.robot.aim(setup) if setup else None
    player = Player(stage, run.trajectory, speed, arrows, others, aim, run.findings)
    with shows(stage):
        player.play(stay)


def simulate_in_view(
    setup: Setup,
    engine: str = "reference",
    speed: float = 1.0,
    stay: float = math.inf,
    port: int = PORT,
    host: str = HOST,
    shows: Shows = shown,
    *,
    collision: bool = False,
) -> None:
    """Simulate in the browser without recording, from when the page is open; then replay.

    Raises:
        AccordError: as the run does.
    """
    from roboaccord.run.loop import make_simulator, run_setup
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.view.live import LiveView, open_stage

    check_engine(engine)
    simulator, controller = make_simulator(setup, engine), make_controller(setup)
    stage = open_stage(setup, port, host, collision=collision)
    with shows(stage):
        stage.wait_for_page(stay)
        live = LiveView(setup, stage, speed)
        trajectory = run_setup(setup, live.wrap(simulator), (live,), controller)
        live.replay(trajectory).play(stay)


def setup_to_pose(name: str, **options: Unpack[Options]) -> Setup:
    """Return a robot in its first scenario, or in none where it has none."""
    robot = find_robot(name)
    names = scenario_names(robot.package)
    if names:
        return setup_of(name, names[0], **options)
    return Setup.of(make_scenario({"robot": robot.key}))


def pose_robot(
    setup: Setup,
    stay: float = math.inf,
    port: int = PORT,
    host: str = HOST,
    shows: Shows = shown,
    *,
    collision: bool = False,
) -> None:
    """Show a robot with a slider a joint, until interrupted."""
    from roboaccord.view.live import view_robot

    with shows(view_robot(setup, port, host, collision=collision)):
        threading.Event().wait(None if math.isinf(stay) else stay)


def _read(
    bags: Sequence[Path], robot: Setup | None, tell: Callable[[str], None]
) -> tuple[BagRun, str, list[SecondRun], str]:
    """Return the run of a bag, its description, other bags' runs or its reference, its name.

    A bag may name any file: meshes are read of installed packages, and those that the robot has.
    """
    run, second = read_pair(bags[0])
    runs, left = [run, *map(read_run, bags[1:])], set[str]()
    own = ET.fromstring(robot.urdf()).iter("mesh") if robot else ()
    known = {mesh.get("filename") for mesh in own}

    def drawn(urdf: str) -> str:
        Tree.parse(urdf)  # which refuses what is none
        for mesh in (top := ET.fromstring(urdf)).iter("mesh"):
            if (name := mesh.get("filename", "")) not in known and not ships(name):
                left.add(mesh.attrib.pop("filename", ""))
        return ET.tostring(top, encoding="unicode")

    urdf, *urdfs = (drawn(described(each, bag)) for each, bag in zip(runs, bags, strict=True))
    second = second and replace(second, urdf=drawn(second.urdf))
    others = beside(runs, urdfs) if urdfs else [second] if second else []
    if left:
        tell(f"not drawn: {len(left)} meshes that only the bag names: accord view BAG --robot FILE")
    return run, urdf, others, names_of(runs)[0]


def described(run: BagRun, path: Path) -> str:
    """Return the description of the robot of a bag, the robot's own where the bag holds none.

    Raises:
        AccordError: if the bag does not even name its robot.
    """
    if not run.urdf and run.robot not in robot_names():
        lacks = f"and {run.robot or 'its robot'} is not installed"
        hint = did_you_mean(run.robot, robot_names())
        raise AccordError(f"{path} holds no robot_description, {lacks}{hint}")
    return run.urdf or run.setup().urdf()


def recorded_setup(run: BagRun, tell: Callable[[str], None]) -> Setup | None:
    """Return the setup of a run, of which surroundings and target are drawn; None without any."""
    if run.robot not in robot_names() or not run.scenario:
        return None
    try:
        return run.setup()
    except AccordError as error:
        tell(f"the surroundings are not drawn: {error}")
        return None
