from .gaits.collisionless import find_collisionless as find_collisionless
from .gaits.gait import evaluate as evaluate
from .gaits.gait import horizontal as horizontal
from .gaits.landscape import LIMIT as LIMIT
from .gaits.landscape import landscape as landscape
from .gaits.search import minimise as minimise
from .model.parameters import MonkeyBotParameters as MonkeyBotParameters
