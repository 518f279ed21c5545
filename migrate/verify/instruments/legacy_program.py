"""Runs an unedited Estimator program and records how it trained.

A standalone script: it needs Python 3.6, numpy and the TensorFlow it runs
under, which may be the real 1.12 or 1.15, or tfmigrate's compat layer on a
current one (--compat). It looks at the program from the outside, through
public hooks and methods, in a process that is its own, and so may:

* load given initial weights before the first step (--initial-weights),
* switch shuffling off (--no-shuffle), so that batches come in a fixed order,
* stop after a number of steps (--steps),
* put replicas on CPU devices (--replicas), whatever the program asks for,
* keep checkpoints out of the program's own folders (--model-dir).

The recording is a directory; its format is described in docs/recordings.md.

    python legacy_program.py --out DIR [options] program.py [its arguments]
"""

import argparse
import os
import random
import runpy
import sys

if __package__:
    from .legacy_outside import Outside
    from .legacy_patches import Instrument
    from .legacy_random import steady_random_operations
    from .legacy_record import quiet, write_recordings
else:  # run by its path, on an interpreter without tfmigrate
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        from legacy_outside import Outside
        from legacy_patches import Instrument
        from legacy_random import steady_random_operations
        from legacy_record import quiet, write_recordings
    finally:
        del sys.path[0]


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description="Run an unedited Estimator program and record its training."
    )
    parser.add_argument("--out", required=True, help="folder for the recording")
    parser.add_argument("--steps", type=int, help="stop at this global step")
    parser.add_argument(
        "--replicas", type=int, help="replicas on CPU devices instead of GPUs"
    )
    parser.add_argument("--initial-weights", help="npz file to start from")
    parser.add_argument(
        "--generate-weights",
        type=int,
        metavar="SEED",
        help="start from weights drawn by shape, the same everywhere",
    )
    parser.add_argument(
        "--light",
        action="store_true",
        help="write the norms of the weights instead of the weights",
    )
    parser.add_argument("--no-shuffle", action="store_true")
    parser.add_argument("--seed", type=int, help="seed where the program sets none")
    parser.add_argument(
        "--steady-random",
        action="store_true",
        help="random operations draw the same numbers in every program",
    )
    parser.add_argument("--threads", type=int, help="threads of each session")
    parser.add_argument("--model-dir", help="root for all model directories")
    parser.add_argument(
        "--estimator",
        type=int,
        help="record this estimator alone, by order of first training",
    )
    parser.add_argument(
        "--no-predictions", action="store_true", help="skip the fixed examples"
    )
    parser.add_argument(
        "--compat", action="store_true", help="run on tfmigrate's compat layer"
    )
    parser.add_argument("--name", help="name of the program in the recording")
    parser.add_argument("--path", help="folder of the script's package")
    parser.add_argument("--module", help="run the script as this module")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(outside=None)  # heard of while a program runs
    return parser.parse_args(argv)


def prepare_compat(options):
    """Let ``import tensorflow`` give the legacy surface, as ``tfmigrate run`` does."""
    from tfmigrate.compat.launcher.bygone import restore_python_names
    from tfmigrate.compat.launcher.old_protos import restore_old_protos
    from tfmigrate.compat.launcher.settings import Settings
    from tfmigrate.compat.launcher.trigger import arm

    arm(Settings(replicas=options.replicas))
    restore_python_names()
    restore_old_protos()


def run_compat_notebook(options):
    """The cells of a notebook, as ``tfmigrate run`` executes them."""
    from tfmigrate.compat.launcher.notebook import run_notebook

    run_notebook(options.script, options.arguments, shell_lines=False)


def main(argv=None):
    options = parse_arguments(sys.argv[1:] if argv is None else argv)
    if options.compat:
        prepare_compat(options)
    import numpy as np
    import tensorflow as tf

    seed = 0 if options.seed is None else options.seed
    random.seed(seed)
    np.random.seed(seed)
    if options.seed is not None:
        quiet(tf).set_random_seed(options.seed)
    if options.steady_random:
        steady_random_operations(tf)
    options.outside = Outside(options.out)
    instrument = Instrument(tf, options)
    instrument.install()
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    if options.path is not None:
        sys.path.insert(1, os.path.abspath(options.path))
    try:
        if options.compat and options.script.endswith(".ipynb"):
            run_compat_notebook(options)
        elif options.module is not None:
            # As `python -m` does, which knows the package of what it runs.
            runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(options.script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        options.outside.leave()
    trained = [record for record in instrument.records if record.losses]
    wanted = options.estimator
    if not trained:
        raise SystemExit("it trained nothing: no Estimator took a step")
    if len(trained) <= (wanted or 0):
        raise SystemExit(
            f"{options.script} trained {len(trained)} estimator(s); "
            f"number {wanted or 0} was to be recorded"
        )
    if wanted is not None:
        trained = [trained[wanted]]
    write_recordings(tf, options, trained, instrument.export_bases)


if __name__ == "__main__":
    main()
