"""The command line `accord`.

Inside are: the start and the end of the process (start, main, signals, interrupts, failures); how
commands are found and made from functions (groups, command, parameters, many_numbers, result);
options that several commands share (options, completion); their output (console, rendering, folder,
notebook); and the commands themselves (about, run, bags with comparison, crosscheck with levels,
teleop with keys, dashboard and terminal).

The commands of `accord` are listed in COMMANDS (groups.py), those of a robot in its class, and
those of other packages are entry points of `roboaccord.commands`. Help and layout may change. What
must stay: names of commands and options, keys of `--json`, exit statuses, results alone on stdout,
and the names in `__init__.pyi` (test_door). Tests: test_console, and in test/ test_commands,
test_modes, test_cli_errors, test_signals, test_start, test_completion, test_desk, test_teleop.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
