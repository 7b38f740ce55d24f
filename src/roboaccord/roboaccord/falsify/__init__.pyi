from .perturbation import KINDS as KINDS
from .perturbation import Perturbation as Perturbation
from .perturbation import parse_perturbation as parse_perturbation
from .wrapped import wrap as wrap
