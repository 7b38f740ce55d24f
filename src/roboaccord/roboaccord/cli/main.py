"""The command `accord`, and the one place where errors become a line and an exit status."""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

import typer

from roboaccord.cli.lazy import LazyGroup
from roboaccord.contract.errors import AccordError
from roboaccord.contract.version import VERSION

app = typer.Typer(
    name="accord",
    cls=LazyGroup,
    help="Run the same robots in independent simulators, record, compare and explain.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Run the same robots in independent simulators, record, compare and explain."""
    if version:
        typer.echo(f"roboaccord {VERSION}")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit with 0, 1 for a failed verdict, 2 for an error."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    sys.exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    """Run the command line on words, and return the exit status."""
    try:
        status = app(words, standalone_mode=False, prog_name="accord")
    except AccordError as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return complain("interrupted", 130)
    except BrokenPipeError:
        return 0
    except MemoryError:
        return complain("there is not enough memory for this")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}")
    except Exception as error:
        # Typer carries its own click, so a usage error is known by what it offers.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        return complain(message) if message.strip() else 0  # without words: the help is shown
    return status if isinstance(status, int) else 0


def complain(message: str, status: int = 2) -> int:
    """Print one line on stderr, and return the exit status; a shell that completes sees none."""
    if "_ACCORD_COMPLETE" not in os.environ:
        print(f"accord: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status


if __name__ == "__main__":
    main()
