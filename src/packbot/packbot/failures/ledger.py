"""Files that keep what a study has found so far, so that one that was ended can go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST, read_text, writing


class Ledger:
    """Keep the rows of a study in a file, a line each.

    Args:
        path: of the file.
        options: of the study, which those of the file must be.

    Attributes:
        rows: all that are kept.

    Raises:
        AccordError: if the file is of another study, or cannot be read.
    """

    def __init__(self, path: Path, options: Mapping[str, Any]) -> None:
        self._path, self.rows = path, list[dict[str, Any]]()
        head = json.dumps(dict(options), sort_keys=True)
        if not path.exists():
            with writing(path) as draft:
                draft.write_text(head + "\n", encoding="utf-8")
            return
        text = read_text(path, LARGEST)
        try:
            first, *lines = text.splitlines()
            self.rows = [dict(json.loads(line)) for line in lines if line.endswith("}")]
        except (ValueError, TypeError, RecursionError):
            raise AccordError(f"{path} is no file of a study") from None
        if first != head:
            raise AccordError(f"{path} is of another study: choose another --out")
        if not text.endswith("\n"):  # it was ended within a line
            path.write_text(text + "\n", encoding="utf-8")

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add rows, and write them."""
        new = list(rows)
        self.rows += new
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in new)
