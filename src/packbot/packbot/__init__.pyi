from .contact.clearance import Clearance as Clearance
from .model.arm import Kinematics as Kinematics
from .model.parameters import PackbotParameters as PackbotParameters
