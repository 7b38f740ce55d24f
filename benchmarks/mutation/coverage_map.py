"""Plugins of pytest: which lines and kernels each test runs, and running chosen tests only."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

OUT = "ACCORD_COVERAGE_MAP"  # environment variable: the file to write


def name_of(item: pytest.Item) -> str:
    """Return the name of a test, the same in each copy of the tree, whose path may be in it."""
    return item.nodeid.replace(str(item.config.rootpath), ".")


class Only:
    """Run chosen tests, in their order. One that an error has renamed is left out.

    Args:
        names: of the tests.
    """

    def __init__(self, names: list[str]) -> None:
        self._rank = {name: i for i, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Take the chosen tests."""
        chosen = (item for item in items if name_of(item) in self._rank)
        items[:] = sorted(chosen, key=lambda item: self._rank[name_of(item)])


class Recorder:
    """Record tests with their time, whether they pass, lines by file, and kernels.

    Lines of compiled kernels are not seen, so a call of one counts for it and all that it calls.
    """

    def __init__(self, root: Path) -> None:
        import coverage

        self.root, self.test = root, ""
        self.tests = dict[str, dict[str, Any]]()
        self._closures = dict[Any, set[str]]()
        self._coverage = coverage.Coverage(
            data_file=None,
            config_file=False,
            include=[f"{root}/src/*", f"{root}/test/*"],
            omit=[__file__],
        )
        self._coverage.start()
        self._watch_kernels()

    def _watch_kernels(self) -> None:
        from roboaccord.numerics.jit import Kernel

        plain = Kernel.__call__

        def called(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            if self.test:
                self.tests[self.test]["kernels"] |= self._closure(kernel)
            return plain(kernel, *args, **kwargs)

        Kernel.__call__ = called  # type: ignore[method-assign]

    def _closure(self, kernel: Any) -> set[str]:
        """Return a kernel and those that it calls, as file and name."""
        if kernel not in self._closures:
            found = self._closures[kernel] = {self._name(kernel.function)}
            scope = kernel.function.__globals__
            for name in kernel.function.__code__.co_names:
                inner = scope.get(name)
                if getattr(inner, "is_kernel", False) and inner is not kernel:
                    found |= self._closure(inner)
        return self._closures[kernel]

    def _name(self, function: Any) -> str:
        file = Path(function.__code__.co_filename)
        path = file.relative_to(self.root) if file.is_relative_to(self.root) else file
        return f"{path}:{function.__qualname__}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.test = name_of(item)
        self.tests[self.test] = {"passed": True, "kernels": set()}
        self._coverage.switch_context(self.test)
        before = time.process_time()
        found = yield
        self.tests[self.test]["time"] = time.process_time() - before
        return found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.tests[self.test]["passed"] = False

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data, lines = self._coverage.get_data(), dict[str, dict[str, list[str]]]()
        for file in data.measured_files():
            path = str(Path(file).relative_to(self.root))
            tested = path.startswith("src/") and path.split("/")[2] != "test"
            contexts = data.contexts_by_lineno(file) if tested else {}
            by_line = {str(n): [name for name in names if name] for n, names in contexts.items()}
            lines[path] = {number: names for number, names in by_line.items() if names}
        tests = {n: t | {"kernels": sorted(t["kernels"])} for n, t in self.tests.items()}
        Path(os.environ[OUT]).write_text(json.dumps({"tests": tests, "lines": lines}))


def pytest_configure(config: pytest.Config) -> None:
    """Record where the environment names a file."""
    if os.environ.get(OUT):
        config.pluginmanager.register(Recorder(config.rootpath))
