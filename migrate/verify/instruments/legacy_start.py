"""Which recorded weights a training starts from, when a program has several.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import glob
import json
import os

__all__ = ["StartingWeights", "choose"]


def choose(name, names, free, fits):
    """Which of the other program's trainings is the partner of this one, or None.

    ``free`` are the numbers of those that have no partner yet, ``fits`` tells of a
    number whether its weights have the shapes of this training's. The same name
    decides, then the first that fits; names are last parts of a model_dir.
    """
    named = [index for index in free if name and names[index] == name]
    if named:
        return named[0]
    return next((index for index in free if fits(index)), None)


def shapes_of(arrays):
    """What two programs' weights have in common, whatever they are called."""
    return sorted(tuple(value.shape) for value in arrays)


class StartingWeights:
    """The weights of a recording's trainings, each given to one training."""

    def __init__(self, path):
        self._names, self._paths = [], []
        if path is None:
            return
        path = str(path)
        folder = os.path.dirname(os.path.abspath(path))
        further = glob.glob(os.path.join(folder, "training-*"))
        further.sort(key=lambda each: int(each.rpartition("-")[2]))
        weights = [os.path.join(each, os.path.basename(path)) for each in further]
        for each in [path] + [each for each in weights if os.path.exists(each)]:
            self._paths.append(each)
            self._names.append(_name_of(os.path.dirname(os.path.abspath(each))))
        self._free = list(range(len(self._paths)))

    def weights_for(self, name, names, shapes):
        """Arrays ("000:name") for a training; None where none are left for it."""
        if not self._paths:
            return None
        wanted = sorted(tuple(shape) for shape in shapes)

        def fits(index):
            return shapes_of(self._read(index).values()) == wanted

        chosen = choose(name, self._names, self._free, fits)
        if chosen is None and len(self._paths) == 1 and self._free:
            chosen = 0  # its misfit is an error that names the weights
        if chosen is None:
            return None
        self._free.remove(chosen)
        return self._read(chosen)

    def _read(self, index):
        import numpy as np

        with np.load(self._paths[index]) as stored:
            return {key: stored[key] for key in stored.files}


def _name_of(folder):
    try:
        with open(os.path.join(folder, "recording.json")) as stream:
            return json.load(stream).get("training", "")
    except (OSError, ValueError):
        return ""
