from .model.kinematics import Kinematics as Kinematics
from .model.parameters import RollerSphereParameters as RollerSphereParameters
