"""Tests that need a package of the repository which is not installed are skipped, with its name.

Nothing else is skipped here: the error itself must name the package, and the package be away.
Collection is made cheaper, too: there are two workers, and each collects all tests.
"""

from __future__ import annotations

import fcntl
import gc
import os
import re
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import yaml
from roboaccord.contract import plugins

ABSENT = [name for name in yaml.safe_load(plugins.INDEX.read_text("utf-8")) if not find_spec(name)]
# By Python, of modules and of entry points; by `lacking`, `share`, and a file of its folder.
SAID = (
    r"No module named '{0}['.]|No package metadata was found for (roboaccord_)?{0}\b"
    r"|src/{0} of the repository|package {0} is not installed|src/{0}/"
)

# Messages are compared, whose paths are as long as the folder of a test.
os.environ.setdefault("ROBOACCORD_COLUMNS", "100000")
gc.disable()  # while all tests are collected: these objects stay


def errors(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, those in it and those behind it."""
    if error is not None:
        yield error
        for each in getattr(error, "exceptions", ()):
            yield from errors(each)
        yield from errors(error.__cause__ or error.__context__)


def package_of(error: BaseException, printed: str) -> str:
    """Return the package that an error lacks; "" if it is another error."""
    text = "\n".join([printed, *map(str, errors(error))])
    return next((name for name in ABSENT if re.search(SAID.format(name), text)), "")


def skip(report: Any, call: pytest.CallInfo[Any], place: str) -> Any:
    """Let a failure for want of a package be a skip."""
    if (
        report.failed
        and call.excinfo
        and (package := package_of(call.excinfo.value, report.capstderr))
    ):
        report.outcome = "skipped"
        report.longrepr = (place, None, f"Skipped: {package} is not installed")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, Any, Any]:
    """Skip a test."""
    return skip((yield), call, str(item.path))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Skip a module; one worker imports and compiles it first, so that the other finds its code."""
    if isinstance(collector, pytest.Module):
        with collector.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            report = yield
    else:
        report = yield
    return skip(report, report.call, str(collector.path))


def pytest_collection_finish() -> None:
    """Let the garbage collector look through what tests make, and no more at what is there."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
