"""Programs made at random and fixtures changed at random, and what must hold.

    python tests/project/fuzzing.py --seed 1 --programs 100000 --mutations 5000

runs a campaign: the generated programs and mutated fixtures number 0, 1, 2 and so
on of a seed, always the same ones. ``--first`` starts further on, so that a long
campaign can be done in parts. The ordinary tests let Hypothesis take the choices
instead, which then finds the smallest program that fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

from tfmigrate.project.deep import call_deep
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import Outcome
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job, process_source

sys.path.insert(0, str(Path(__file__).parent))
from whole_tree import compiles, stray_change

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "legacy").glob("*/*.py"))

IMPORTS = (
    "import tensorflow as tf",
    "import tensorflow",
    "import tensorflow.compat.v1 as tf",
    "from tensorflow import log, Session as S, nn, reduce_sum",
    "from tensorflow.contrib import data, slim",
    "from tensorflow.contrib.data import unbatch, AUTOTUNE",
    "from tensorflow.python.ops import array_ops, math_ops",
    "import tensorflow.contrib.layers as L",
    "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
    "layers = tf.layers",
    "from tensorflow import *",
    "import numpy as np",
    "from tensorflow import estimator as est",
    "import tensorflow_estimator as te",
    "if y:\n    from tensorflow.contrib.data import unbatch",
)
NAMES = (
    "tf.log", "tf.reduce_sum", "tf.nn.dropout", "tf.Session", "tf.layers.dense",
    "tf.contrib.slim.conv2d", "tf.contrib.data.unbatch", "tensorflow.log", "log",
    "S", "nn.softmax", "nn.dropout", "reduce_sum", "data.unbatch", "slim.conv2d",
    "unbatch", "array_ops.placeholder", "math_ops.reduce_sum", "L.l2_regularizer",
    "layers.dense", "np.log", "tf.nn.softmax_cross_entropy_with_logits", "tf.where",
    "tf.estimator.Estimator", "tf.argmax", "x", "getattr(tf, 'log')",
    "ds.make_one_shot_iterator", "est.EstimatorSpec", "te.estimator.ModeKeys",
    "tf.losses.sparse_softmax_cross_entropy", "tf.metrics.accuracy", "tf.string_split",
    "tf.train.AdamOptimizer", "tf.gfile.Exists", "tf.image.resize_images",
    "tf.train.get_or_create_global_step", "tf.global_variables_initializer",
    "tf.python_io.TFRecordWriter", "tf.data.Dataset.from_tensors(x).output_shapes",
)  # fmt: skip
KEYWORDS = (
    "keep_dims", "keepdims", "keep_prob", "rate", "axis", "dim", "name", "labels",
    "logits", "reduction_indices", "dimension", "delimiter",
)  # fmt: skip
ATOMS = (
    "1", "0.5", "x", "'s'", "(y)", "[1, 2]", "lambda tf: tf.log", "f'{x}'", "None",
    "tf.float32", "-1", "x if y else z", "(x := 1)", "b'tf'", "not x",
)  # fmt: skip
SHAPES = (
    "y = {}", "{}  # note", "def f(tf=1):\n    return {}", "x = y = {}; z = 2",
    "if x:\n\ty = {}\nelse:\n\tpass", "class A:\n  tf = 1\n  def m(self):\n    return {}",
    "for tf in {}:\n    pass", "with {} as tf:\n    tf.log(1)", "[{} for i in x]",
    "@{}\ndef g():\n    pass", "tf = {}", "lambda: {}", "assert {}, 'no'", "log = {}",
    "try:\n    {}\nexcept x:\n    tf.log(1)", "async def h():\n    await {}",
    "def d():\n    \"\"\"tf.log\"\"\"\n    global tf\n    tf = {}", "x = ({}).y[0]",
    "y: {} = 1", "del tf; {}", "while {}: break", 'f"""{{{}}}"""',
)  # fmt: skip

WORDS = (
    "model", "tf", "estimator", "batch", "features", "labels", "mode", "loss", "train",
    "eval", "input_fn", "params", "steps", "config", "x", "=", "self", "hooks", "1",
)  # fmt: skip


def call(random: Random, depth: int = 2) -> str:
    """A call, of what TensorFlow had or not, with arguments of all kinds."""
    name = random.choice(NAMES)
    if depth == 0:
        return random.choice((*ATOMS, name))

    def argument() -> str:
        if random.randint(0, 1):
            return random.choice(ATOMS)
        return call(random, depth - 1)

    parts = [argument() for _ in range(random.randint(0, 3))]
    keywords = dict.fromkeys(
        random.choice(KEYWORDS) for _ in range(random.randint(0, 2))
    )
    parts += [f"{keyword}={argument()}" for keyword in keywords]
    if random.randint(0, 9) == 9:
        parts.append(random.choice(("*x", "**x")))
    separator = random.choice((", ", ",", ",\n    ", " ,  "))
    return f"{name}({separator.join(parts)})"


def program(random: Random) -> bytes:
    """A small module: imports, then statements around calls."""
    lines = dict.fromkeys(random.choice(IMPORTS) for _ in range(random.randint(1, 4)))
    body = list(lines)
    for _ in range(random.randint(1, 5)):
        body.append(random.choice(SHAPES).format(call(random)))
    text = "\n".join(body) + random.choice(("\n", ""))
    return text.replace("\n", random.choice(("\n", "\n", "\r\n"))).encode()


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text("utf-8").splitlines(keepends=True))


def mutation(random: Random) -> bytes:
    """A fixture with lines deleted, doubled, swapped, cut; words replaced."""
    lines = list(_lines(random.choice(FIXTURES)))
    for _ in range(random.randint(1, 3)):
        index = random.randint(0, len(lines) - 1)
        # Most choices keep the file valid: what is refused checks little.
        action = random.choice((0, 1, 2, 3, 4, 4, 4, 4))
        if action == 0 and len(lines) > 1:
            del lines[index]
        elif action == 1:
            lines.insert(index, lines[index])
        elif action == 2:
            other = random.randint(0, len(lines) - 1)
            lines[index], lines[other] = lines[other], lines[index]
        elif action == 3:
            cut = random.randint(0, max(0, len(lines[index]) - 1))
            lines[index] = lines[index][:cut] + "\n"
        else:
            lines[index] = lines[index].replace(
                random.choice(WORDS), random.choice((*WORDS, "None", "tf.log", "("))
            )
    return "".join(lines).encode()


def check(raw: bytes) -> FileStatus:
    """The promises that hold for any input; what became of it."""
    result = process_source(Path("x.py"), raw, Job(), ProjectFacts())
    # A file may be refused for what is in it, never for what the tool did to it.
    error = result.error or ""
    assert not error.startswith(("internal error", "the rewrite")), error
    if result.status is not FileStatus.CHANGED:
        return result.status
    assert result.findings, "changed without a finding"
    assert result.new is not None
    # LibCST takes a little more than Python does.
    if compiles(raw):
        assert compiles(result.new), "the rewrite does not compile"
        told = [{"rule": f.rule, "line": f.line} for f in result.findings]
        stray = stray_change(raw, result.new, told)
        assert stray is None, stray
    again = process_source(Path("x.py"), result.new, Job(), ProjectFacts())
    assert again.new is None, "a second run changes something"
    assert not any(f.outcome is Outcome.REWRITTEN for f in again.findings)
    return result.status


def campaign(
    make: Callable[[Random], bytes], seed: int, first: int, number: int
) -> Counter[str]:
    """Check so many programs; failures are printed and counted."""
    counts: Counter[str] = Counter()
    begin = time.process_time()
    for index in range(first, first + number):
        try:
            raw = make(Random(f"{make.__name__} {seed} {index}"))
            counts[check(raw).name.lower()] += 1
        except Exception as error:
            counts["FAILED"] += 1
            print(f"{make.__name__} {seed} {index}: {type(error).__name__}: {error}")
        done = index - first + 1
        if done % 1000 == 0 or done == number:
            spent = time.process_time() - begin
            print(
                f"{make.__name__}: {done} of {number} from {first} on, seed {seed}: "
                f"{dict(counts)}; {done / spent:.0f} a second of CPU",
                flush=True,
            )
    return counts


def main() -> None:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--mutations", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for make, number in (
        (program, options.programs),
        (mutation, options.mutations),
    ):
        if number:
            # One large stack for all: to make one each time costs a fifth.
            failed += call_deep(
                partial(campaign, make, options.seed, options.first, number)
            )["FAILED"]
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
