"""Cases of options that belong to another mode of a command, or to the one that is chosen."""

from __future__ import annotations

from pathlib import Path
from random import Random

from cases import EDGES, EVERY, Case, argument, spoil
from mutations import WORDS
from roboaccord.cli.parameters import NO_FIGURES
from roboaccord.contract import SETUP, AccordError
from test_commands import ROOT
from test_modes import ARGUMENTS, Command, commands, make_named_files


def mode(rng: Random, seeds: Path) -> Case:
    """An option in a random mode: refused, or in force by what is printed."""
    Path("made").symlink_to(seeds)
    spoil("folder", "folder")
    command = rng.choice(commands())
    name = " ".join(command.words)
    examples = [*command.examples]
    if name in EVERY:
        examples.append(EVERY[name].format(out="results", root=ROOT).split())
    words = list(rng.choice(examples))
    make_named_files(words)
    own = set(" ".join(command.modes.options.values()).split()) & {ARGUMENTS, *command.flags}
    others = own - command.taken(command.mode(words))
    flags = sorted(others if others and rng.random() < 0.7 else own)
    named, refused = set[str](), False
    for flag in rng.sample(flags, min(len(flags), rng.choice((1, 1, 1, 2, 3)))):
        words += command.words_of(flag) if words or flag != ARGUMENTS else []
        named |= {flag} & command.options.keys()
    refused = _refused(command, words, named)
    if rng.random() < 0.2:  # of any value: then it may be refused for that, too
        place = rng.randrange(len(words) + 1)
        words[place:place] = [argument(rng.choice((*WORDS, *EDGES)))]
        refused, named = False, set()
    printed = "--json" in {each for p in command.parser.params for each in p.opts}
    if name == "teleop":
        named.discard("duration")  # at most: a drive ends as its keys say
    shown = sorted(each.replace("-", "_") for each in named - {*NO_FIGURES}) if printed else []
    words = [*command.words, *words, *["--json"] * printed]
    return Case(f"mode of {name}", words, refused, at_work=True, in_force=shown)


def _refused(command: Command, words: list[str], named: set[str]) -> bool:
    """Return whether an option is of none of the modes that the words select."""
    try:
        selected = command.mode(words)
    except AccordError:  # a file that selects the mode cannot be read
        return True
    having = " ".join(v for k, v in command.modes.options.items() if k != SETUP).split()
    return bool((named & {*having}) - command.taken(selected))
