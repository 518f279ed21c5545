"""What is noted of an Estimator's training, and the recording that is made of it.

Runs on the Pythons of TF 1.x, 3.6 among them. The recording's format is described
in docs/recordings.md.
"""

import itertools
import json
import os
import platform
import re
import sys
import tempfile

from .legacy_start import weights_of, write_arrays
from .legacy_weights import (
    base_name,
    drawn_weights,
    first_uses,
    generated_weights,
    optimizer_constants,
    read_weights,
    variable_names,
    write_weights,
)  # fmt: skip

FORMAT = 1
FIXED_EXAMPLES = 8


class Record:
    """One Estimator's training: all calls of its `train` together."""

    def __init__(self, estimator, name=""):
        self.estimator = estimator
        # Where its checkpoints are.
        self.files = getattr(estimator, "model_dir", None)
        # The last part of the model_dir that the program gave it.
        self.name = name
        self.losses = []
        self.evaluations = []
        # Those of a program that evaluates in a way of its own.
        self.figures = {}
        self.hook_calls = []
        self.names = None
        self.initial = None
        self.final = None
        self.drawn = None
        # What the optimizer keeps for each variable, in order of creation.
        self.slots = []
        self.global_step = 0
        self.input_fn = None
        self.replicas = 1
        # Places of the weights in the order of first use, and of those trained.
        self.used = []
        self.trained = []
        self.constants = {}
        # How many weights found their partners by what, where they were given others.
        self.paired = {}
        # Operations that draw random numbers for its loss.
        self.draws = []
        self.ran_whole = True


def quiet(tf):
    """The same functions under the names for which TF 1.15 prints no advice."""
    return getattr(tf.compat, "v1", tf)


def replicas_of(estimator):
    """How many replicas an Estimator trains on: more than one with a strategy."""
    strategy = getattr(estimator, "_train_distribution", None)
    # TF 1.12 calls them towers.
    for name in ("num_replicas_in_sync", "num_replicas", "num_towers"):
        if strategy is not None and hasattr(strategy, name):
            return int(getattr(strategy, name))
    return 1


def recording_hook_class(tf, seed=None):
    """The hook; with a seed it loads generated weights when none are given."""
    tf = quiet(tf)

    class RecordingHook(tf.train.SessionRunHook):
        """Loads the initial weights and reads the loss of every step.

        ``start`` gives values for weights of which so much is known, or None.
        """

        def __init__(self, record, start=None):
            self._record = record
            self._start = start

        def begin(self):
            # The Estimator adds the loss it reports to this collection last.
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
            self._names, self._slots = variable_names(tf)
            self._record.draws = random_operations(self._loss)
            self._step = base_name(tf.train.get_global_step())
            record = self._record
            record.used = first_uses(self._loss, self._names)
            known = {base_name(variable) for variable in tf.trainable_variables()}
            record.trained = [n for n, name in enumerate(self._names) if name in known]
            record.constants = optimizer_constants(tf, self._loss.graph)

        def after_create_session(self, session, coord):
            record = self._record
            if record.names is not None:
                return
            record.names = self._names
            step = int(read_weights(session, [self._step])[0])
            record.initial = read_weights(session, self._names)
            if step != 0:
                return
            record.drawn = drawn_weights(self._names, record.initial)
            drawn = list(zip(self._names, record.initial))
            told = {"used": record.used, "trained": record.trained}
            values = self._start(weights_of(drawn, told)) if self._start else None
            if values is None and seed is not None:
                shapes = [value.shape for value in record.initial]
                values = generated_weights(self._names, shapes, seed)
            if values is None:
                return
            # One that is not trained may have no partner: it stays as it was drawn.
            pairs = zip(values, record.initial)
            values = [own if value is None else value for value, own in pairs]
            write_weights(session, self._names, values)
            # Moving averages of weights begin as these do.
            averages = {
                name + _AVERAGE: value
                for name, value in zip(self._names, values)
                if name + _AVERAGE in self._slots
            }
            write_weights(session, averages.keys(), averages.values())
            record.initial = values

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self._loss)

        def after_run(self, run_context, run_values):
            self._record.losses.append(float(run_values.results))

        def end(self, session):
            record = self._record
            record.final = read_weights(session, record.names)
            slots = read_weights(session, self._slots)
            record.slots = list(zip(self._slots, slots))
            record.global_step = int(read_weights(session, [self._step])[0])

    return RecordingHook


_AVERAGE = "/ExponentialMovingAverage"
RANDOM = re.compile(
    r"(Stateful|Parameterized)?"
    r"(Random|Uniform|StandardNormal|TruncatedNormal|Multinomial)"
)


def random_operations(loss):
    """Names of the operations below a loss that draw random numbers, three at most.

    Initial values are not among them: a variable is read, not made, below a loss.
    """
    functions = loss.graph.as_graph_def().library.function
    library = {each.signature.name: each.node_def for each in functions}
    found, seen, pending = [], set(), [loss.op]
    while pending and len(found) < 3:
        op = pending.pop()
        if op.name not in seen:
            seen.add(op.name)
            if draws(op.node_def, library, set()):
                found.append(op.name)
            pending.extend(tensor.op for tensor in op.inputs)
            pending.extend(op.control_inputs)
    return sorted(found)


def draws(node, library, seen):
    """Whether a node draws random numbers, or a function that it calls."""
    called = [value.func.name for value in node.attr.values() if value.HasField("func")]
    fresh = [name for name in called if name in library and name not in seen]
    seen.update(fresh)
    return RANDOM.match(node.op) is not None or any(
        draws(inner, library, seen) for name in fresh for inner in library[name]
    )


_HOOK_METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")


def log_calls(hook, calls):
    """Note every call of the program's own hook, in order."""
    if getattr(hook, "_recorded_by_instrument", False):
        return
    hook._recorded_by_instrument = True
    label = type(hook).__name__

    def noted(method, name):
        def call(*args, **kwargs):
            calls.append(f"{label}.{name}")
            return method(*args, **kwargs)

        return call

    for name in _HOOK_METHODS:
        setattr(hook, name, noted(getattr(hook, name), name))


# --- the recording ---


def predict_fixed(record):
    """Predictions for the first examples of the last input function, if it has any."""
    found = []
    try:
        generator = record.estimator.predict(record.input_fn)
        for prediction in itertools.islice(generator, FIXED_EXAMPLES):
            known = isinstance(prediction, dict)
            found.append(prediction if known else {"output": prediction})
        generator.close()
        # Several heads key their predictions by (head, name).
        return {
            name if isinstance(name, str) else "/".join(name): stacked(
                [each[name] for each in found]
            )
            for name in found[0]
        }
    except Exception as error:  # a program may have removed its own data
        sys.stderr.write(f"no predictions could be recorded: {error}\n")
        return {}


def stacked(values):
    """One array; strings as fixed-width bytes, which need no pickling."""
    import numpy as np

    array = np.stack(values)
    return array.astype("S") if array.dtype == object else array


def plain(value):
    """A JSON number for whatever numpy scalar an evaluation returned."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        return value.item()
    return value.tolist() if hasattr(value, "tolist") else value


def accuracy_metric(figures):
    """The figure that is an accuracy, preferring one of a test phase."""
    for name in ("accuracy", "acc"):
        if name in figures:
            return name
    named = [name for name in figures if "acc" in name.lower()]
    tests = [n for n in named if any(word in n for word in ("test", "eval", "val"))]
    return next(iter(tests or named), None)


def exported_names(folders):
    """Names of the folders into which models were exported, and are there still."""
    names = set()
    for folder in folders:
        for place, _, files in os.walk(folder):
            if "saved_model.pb" in files or "saved_model.pbtxt" in files:
                # Exports stand in folders named by the time they were made.
                name = os.path.basename(place)
                if name.isdigit():
                    place = os.path.dirname(place)
                    name = os.path.basename(place)
                # Its name is drawn anew in each run, wherever the folder is kept.
                if os.path.dirname(place).endswith(tempfile.gettempdir()):
                    name = "a temporary folder"
                names.add(name)
    return sorted(names)


def checkpoints_in(folder):
    """The checkpoints that stand in a folder, by the step in their names."""
    found = {}
    for place, _, files in os.walk(str(folder)):
        for file in files:
            step = re.search(r"-(\d+)\.index$", file)
            if step:
                prefix = os.path.join(place, file[: -len(".index")])
                found[int(step.group(1))] = prefix
    return found


def write_files(folder, document, arrays, predictions):
    """A recording's files; a folder with recording.json is a whole recording.

    ``arrays`` are lists of named arrays, by the file that holds them in their order.
    """
    import numpy as np

    if not os.path.isdir(folder):
        os.makedirs(folder)
    for stem, named in arrays.items():
        if named:
            write_arrays(os.path.join(folder, stem + ".npz"), named)
    if predictions:
        np.savez_compressed(os.path.join(folder, "predictions.npz"), **predictions)
    with open(os.path.join(folder, "recording.json"), "w") as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")


def write_recordings(tf, options, records, export_bases=()):
    """The first training in the folder, further ones in folders inside it."""
    for number, record in enumerate(records):
        folder = options.out
        if number:
            folder = os.path.join(options.out, f"training-{number + 1}")
        write_recording(tf, options, record, export_bases, folder)


def write_recording(tf, options, record, export_bases=(), folder=None):
    """One training's folder."""
    predictions = {}
    if not options.no_predictions and hasattr(record.estimator, "predict"):
        predictions = predict_fixed(record)
    arrays = {
        part + "_weights": list(zip(record.names, getattr(record, part)))
        for part in ("initial", "final")
    }
    evaluations = [
        {name: plain(value) for name, value in sorted(each.items())}
        for each in record.evaluations
    ]
    last = evaluations[-1] if evaluations else record.figures
    content = {
        "format": FORMAT,
        "program": getattr(options, "name", None) or os.path.basename(options.script),
        "producer": {
            "tensorflow": tf.__version__,
            "python": platform.python_version(),
            "platform": platform.machine(),
            "threads": options.threads,
            "compat": getattr(options, "compat", False),
        },
        "replicas": record.replicas,
        "first_step": 1,
        "global_step": record.global_step,
        "losses": record.losses,
        "evaluate": last,
        "evaluations": evaluations,
        "accuracy_metric": accuracy_metric(last),
        "weights": record.names,
        "hook_calls": record.hook_calls,
        # Of the replicas' own variables the mean, not those of the first.
        "averages_of_all": True,
        # Its random numbers were those that every steadied program draws.
        "steady_random": options.steady_random,
        # Ended by itself, not by our limit.
        "complete": not options.steps or record.global_step < options.steps,
        "drawn": record.drawn,
        "used": record.used,
        "trained": record.trained,
        "constants": record.constants,
        "paired": record.paired,
        "exports": exported_names(export_bases),
        "training": record.name,
        "draws": record.draws,
        "written": options.outside.written() if options.outside else [],
        # The program came to its end, if this training did not.
        "ran_whole": record.ran_whole,
        "checkpoints": sorted(checkpoints_in(record.files)),
        "predictions": bool(predictions),
    }
    if getattr(options, "light", False):
        content.update(norms(arrays))
        arrays = {}
    else:
        arrays["slots"] = record.slots
    write_files(str(folder or options.out), content, arrays, predictions)


def norms(arrays):
    """The length of each weight, in place of weights that are too large to keep."""
    import numpy as np

    return {
        part.replace("weights", "norms"): [
            float(np.linalg.norm(np.asarray(value, np.float64))) for _, value in named
        ]
        for part, named in arrays.items()
    }
