"""Which recorded weights a training starts from, when a program has several.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import collections
import glob
import json
import os
import re

from .legacy_matching import MatchError, Weight, match_weights


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


def training_name(model_dir):
    """The last part of a model_dir; "" for none, and for one with a random name."""
    name = os.path.basename(str(model_dir or "").rstrip(os.sep))
    return "" if re.match(r"tmp[a-z0-9_]{8}$", name) else name


def shapes_of(arrays):
    """What two programs' weights have in common, whatever they are called."""
    return sorted(tuple(value.shape) for value in arrays)


def weights_of(named, document=None):
    """Arrays by name as weights to match; ``document`` is their recording's."""
    document = document or {}
    used = {place: turn for turn, place in enumerate(document.get("used") or ())}
    trained = document.get("trained", range(len(named)))
    found = []
    for place, (name, value) in enumerate(named):
        same = value.size and (value == value.flat[0]).all()
        constant = float(value.flat[0]) if same else None
        # One that no step uses comes last.
        turn = used.get(place, len(named)) if used else None
        found.append(Weight(name, value.shape, constant, turn, place in trained))
    return found


class StartingWeights:
    """The weights of a recording's trainings, each given to one training."""

    def __init__(self, path):
        # The file and the recording of each training that nobody started from yet.
        self._free = []
        # How many weights of the last training found their partners by what.
        self.evidence = {}
        # Whether trainings are given weights at all.
        self.given = path is not None
        if path is not None:
            folder, name = os.path.split(os.path.abspath(str(path)))
            further = glob.glob(os.path.join(folder, "training-*"))
            further.sort(key=lambda each: int(each.rpartition("-")[2]))
            for place in [folder, *further]:
                weights = os.path.join(place, name)
                if place == folder or os.path.exists(weights):
                    self._free.append((weights, _document(place)))
        self._alone = len(self._free) == 1

    def free_shapes(self):
        """The sorted shapes of each training that nobody started from yet."""
        return [_shapes_in(path) for path, _ in self._free]

    def values_for(self, name, weights, strict=True):
        """An array for each weight of a training; None where none are left for it.

        A weight that is not trained, and that the other program has not, gets None.
        Without ``strict`` weights that do not fit are as good as none.
        """
        wanted = sorted(weight.shape for weight in weights)

        def fits(index):
            return _shapes_in(self._free[index][0]) == wanted

        names = [document.get("training", "") for _, document in self._free]
        chosen = choose(name, names, range(len(names)), fits)
        if chosen is None and self._alone and self._free:
            chosen = 0  # its misfit is an error that names the weights
        if chosen is None:
            return None
        path, document = self._free[chosen]
        stored = read_arrays(path)
        try:
            match = match_weights(weights, weights_of(stored, document))
        except MatchError:
            if strict:
                raise
            return None
        del self._free[chosen]
        for ours, theirs in match.by_order:
            if len({stored[place][1].tobytes() for place in theirs}) == 1:
                for place in ours:  # whichever is given to which
                    match.evidence[place] = "equal values"
        self.evidence = dict(collections.Counter(filter(None, match.evidence)))
        return [None if place is None else stored[place][1] for place in match.places]


def _shapes_in(path):
    return shapes_of(value for _, value in read_arrays(path))


def _document(folder):
    try:
        with open(os.path.join(folder, "recording.json")) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}


def write_arrays(path, named):
    """Write named arrays in their order, as :func:`read_arrays` reads them."""
    import numpy as np

    keyed = {f"{place:03d}:{name}": value for place, (name, value) in enumerate(named)}
    np.savez_compressed(path, **keyed)


def read_arrays(path):
    """The weights of a file in their order.

    Flags are no weights: hooks that stop early keep one among the variables.
    """
    import numpy as np

    with np.load(path) as stored:
        keys = sorted(stored.files, key=lambda key: int(key.partition(":")[0]))
        named = [(key.partition(":")[2], stored[key]) for key in keys]
    return [(name, value) for name, value in named if value.dtype != bool]
