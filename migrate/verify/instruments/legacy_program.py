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
import importlib
import os
import runpy
import sys
import traceback


def common_parser(description):
    """The options that the instruments of both generations have."""
    parser = argparse.ArgumentParser(description=description)
    option = parser.add_argument
    option("--out", required=True, help="folder for the recording")
    option("--steps", type=int, help="stop at this global step")
    option("--replicas", type=int, help="replicas on CPU devices instead of GPUs")
    option("--initial-weights", help="npz file to start from")
    option("--no-shuffle", action="store_true", help="data in file order")
    option("--seed", type=int, help="seed where the program sets none")
    option(
        "--steady-random",
        action="store_true",
        help="random operations draw the same numbers in every program",
    )
    option("--threads", type=int, help="threads inside one operation")
    option("--no-predictions", action="store_true", help="skip the fixed examples")
    option("--path", help="folder of the script's package")
    option("--module", help="run the script as this module, as python -m")
    option("script")
    option("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(outside=None)  # heard of while a program runs
    return parser


def parse_arguments(argv):
    parser = common_parser("Run an unedited Estimator program and record its training.")
    option = parser.add_argument
    option(
        "--generate-weights",
        type=int,
        metavar="SEED",
        help="start from weights drawn by shape, the same everywhere",
    )
    option(
        "--light",
        action="store_true",
        help="write the norms of the weights instead of the weights",
    )
    option("--model-dir", help="root for all model directories")
    option("--compat", action="store_true", help="run on tfmigrate's compat layer")
    option("--name", help="name of the program in the recording")
    return parser.parse_args(argv)


def enter(options):
    """Make the arguments and the path of this process those of the program."""
    script = os.path.abspath(options.script)
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(script)
    if options.path is not None:
        sys.path.insert(1, os.path.abspath(options.path))


def prepare_compat(options):
    """Let ``import tensorflow`` give the legacy surface, as ``tfmigrate run`` does."""
    from tfmigrate.compat.launcher.bygone import restore_python_names
    from tfmigrate.compat.launcher.old_protos import restore_old_protos
    from tfmigrate.compat.launcher.settings import Settings
    from tfmigrate.compat.launcher.trigger import arm

    arm(Settings(replicas=options.replicas))
    restore_python_names()
    restore_old_protos()


def run(options):
    """Run the program as ``__main__``."""
    enter(options)
    if options.compat and options.script.endswith(".ipynb"):
        from tfmigrate.compat.launcher.notebook import run_notebook

        run_notebook(options.script, options.arguments, shell_lines=False)
    elif options.module is not None:
        # As `python -m` does, which knows the package of what it runs.
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(options.script, run_name="__main__")


def main(argv=None):
    from .legacy_outside import Outside
    from .legacy_patches import Instrument, steady
    from .legacy_record import write_recordings

    options = parse_arguments(sys.argv[1:] if argv is None else argv)
    if options.compat:
        prepare_compat(options)
    import tensorflow as tf

    options.outside = Outside(options.out)
    instrument = Instrument(tf, options)
    # First of all: the rest looks into tf.contrib, whose RunConfig is then made.
    instrument.install()
    steady(tf, options)
    try:
        run(options)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    except Exception:
        # A training that was stopped early may leave nothing that goes on from it.
        stopped = options.steps or float("inf")
        if not any(one.global_step >= stopped for one in instrument.records):
            raise
        traceback.print_exc()
    finally:
        options.outside.leave()
    trained = [record for record in instrument.records if record.losses]
    if not trained:
        raise SystemExit("it trained nothing: no Estimator took a step")
    write_recordings(tf, options, trained, instrument.export_bases)


def run_by_path():
    """Run this file on an interpreter without tfmigrate, as a module of a package."""
    package = type(sys)("tfmigrate_instruments")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules[package.__name__] = package
    importlib.import_module(package.__name__ + ".legacy_program").main()


if __name__ == "__main__":
    if __package__:
        main()
    else:
        run_by_path()
