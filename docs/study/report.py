"""Writes README.md and accuracy.svg of this folder from runs.jsonl.

python docs/study/report.py
"""

from __future__ import annotations

import itertools
import statistics
from typing import Any

from tfmigrate.verify.statistics import equivalence
from train import HERE, SIDES, finished

MARGIN = 0.005
NAMES = {
    "tf115": "real TensorFlow 1.15.5",
    "compat": "`tfmigrate run`",
    "tf_keras": "rewritten, tf_keras",
    "keras3": "rewritten, Keras 3",
}
TITLES = {
    "article": "The article's program: five epochs, batches of 512 for each replica",
    "ten_epochs": "Ten epochs, batches of 64 for each replica",
}
HEAD = """\
# Fashion-MNIST in full: the same accuracy?

Written by `docs/study/report.py` from `runs.jsonl`; do not edit.

The program of [fixtures/legacy/fashion_mnist_mirrored](../../fixtures/legacy/\
fashion_mnist_mirrored/train.py), the article's three convolutions with Adam, is trained
again and again on all 60,000 images, shuffled, from random initial weights, and
evaluated on the 10,000 test images: unedited on real TensorFlow 1.15.5, unedited under
`tfmigrate run`, and rewritten. Everything but real TensorFlow 1.15.5 runs on TensorFlow
2.21. Replicas are CPU devices. A seed sets weights and shuffling; the releases draw
other numbers from it, so runs of one seed are not pairs.

*Equivalent* means that both one-sided Welch tests reject, at the 5 % level, a true
difference of half a percentage point or more. The test can fail to show equivalence
because there is a difference, or because runs differ too much among themselves for
their number; the interval (90 %) tells which: equivalence is shown when it lies within
±0.50. Runs were added until the tests could tell, with looks at the figures between
(after 6, 13, 14, 15 and 16 seeds), which makes them a little too kind.

![Accuracy of every run](accuracy.svg)
"""
TAIL = """
## Again

```sh
TFMIGRATE_TF115_PYTHON=/path/to/python3.7 python docs/study/train.py --seeds 1 2 3 4 5
python docs/study/report.py
```

The first takes one to three minutes for each run on two cores, goes on where it was cut
and leaves out what `runs.jsonl` holds. Delete that file to begin anew.
"""

Groups = dict[tuple[str, int, str], list[dict[str, Any]]]


def grouped() -> Groups:
    """The runs of each program, number of replicas and side, in order of seeds."""
    groups: Groups = {}
    for run in sorted(finished(), key=lambda run: run["seed"]):
        key = (run["program"], run["replicas"], run["side"])
        groups.setdefault(key, []).append(run)
    return groups


def accuracies(runs: list[dict[str, Any]]) -> list[float]:
    return [run["accuracy"] for run in runs]


def interval(first: list[float], second: list[float]) -> tuple[float, float]:
    """The 90 % interval of second minus first: where the one-sided tests turn."""

    def shown(margin: float) -> bool:
        return equivalence(first, second, margin=margin).equivalent

    difference = statistics.fmean(second) - statistics.fmean(first)
    below, above = abs(difference), 1.0
    for _ in range(50):
        middle = (below + above) / 2
        below, above = (below, middle) if shown(middle) else (middle, above)
    # The smallest margin that is shown is |difference| and half the interval's width.
    half = above - abs(difference)
    return difference - half, difference + half


def table(groups: Groups, program: str, replicas: int) -> list[str]:
    lines = [
        "| | runs | steps | accuracy, mean (standard deviation) | "
        "from real TensorFlow, points (90 %) | equivalent within 0.5 |",
        "|---|---|---|---|---|---|",
    ]
    real = accuracies(groups.get((program, replicas, "tf115"), []))
    for side in SIDES:
        runs = groups.get((program, replicas, side), [])
        if not runs:
            continue
        found = accuracies(runs)
        steps = ", ".join(str(step) for step in sorted({run["steps"] for run in runs}))
        spread = f" ({100 * statistics.stdev(found):.2f})" if len(found) > 1 else ""
        cells = [
            NAMES[side],
            str(len(runs)),
            steps,
            f"{100 * statistics.fmean(found):.2f}{spread}",
            "",
            "",
        ]
        if side != "tf115" and min(len(real), len(found)) > 1:
            low, high = (100 * end for end in interval(real, found))
            result = equivalence(real, found, margin=MARGIN)
            cells[4] = f"{100 * result.difference:+.2f} ({low:+.2f} to {high:+.2f})"
            answer = "yes" if result.equivalent else "not shown"
            cells[5] = f"{answer}, p = {result.p_value:.3f}"
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def same_in_both_kerases(groups: Groups, program: str) -> str:
    """How many runs of one seed have one accuracy in tf_keras and in Keras 3."""
    pairs = [
        (one["accuracy"], other["accuracy"])
        for (name, replicas, side), runs in groups.items()
        if name == program and side == "tf_keras"
        for one, other in itertools.product(
            runs, groups.get((program, replicas, "keras3"), [])
        )
        if one["seed"] == other["seed"]
    ]
    if not pairs:
        return ""
    same = sum(one == other for one, other in pairs)
    return (
        f"\nOf {len(pairs)} seeds that were trained with tf_keras and with Keras 3, "
        f"{same} have the same accuracy to the last digit.\n"
    )


def raw(groups: Groups, program: str) -> list[str]:
    lines = [
        "",
        "Every run, by seed:",
        "",
        "| | replicas | accuracy |",
        "|---|---|---|",
    ]
    for (name, replicas, side), runs in sorted(groups.items()):
        if name == program:
            found = ", ".join(f"{run['accuracy']:.4f}" for run in runs)
            lines.append(f"| {NAMES[side]} | {replicas} | {found} |")
    return lines


def draw(groups: Groups) -> None:
    """Every run as a point, each group's mean as a line."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tfmigrate"
    from matplotlib import pyplot

    keys = sorted(groups, key=lambda key: (key[0], key[1], SIDES.index(key[2])))
    figure, axes = pyplot.subplots(figsize=(8, 0.45 * len(keys) + 1.2))
    for place, key in enumerate(keys):
        found = [100 * one for one in accuracies(groups[key])]
        axes.plot(found, [place] * len(found), "o", alpha=0.6, color="tab:blue")
        mean = statistics.fmean(found)
        axes.plot([mean, mean], [place - 0.3, place + 0.3], color="black")
    axes.set_yticks(range(len(keys)))
    axes.set_yticklabels(
        [
            f"{NAMES[side].strip('`')}, {replicas} replica{'s'[: replicas - 1]}"
            + ("" if program == "article" else ", ten epochs")
            for program, replicas, side in keys
        ]
    )
    axes.invert_yaxis()
    axes.set_xlabel("accuracy on the test images, %")
    axes.grid(axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(HERE / "accuracy.svg", metadata={"Date": None})


def main() -> None:
    groups = grouped()
    parts = [HEAD]
    for program in dict.fromkeys(key[0] for key in groups):
        parts.append(f"\n## {TITLES[program]}\n")
        for replicas in sorted({key[1] for key in groups if key[0] == program}):
            plural = "" if replicas == 1 else "s"
            rows = "\n".join(table(groups, program, replicas))
            parts.append(f"\n{replicas} replica{plural}:\n\n{rows}\n")
        parts.append(same_in_both_kerases(groups, program))
        parts.append("\n".join(raw(groups, program)) + "\n")
    parts.append(TAIL)
    (HERE / "README.md").write_text("".join(parts))
    draw(groups)


if __name__ == "__main__":
    main()
