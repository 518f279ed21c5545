"""Which recorded weights a training starts from, when a program has several.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import collections
import glob
import json
import os
import re

if __package__:
    from .legacy_matching import MatchError, Weight, match_weights
else:  # run by its path, on an interpreter without tfmigrate
    from legacy_matching import MatchError, Weight, match_weights


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


def constant_of(value):
    """The number that all elements of an array are; None where they differ."""
    first = value.flat[0] if value.size else None
    return float(first) if value.size and (value == first).all() else None


def weights_of(named, document=None):
    """Arrays by name as weights to match; ``document`` is their recording's."""
    document = document or {}
    used = {place: turn for turn, place in enumerate(document.get("used") or ())}
    trained = document.get("trained")
    return [
        Weight(
            name,
            value.shape,
            constant_of(value),
            # One that no step uses comes last.
            used.get(place, len(named)) if used else None,
            trained is None or place in trained,
        )
        for place, (name, value) in enumerate(named)
    ]


class StartingWeights:
    """The weights of a recording's trainings, each given to one training."""

    def __init__(self, path):
        self._paths, self._documents, self._free = [], [], []
        # How many weights of the last training found their partners by what.
        self.evidence = {}
        if path is None:
            return
        path = str(path)
        folder = os.path.dirname(os.path.abspath(path))
        further = glob.glob(os.path.join(folder, "training-*"))
        further.sort(key=lambda each: int(each.rpartition("-")[2]))
        weights = [os.path.join(each, os.path.basename(path)) for each in further]
        for each in [path] + [each for each in weights if os.path.exists(each)]:
            self._paths.append(each)
            self._documents.append(_document(os.path.dirname(os.path.abspath(each))))
        self._free = list(range(len(self._paths)))

    @property
    def given(self):
        """Whether trainings are given weights at all."""
        return bool(self._paths)

    def free_shapes(self):
        """The sorted shapes of each training that nobody started from yet."""
        return [
            shapes_of(value for _, value in self._read(index)) for index in self._free
        ]

    def values_for(self, name, weights, strict=True):
        """An array for each weight of a training; None where none are left for it.

        A weight that is not trained, and that the other program has not, gets None.
        Without ``strict`` weights that do not fit are as good as none.
        """
        if not self._paths:
            return None
        wanted = sorted(weight.shape for weight in weights)

        def fits(index):
            return shapes_of(value for _, value in self._read(index)) == wanted

        names = [document.get("training", "") for document in self._documents]
        chosen = choose(name, names, self._free, fits)
        if chosen is None and len(self._paths) == 1 and self._free:
            chosen = 0  # its misfit is an error that names the weights
        if chosen is None:
            return None
        stored = self._read(chosen)
        try:
            match = match_weights(weights, weights_of(stored, self._documents[chosen]))
        except MatchError:
            if strict:
                raise
            return None
        self._free.remove(chosen)
        for ours, theirs in match.by_order:
            if len({stored[place][1].tobytes() for place in theirs}) == 1:
                for place in ours:  # whichever is given to which
                    match.evidence[place] = "equal values"
        self.evidence = dict(collections.Counter(filter(None, match.evidence)))
        return [None if place is None else stored[place][1] for place in match.places]

    def _read(self, index):
        import numpy as np

        with np.load(self._paths[index]) as stored:
            keys = sorted(stored.files, key=lambda key: int(key.partition(":")[0]))
            named = [(key.partition(":")[2], stored[key]) for key in keys]
        # Hooks that stop early keep a flag among the variables, which is no weight.
        return [(name, value) for name, value in named if value.dtype != bool]


def _document(folder):
    try:
        with open(os.path.join(folder, "recording.json")) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}
