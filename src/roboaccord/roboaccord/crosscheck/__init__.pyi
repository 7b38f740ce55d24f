from .cause import Cause as Cause
from .cause import CauseFinder as CauseFinder
from .cause import Companion as Companion
from .recorded_report import RecordedReport as RecordedReport
from .run import run_crosscheck as run_crosscheck
from .step_check import StepCheck as StepCheck
from .twin_ticks import HELD as HELD
from .twin_ticks import contacts_of as contacts_of
