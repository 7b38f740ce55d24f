"""The page of a bench: tables of engines by problems, and a diagram for each problem."""

from datetime import date
from pathlib import Path

from roboaccord.contract import writing
from roboaccord.report import Still, colour_of, legend, picture, render_page

from roboaccord_bench import shown
from roboaccord_bench.bench import Json
from roboaccord_bench.found import load_problem

WIDTH, HEIGHT = 3.0, 3.2  # of a case in a diagram [inches]
ROW = 4  # most cases beside each other
LEAST = 1e-3  # error below which the scale of a diagram is linear


def write_page(data: Json, path: Path, command: str) -> Path:
    """Write the page of results and its diagrams, and return its file."""
    by_problem = dict[str, list[Json]]()
    for entry in data["problems"]:
        by_problem.setdefault(entry["name"], []).append(entry)
    results = [result for entry in data["problems"] for result in entry["results"]]
    page = render_page(
        "bench.html",
        __package__,
        title="Contact: engines against exact answers",
        lead=f"{date.today():%Y-%m-%d}. Each engine by its default options, and by one expert's.",
        by_problem=by_problem,
        columns=list(dict.fromkeys(map(shown.engine_text, results))),
        problems={name: load_problem(name) for name in by_problem},
        shown=shown,
        plots=[_diagram(of, path.with_name(f"{n}.svg")) for n, of in by_problem.items()],
        figures=[],
        command=command,
        facts={result["engine"]: result["version"] for result in results},
    )
    with writing(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def _diagram(entries: list[Json], path: Path) -> Still:
    """Draw the errors of a problem over the step, axes for each case."""
    problem = load_problem(path.stem)
    engines = sorted({each["engine"] for entry in entries for each in entry["results"]})
    columns, rows = min(len(entries), ROW), -(-len(entries) // ROW)
    size = WIDTH * max(columns, 2), HEIGHT * rows
    factor = 100.0 if any(entry["exact"] for entry in entries) else 1.0
    with picture(path, size, nrows=rows, ncols=columns, sharey=True, squeeze=False) as axes:
        for axis, entry in zip(axes.flat, entries, strict=True):
            for result in entry["results"]:
                style = "--" if result["setting"] == "default" else "-"
                errors = [factor * error for error in result["error"]]
                steps = [1e3 * step for step in result["step"]]
                look = {"color": colour_of(result["engine"], engines), "marker": "o"}
                label = shown.engine_text(result)
                axis.plot(steps[: len(errors)], errors, style, label=label, **look)
            title = shown.case_text(entry["case"]).replace(", ", "\n")
            axis.set(title=title, xlabel="step [ms]", xscale="log")
            axis.set_yscale("symlog", linthresh=factor * LEAST * problem.scale)
            axis.set_xticks(steps, [f"{step:g}" for step in steps])
            axis.minorticks_off()
        for axis in axes[:, 0]:
            axis.set_ylabel("error [%]" if factor > 1.0 else f"error [{problem.unit}]")
        legend(axes[0, 0])
    again = f"accord bench {problem.name} --engines {','.join(engines)}"
    caption = f"{problem.figure}. Exact: {problem.source}. `{again}`"
    return Still(path, problem.name.replace("_", " "), caption)
