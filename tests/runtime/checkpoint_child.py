"""Continues checkpoints of real TF 1.15.5 on the loop module, and writes some for it.

python checkpoint_child.py FOLDER

FOLDER has what TF 1.15 left, `recorded/handover` and `recorded/keras`. It is trained on
where it lies. The same programs begin in `begun` and go on in a copy, `continued`.
What was seen goes into FOLDER/seen.json.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
sys.path[:0] = [str(HERE), str(ORACLE / "lifecycle"), str(ORACLE / "checkpoint")]


def main(folder: Path) -> None:
    import handover
    import keras_program
    from legacy_names import LegacyTensorFlow

    tf = LegacyTensorFlow()
    tf.logging.set_verbosity(tf.logging.ERROR)
    recorded, begun, continued = (
        folder / name for name in ("recorded", "begun", "continued")
    )
    seen = {
        "handover": handover.finish(tf, str(recorded / "handover")),
        "keras": keras_program.train_all(tf, str(recorded / "keras"), 20, 10),
    }
    handover.start(tf, str(begun / "handover"))
    seen["keras begun"] = keras_program.train_all(tf, str(begun / "keras"), 10)
    shutil.copytree(begun, continued)
    seen["handover continued"] = handover.finish(tf, str(continued / "handover"))
    seen["keras continued"] = keras_program.train_all(
        tf, str(continued / "keras"), 20, 10
    )
    (folder / "seen.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
