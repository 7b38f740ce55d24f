"""The command line `accord`.

Inside: the start of the process and its end (start, main, signals, interrupts, failures); commands
found and made from functions (groups, command, parameters, many_numbers, result); options that they
share (options, completion); their output (console, rendering, folder, notebook); and the commands
themselves (about, run, bags, crosscheck with levels, teleop with keys).

Commands, options, help and layout may change: those of `accord` are in COMMANDS (groups.py), a
robot's in its class, another package's are entry points of `roboaccord.commands`. What must stay:
names of commands and options, keys of `--json`, exit statuses, stdout for results alone, and names
in `__init__.pyi` (test_door). Tests: test_console, and in test/ test_commands, test_modes,
test_cli_errors, test_signals, test_start, test_completion, test_desk, test_teleop.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
