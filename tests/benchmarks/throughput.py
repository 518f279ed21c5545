"""Images per second: compat, its rewrite, and a loop written by hand.

    python tests/benchmarks/throughput.py [--rounds 3] [--replicas 1] [--epochs 1]

All three train the bundled program's network on the same images. They take turns
in each round, so that a machine which slows down slows all of them; what counts
are the ratios of the medians. With TFMIGRATE_TF215_PYTHON or
TFMIGRATE_TF115_PYTHON set, the legacy program on real TensorFlow joins in.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tfmigrate.datasets import make_keras_home

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "fixtures"
PROGRAM = "fashion_mnist_mirrored/train.py"

# Runs a TF2 script with GPUs replaced by logical CPUs, and nothing else changed.
ON_CPUS = """
import runpy, sys
from tfmigrate.verify.instruments.tf2_devices import use_cpu_replicas
use_cpu_replicas(int(sys.argv[1]))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def contestants(replicas: int) -> dict[str, list[str]]:
    """Name -> command of each side."""
    tf2 = [sys.executable, "-c", ON_CPUS, str(replicas)]
    run = [sys.executable, "-m", "tfmigrate", "run", "--replicas", str(replicas)]
    found = {
        "compat": [*run, str(FIXTURES / "legacy" / PROGRAM)],
        "rewritten": [*tf2, str(FIXTURES / "expected" / PROGRAM)],
        "by hand": [*tf2, str(HERE / "handwritten_loop.py")],
    }
    real = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if real:
        instrument = HERE.parents[1] / "migrate/verify/instruments/legacy_program.py"
        found["TF 1.15"] = [
            *[real, str(instrument), "--replicas", str(replicas)],
            *["--no-predictions", "--out", tempfile.mkdtemp()],
            str(FIXTURES / "legacy" / PROGRAM),
        ]
    return found


def main() -> None:
    """Take turns, print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--full", action="store_true", help="all 60,000 images")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            **os.environ,
            **make_keras_home(scratch, sample=not options.full, noise=False),
            "EPOCHS": str(options.epochs),
            "BATCH_SIZE": str(options.batch),
            "NUM_GPUS": str(options.replicas),
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        speeds: dict[str, list[float]] = {}
        for number in range(options.rounds):
            for name, command in contestants(options.replicas).items():
                result = subprocess.run(
                    command,
                    env={**environment, "MODEL_DIR": f"{scratch}/{number}-{name}"},
                    capture_output=True,
                    text=True,
                )
                found = re.findall(r"([\d.]+) images/second", result.stdout)
                if not found:
                    sys.exit(f"{name} failed:\n{result.stdout}{result.stderr}")
                speeds.setdefault(name, []).append(float(found[-1]))
                print(f"round {number + 1}  {name:10} {found[-1]:>9}", flush=True)
    yardstick = statistics.median(speeds["by hand"])
    print(f"\n{'':12}{'images/s':>10}{'to the hand-written loop':>28}")
    for name, found_speeds in speeds.items():
        middle = statistics.median(found_speeds)
        print(f"{name:12}{middle:>10.0f}{middle / yardstick:>28.2f}")


if __name__ == "__main__":
    main()
