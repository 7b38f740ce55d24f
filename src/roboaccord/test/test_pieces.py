"""Studies in pieces: who does the work, and with which software."""

from __future__ import annotations

import math
import os
import sys
from pickle import dumps

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.run import versions
from roboaccord.run.pieces import _remote, run_pieces
from roboaccord.run.versions import code_digest, software


@pytest.mark.parametrize("folder", ["config", "meshes", "scenarios", "urdf"])
def test_the_digest_tells_changed_files_from_the_same(tmp_path, monkeypatch, folder):
    """A study does not go on with other parameters, nor with another description."""
    monkeypatch.setattr(versions, "share", tmp_path.joinpath)
    file = tmp_path / "roboaccord" / folder / "deeper" / "file"
    file.parent.mkdir(parents=True)
    digests = list[str]()
    for text in ("mass: 1.0", "mass: 1.1", "mass: 1.0"):
        file.write_text(text)
        digests.append(code_digest())
    assert digests[0] == digests[2] != digests[1]


def test_pieces_are_run_in_processes_unless_threads_will_do():
    assert os.getpid() not in run_pieces(os.getpid, [(), ()], workers=2)
    assert run_pieces(os.getpid, [(), ()], workers=2, threads=True) == [os.getpid()] * 2


def test_a_worker_with_other_software_refuses_a_piece():
    pytest.importorskip("cloudpickle", reason="Dask is not installed")
    piece, asked = dumps((math.sqrt, (4.0,))), software()
    assert asked["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert {"numpy", "scipy", "numba", "code"} <= {*asked}
    assert _remote(piece, asked, threads=True) == 2.0
    for name in asked:
        with pytest.raises(AccordError, match=f"has {name} .*: 0.1 is needed"):
            _remote(piece, asked | {name: "0.1"}, threads=True)
    with pytest.raises(AccordError, match=r"has no brax: 0\.1 is needed"):
        _remote(piece, asked | {"brax": "0.1"}, threads=True)
