"""Contract between controllers, simulators and everything that records them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names as lazy_names

if TYPE_CHECKING:
    from roboaccord.contract.checks import NANOSECONDS as NANOSECONDS
    from roboaccord.contract.checks import check_command as check_command
    from roboaccord.contract.checks import check_positive as check_positive
    from roboaccord.contract.checks import check_state as check_state
    from roboaccord.contract.checks import clip_efforts as clip_efforts
    from roboaccord.contract.checks import count_steps as count_steps
    from roboaccord.contract.contact import CFM as CFM
    from roboaccord.contract.contact import Contact as Contact
    from roboaccord.contract.contact import ContactPoint as ContactPoint
    from roboaccord.contract.contact import EllipseFriction as EllipseFriction
    from roboaccord.contract.contact import Fixture as Fixture
    from roboaccord.contract.contact import HeightField as HeightField
    from roboaccord.contract.contact import Index as Index
    from roboaccord.contract.contact import MeshFixture as MeshFixture
    from roboaccord.contract.contact import PyramidFriction as PyramidFriction
    from roboaccord.contract.contact import rigid_loads as rigid_loads
    from roboaccord.contract.contact import sliding_force as sliding_force
    from roboaccord.contract.errors import AccordError as AccordError
    from roboaccord.contract.errors import DivergedError as DivergedError
    from roboaccord.contract.errors import LockstepError as LockstepError
    from roboaccord.contract.errors import check_known as check_known
    from roboaccord.contract.errors import did_you_mean as did_you_mean
    from roboaccord.contract.errors import guard as guard
    from roboaccord.contract.errors import visible as visible
    from roboaccord.contract.fault import FORM as FORM
    from roboaccord.contract.fault import FOUND as FOUND
    from roboaccord.contract.fault import HOLDING as HOLDING
    from roboaccord.contract.fault import REFUSED as REFUSED
    from roboaccord.contract.fault import Fault as Fault
    from roboaccord.contract.fault import Kind as Kind
    from roboaccord.contract.fault import check_joint as check_joint
    from roboaccord.contract.fault import fault_of as fault_of
    from roboaccord.contract.fault import parse_fault as parse_fault
    from roboaccord.contract.files import check_folder as check_folder
    from roboaccord.contract.files import check_inside as check_inside
    from roboaccord.contract.files import check_target as check_target
    from roboaccord.contract.files import drafting as drafting
    from roboaccord.contract.files import is_file as is_file
    from roboaccord.contract.files import read_bytes as read_bytes
    from roboaccord.contract.files import read_text as read_text
    from roboaccord.contract.files import read_xml as read_xml
    from roboaccord.contract.files import writing as writing
    from roboaccord.contract.interfaces import Acceleration as Acceleration
    from roboaccord.contract.interfaces import AnyEngine as AnyEngine
    from roboaccord.contract.interfaces import Controller as Controller
    from roboaccord.contract.interfaces import Engine as Engine
    from roboaccord.contract.interfaces import Inputs as Inputs
    from roboaccord.contract.interfaces import LinkMotion as LinkMotion
    from roboaccord.contract.interfaces import Observer as Observer
    from roboaccord.contract.interfaces import Tally as Tally
    from roboaccord.contract.modes import AddedMode as AddedMode
    from roboaccord.contract.modes import Modes as Modes
    from roboaccord.contract.modes import by_option as by_option
    from roboaccord.contract.results import BESIDE as BESIDE
    from roboaccord.contract.results import IF_ANY as IF_ANY
    from roboaccord.contract.results import INLINE as INLINE
    from roboaccord.contract.results import LEFT_OUT as LEFT_OUT
    from roboaccord.contract.results import Degrees as Degrees
    from roboaccord.contract.results import Hertz as Hertz
    from roboaccord.contract.results import Json as Json
    from roboaccord.contract.results import Kilograms as Kilograms
    from roboaccord.contract.results import Metres as Metres
    from roboaccord.contract.results import MetresPerSecond as MetresPerSecond
    from roboaccord.contract.results import Minutes as Minutes
    from roboaccord.contract.results import NewtonMetres as NewtonMetres
    from roboaccord.contract.results import Quantity as Quantity
    from roboaccord.contract.results import Radians as Radians
    from roboaccord.contract.results import RadiansPerSecond as RadiansPerSecond
    from roboaccord.contract.results import Ratio as Ratio
    from roboaccord.contract.results import Seconds as Seconds
    from roboaccord.contract.results import by_fields as by_fields
    from roboaccord.contract.results import quantities as quantities
    from roboaccord.contract.results import to_json as to_json
    from roboaccord.contract.state import IDENTITY as IDENTITY
    from roboaccord.contract.state import NO_SWITCHES as NO_SWITCHES
    from roboaccord.contract.state import ORIGIN as ORIGIN
    from roboaccord.contract.state import Aim as Aim
    from roboaccord.contract.state import Array as Array
    from roboaccord.contract.state import Command as Command
    from roboaccord.contract.state import RobotState as RobotState
    from roboaccord.contract.state import Target as Target
    from roboaccord.contract.trajectory import Event as Event
    from roboaccord.contract.trajectory import Trajectory as Trajectory
    from roboaccord.contract.version import VERSION as VERSION

__getattr__, __dir__, _lazy = lazy_names(__name__)

__all__ = [*_lazy, "lazy_names"]
