from .controllers.serpenoid import SerpenoidController as SerpenoidController
from .model.parameters import SnakeParameters as SnakeParameters
from .simulators.metrics import metrics as metrics
