"""Certificate of contact of the arm's collapse: the reference obeys the laws, engines balance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from packbot.simulators.reference import PackbotReference
from packbot.source.collapse import collapse_setup
from roboaccord.contract import Certificate, Command
from roboaccord.crosscheck.certificate import certificate_of, judge_reference
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.run.loop import make_simulator, run_setup

pytestmark = pytest.mark.thorough

GAP, SLIP_SPEED = 1e-9, 5e-3  # m, m/s: the reference's own
PRESSED = 10.0  # tolerances of a gap: how far one that presses may be open (stepping.py)
ROUND_OFF = 1e-11  # of a mass matrix with a condition of 1e4
# Largest x (1 - x / sqrt(x^2 + 1)), at x^2 = (sqrt(5) - 1) / 2: what regularised friction lacks.
LACKING = 0.3003


def certified(engine: str, mu: float) -> tuple[CheckCase, Certificate, float]:
    """Return the certificate of 0.3 s, with contacts from 0.16 s on, and the largest force [N]."""
    setup = collapse_setup("normal", 0.3, [f"friction.mu={mu}"])
    simulator = make_simulator(setup, engine)
    run = run_setup(setup, simulator)
    step = setup.scenario.physics_step
    case = CheckCase(setup, engine, engine, Runs({Job(engine, step): run}, [step]))
    certificate, forces = certificate_of(case), [0.0]
    assert isinstance(certificate, Certificate)
    simulator.reset(run.state(0))
    for i in range(len(run) - 1):
        simulator.step(run.command(i), run.period(i))
        forces += [point.force for point in simulator.contacts() or ()]
    return case, certificate, max(forces)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_the_reference_obeys_the_laws_of_contact(mu: float) -> None:
    """Gaps are closed to their tolerance, and forces are in the cone and explain accelerations.

    Friction is regularised, which costs at most LACKING of mu f_n at the slip speed. It acts at two
    points, a margin apart, of which a contact point is the middle, so that only without friction
    the balance is one of round-off. The energy rises by no more than the integrator's own account.
    """
    case, certificate, force = certified("reference", mu)
    assert force > 1.0  # N: they touch
    weight = sum(link.mass for link in case.setup.tree.links) * case.setup.parameters.gravity
    assert certificate.signorini.value < PRESSED * GAP
    assert certificate.cone.value < ROUND_OFF
    lacking = LACKING * mu * force * SLIP_SPEED / weight
    assert certificate.dissipation.value < lacking + ROUND_OFF
    if mu == 0.0:
        assert certificate.momentum.value < ROUND_OFF
    assert ("momentum" in case.simulator.contact_bounds) == (mu == 0.0)
    assert judge_reference(case, certificate) == []
    assert isinstance(case.simulator, PackbotReference)
    assert certificate.energy.value <= case.simulator.energy_rise + ROUND_OFF


def test_a_reference_that_overlaps_by_1_mm_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies that touch are moved into each other, by the smallest displacement of the joints."""
    case, _, _ = certified("reference", 0.0)
    advance = PackbotReference._advance

    def overlapping(self: PackbotReference, command: Command, duration: float) -> None:
        """Advance, and add the overlap to the state."""
        advance(self, command, duration)
        motion, q = self._stepper.motion, self._stepper.x[: self._stepper.n]
        features = motion.closed.features
        jacobian = motion.gap_functions.measure(features, q)[1]
        if len(features):
            q += motion._smallest_change(q, jacobian, np.full(len(features), -1e-3))
            self._now = replace(self._now, q=q.copy())

    monkeypatch.setattr(PackbotReference, "_advance", overlapping)
    certificate = certificate_of(case)
    assert isinstance(certificate, Certificate)
    assert certificate.signorini.value == pytest.approx(1e-3, rel=0.01)  # to first order
    (finding,) = judge_reference(case, certificate)
    assert (finding.engine, finding.outcome) == ("reference", "outside")
    assert "break the law signorini by 0.001 [m]" in finding.reason


@pytest.mark.parametrize(("engine", "library"), [("dart", "dartpy"), ("mujoco", "mujoco")])
def test_forces_of_engines_explain_the_motion_and_only_one_is_in_the_cone(
    engine: str, library: str
) -> None:
    """DART bounds friction by normal forces without friction, and along two axes apart."""
    pytest.importorskip(library)
    _, certificate, force = certified(engine, 0.3)
    assert force > 1.0
    assert certificate.momentum.value < ROUND_OFF
    assert (certificate.cone.value < ROUND_OFF) == (engine == "mujoco")
    assert 1e-5 < certificate.signorini.value < 2e-3  # m: an overlap of a step at up to 2 m/s
    assert np.isfinite(certificate.energy.value)
