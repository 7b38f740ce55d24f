"""Write config/, models/ and worlds/ of the workspace anew: `make shared`."""

from __future__ import annotations

import sys
from pathlib import Path

from roboaccord.cli import complain
from roboaccord.contract import AccordError, drafting
from roboaccord.description import share
from roboaccord.run import make_folder
from roboaccord.scenario import robot_names

from roboaccord_ros.shared.files import shared_files


def main(words: list[str]) -> int:
    """Write the files into the folder that is named, or else where they are installed from."""
    try:
        top = Path(words[0]) if words else share("roboaccord_ros")
        for path, content in shared_files(robot_names()).items():
            with drafting(make_folder(top, Path(path).parent) / Path(path).name) as draft:
                draft.write_bytes(content)
    except AccordError as error:
        return complain(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
