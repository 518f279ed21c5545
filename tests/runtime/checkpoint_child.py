"""Continues checkpoints of real TF 1.15.5 on the loop module, and writes some for it.

python checkpoint_child.py recorded FOLDER
python checkpoint_child.py continued FOLDER

FOLDER has what TF 1.15 left, `recorded/handover` and `recorded/keras`: it is trained on
where it lies, and the same programs begin in `begun`. Later they go on there in a copy,
`continued`. What was seen goes into FOLDER/recorded.json or FOLDER/continued.json.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
sys.path[:0] = [str(HERE), str(ORACLE / "lifecycle"), str(ORACLE / "checkpoint")]


def main(phase: str, folder: Path) -> None:
    import handover
    import keras_program
    from legacy_names import LegacyTensorFlow

    tf = LegacyTensorFlow()
    tf.logging.set_verbosity(tf.logging.ERROR)
    place, begun = folder / phase, folder / "begun"
    if phase == "continued":
        shutil.copytree(begun, place)
    seen = {
        "handover": handover.finish(tf, str(place / "handover")),
        "keras": keras_program.train_all(tf, str(place / "keras"), 20, 10),
    }
    if phase == "recorded":
        handover.start(tf, str(begun / "handover"))
        seen["begun"] = keras_program.train_all(tf, str(begun / "keras"), 10)
    (folder / f"{phase}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
