"""Fuzz commands, files of all kinds and running views: `make fuzz SEED=0 SECONDS=600`.

Each input is made of the seed and its number, and given to its command in a process of its own with
limits of time and memory, and with a folder of its own. It runs unprivileged: root becomes nobody.
Whatever fails is kept with what repeats it.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NOBODY = "nobody"


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="of wall time")
    parser.add_argument("--inputs", type=int, default=1 << 62, help="at most so many")
    parser.add_argument("--processes", type=int, default=500, help="real ones, besides")
    parser.add_argument("--attacks", type=int, default=200, help="on running views, besides")
    parser.add_argument("--only", type=int, help="repeat the input of this number")
    parser.add_argument(
        "--kind", action="append", default=[], help="only kinds that begin so; may be repeated"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=None, help="folder for the inputs that failed")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    return parser.parse_args()


def drop_privileges(folder: Path) -> None:
    """Make the folders of this user, or of nobody where this user is root, and become that one."""
    if os.getuid() == 0:
        user = pwd.getpwnam(NOBODY)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise SystemExit("make fuzz: it does not run as root")


def main() -> int:
    """Fuzz, and return the exit status: 1 if anything failed."""
    options = parse()
    kept = (options.out or Path("runs") / f"fuzz_{options.seed}").absolute()
    kept.mkdir(parents=True, exist_ok=True)
    if any(kept.iterdir()) and options.only is None:
        raise SystemExit(f"make fuzz: {kept} holds something: choose another --out")
    folder = Path(tempfile.mkdtemp(prefix="accord_fuzz_"))
    (folder / "home").mkdir()
    if os.getuid() == 0:
        os.chown(kept, pwd.getpwnam(NOBODY).pw_uid, -1)
    drop_privileges(folder)
    os.environ.update(
        HOME=str(folder / "home"), TMPDIR=str(folder / "home"), XDG_CACHE_HOME=str(folder / "home"),
        MPLCONFIGDIR=str(folder / "home"),
        OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1", COLUMNS="80",
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder / "home" / "numba"))
    tempfile.tempdir = str(folder / "home")
    root = HERE.parents[1]
    shared = [root / "test", *(root / "src").glob("*_ros/test")]
    sys.path[:0] = [str(HERE), *map(str, shared)]
    import network
    from arena import Arena

    try:
        arena = Arena(folder, kept, options.seed, options.workers)
        if options.only is not None:
            return arena.repeat(options.only)
        tally, failures = arena.fuzz(
            options.seconds, options.inputs, options.processes, tuple(options.kind) or ("",)
        )
        attacks = [] if options.kind else network.attacks(options.attacks, options.seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(tally, failures, attacks, options, kept)
    return 1 if failures or any(attack["why"] for attack in attacks) else 0


def report(
    tally: dict[tuple[str, str], Counter[str]],
    failures: list[dict[str, Any]],
    attacks: list[dict[str, Any]],
    options: argparse.Namespace,
    kept: Path,
) -> None:
    """Print what came of the inputs by command, and by kind of file, and of attacks on views."""
    tables = {}
    for place, name in enumerate(("kind", "command")):
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        for key, counts in tally.items():
            rows[key[place]].update(counts)
        tables[name] = {key: dict(rows[key]) for key in sorted(rows)}
    total: Counter[str] = Counter()
    for counts in tally.values():
        total.update(counts)
    if options.json:
        data = {"seed": options.seed, **tables, "total": dict(total), "failures": failures,
                "attacks": attacks}  # fmt: skip
        sys.stdout.write(json.dumps(data) + "\n")
        return
    import network
    from roboaccord.cli.console import make_table, out

    for name, rows in tables.items():
        table = make_table(name, "inputs", "refused", "accepted", "failed")
        for key, counts in [*rows.items(), ("all", total)]:
            done = [counts.get(what, 0) for what in ("refused", "accepted", "failed")]
            table.add_row(key, str(sum(done)), *map(str, done))
        out.print(table)
    for failure in failures[:20]:
        out.print(f"{failure['why']}: {failure['repeat']}", soft_wrap=True, highlight=False)
    out.print(f"seed {options.seed}: {sum(total.values())} inputs, {len(failures)} failed"
              + (f", kept in {kept}" if failures else ""))  # fmt: skip
    if attacks:
        network.report(attacks)


if __name__ == "__main__":
    sys.exit(main())
