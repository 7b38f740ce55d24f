from .statics import Dribbler as Dribbler
from .statics import Hold as Hold
from .statics import hold_ball as hold_ball
