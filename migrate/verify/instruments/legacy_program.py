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
import contextlib
import functools
import importlib
import inspect
import itertools
import json
import os
import platform
import random
import re
import runpy
import sys

FORMAT = 1
FIXED_EXAMPLES = 8

_VARIABLE_OPS = ("VariableV2", "VarHandleOp")
_REPLICA = re.compile(r"/replica_\d+$")
# State of the optimizers that does not hang below a variable's name.
_OPTIMIZER_SCALAR = re.compile(
    r"(^|/)beta[12]_power(_\d+)?$|(^|/)(Keras)?iterations$|(^|/)OptimizeLoss/learning_rate$"
    # The settings of an optimizer that Keras made: training/Adam/beta_1.
    r"|^training(_\d+)?/\w+/\w+$"
)


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
    parser.add_argument("--threads", type=int, help="threads of each session")
    parser.add_argument("--model-dir", help="root for all model directories")
    parser.add_argument(
        "--estimator",
        type=int,
        default=0,
        help="which estimator to record, by order of first training",
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
    return parser.parse_args(argv)


# --- variables, through the graph only: this reads alike in every generation ---


def base_name(variable):
    return _REPLICA.sub("", variable.name.split(":")[0])


def weight_names(tf):
    """Names of the model's variables in creation order, without optimizer state."""
    names = []
    for variable in tf.global_variables():
        name = base_name(variable)
        if name not in names:
            names.append(name)
    trainable = {base_name(variable) for variable in tf.trainable_variables()}
    step = tf.train.get_global_step()
    excluded = set() if step is None else {base_name(step)}
    for name in names:
        # Slots of canned models repeat a scope: dnn/dnn/logits/kernel/Adagrad.
        slot = any("/" + owner + "/" in "/" + name for owner in trainable)
        if name not in trainable and (slot or _OPTIMIZER_SCALAR.search(name)):
            excluded.add(name)
    return [name for name in names if name not in excluded]


def _operation(graph, name):
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


def _replica_operations(graph, name):
    """The variable's own operation and those of its copies on other replicas."""
    found = []
    for index in itertools.count():
        candidate = name if index == 0 else f"{name}/replica_{index}"
        operation = _operation(graph, candidate)
        if operation is None or operation.type not in _VARIABLE_OPS:
            return found
        found.append(operation)
    return found


def _assignment(graph, operation):
    """The operation that initialises a variable, and the tensor it writes."""
    assign = _operation(graph, operation.name + "/Assign")
    if assign is None:
        raise SystemExit(f"no initial assignment found for {operation.name}")
    return assign, assign.inputs[1]


def _reading(graph, operation):
    if operation.type == "VariableV2":
        return operation.outputs[0]
    # Not just any reader: one that follows a restore or an update would run it.
    for consumer in operation.outputs[0].consumers():
        if consumer.type == "ReadVariableOp" and not consumer.control_inputs:
            return consumer.outputs[0]
    raise SystemExit(f"nothing reads variable {operation.name}")


def read_weights(session, names):
    """Values of variables; of replicas' own ones (moving averages) their mean."""
    graph = session.graph
    tensors = [
        [_reading(graph, copy) for copy in _replica_operations(graph, name)]
        for name in names
    ]
    return [together(copies) for copies in session.run(tensors)]


def together(copies):
    """One value of the replicas' copies of a variable, as a checkpoint has it."""
    import numpy as np

    first = copies[0]
    if all(np.array_equal(copy, first) for copy in copies[1:]):
        return first
    return np.mean(copies, axis=0, dtype=first.dtype)


def write_weights(session, names, values):
    graph = session.graph
    for name, value in zip(names, values):
        for operation in _replica_operations(graph, name):
            assign, tensor = _assignment(graph, operation)
            session.run(assign, feed_dict={tensor: value})


def match_weights(names, shapes, stored):
    """Pair stored arrays ("000:name") with variables: by name, else by order.

    Generations name layers differently, so order and shape decide when the
    names do not all agree.
    """
    keys = sorted(stored)
    by_name = {key.partition(":")[2]: key for key in keys}
    if set(by_name) == set(names):
        chosen = [stored[by_name[name]] for name in names]
    elif len(keys) == len(names):
        chosen = [stored[key] for key in keys]
    else:
        raise SystemExit(
            f"the initial weights hold {len(keys)} arrays, the program has "
            f"{len(names)} variables: {', '.join(names)}"
        )
    for name, shape, value in zip(names, shapes, chosen):
        if tuple(shape) != value.shape:
            raise SystemExit(
                f"initial weights of {name} have shape {value.shape}, "
                f"the variable has {tuple(shape)}"
            )
    return chosen


def generated_weights(names, shapes, seed):
    """Plausible initial weights that depend on the shapes and the seed only."""
    import numpy as np

    draw = np.random.RandomState(seed)
    values = []
    for name, shape in zip(names, shapes):
        if len(shape) > 1:
            inputs = np.prod(shape[:-1])
            value = draw.normal(scale=(2.0 / inputs) ** 0.5, size=shape)
        elif name.endswith(("gamma", "moving_variance")):
            value = np.ones(shape)
        else:
            value = np.zeros(shape)
        values.append(value.astype(np.float32))
    return values


def drawn_weights(names, values):
    """Mean, spread and size of the weights that a program drew by itself."""
    import numpy as np

    return {
        name: [
            float(np.mean(value, dtype=np.float64)),
            float(np.std(value, dtype=np.float64)),
            int(np.size(value)),
        ]
        for name, value in zip(names, values)
    }


# --- one record per estimator that trains ---


class Record:
    def __init__(self, estimator):
        self.estimator = estimator
        self.losses = []
        self.evaluations = []
        self.hook_calls = []
        self.names = None
        self.initial = None
        self.final = None
        self.drawn = None
        self.global_step = 0
        self.input_fn = None
        self.replicas = 1


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
        """Loads the initial weights and reads the loss of every step."""

        def __init__(self, record, initial_weights):
            self._record = record
            self._initial_weights = initial_weights

        def begin(self):
            # The Estimator adds the loss it reports to this collection last.
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
            self._names = weight_names(tf)
            self._step = base_name(tf.train.get_global_step())

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
            shapes = [value.shape for value in record.initial]
            if self._initial_weights is not None:
                values = match_weights(self._names, shapes, self._initial_weights)
            elif seed is not None:
                values = generated_weights(self._names, shapes, seed)
            else:
                return
            write_weights(session, self._names, values)
            record.initial = values

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self._loss)

        def after_run(self, run_context, run_values):
            self._record.losses.append(float(run_values.results))

        def end(self, session):
            record = self._record
            record.final = read_weights(session, record.names)
            record.global_step = int(read_weights(session, [self._step])[0])

    return RecordingHook


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


# --- patches of this process ---


def defining_class(cls, method):
    """The class that really defines a method; patching a subclass would make
    the Estimator's own check of overridden members complain."""
    return next(base for base in cls.__mro__ if method in base.__dict__)


class Instrument:
    def __init__(self, tf, options):
        self.tf = tf
        self.options = options
        self.records = []
        self.model_dirs = {}
        self.export_bases = []
        self.initial_weights = None
        if options.initial_weights:
            import numpy as np

            with np.load(options.initial_weights) as stored:
                self.initial_weights = {key: stored[key] for key in stored.files}
        self.hook_class = recording_hook_class(tf, options.generate_weights)

    def record_of(self, estimator):
        for record in self.records:
            if record.estimator is estimator:
                return record
        self.records.append(Record(estimator))
        return self.records[-1]

    def install(self):
        self.patch_estimator()
        self.patch_run_config()
        if self.options.model_dir:
            self.patch_model_to_estimator()
        if self.options.no_shuffle:
            self.patch_shuffling()
        if self.options.replicas:
            self.patch_strategies()

    def remapped(self, model_dir):
        root = os.path.abspath(self.options.model_dir)
        if model_dir is not None:
            model_dir = os.path.abspath(os.fspath(model_dir))
            if model_dir.startswith(root + os.sep):
                return model_dir
            if model_dir in self.model_dirs:
                return self.model_dirs[model_dir]
        place = os.path.join(root, f"model-{len(self.model_dirs)}")
        self.model_dirs[model_dir or place] = place
        return place

    def patch_estimator(self):
        tf, options = self.tf, self.options
        estimator_class = tf.estimator.Estimator
        owner = defining_class(estimator_class, "train")
        original_train = owner.train
        original_evaluate = owner.evaluate
        instrument = self

        def train(
            estimator,
            input_fn,
            hooks=None,
            steps=None,
            max_steps=None,
            saving_listeners=None,
        ):
            record = instrument.record_of(estimator)
            if options.steps and record.global_step >= options.steps:
                return estimator
            hooks = list(hooks or [])
            for hook in hooks:
                log_calls(hook, record.hook_calls)
            first = not record.losses
            chosen = instrument.records.index(record) == options.estimator
            weights = instrument.initial_weights if first and chosen else None
            hooks.append(instrument.hook_class(record, weights))
            if options.steps:
                hooks.append(quiet(tf).train.StopAtStepHook(last_step=options.steps))
            record.input_fn = record.input_fn or input_fn
            record.replicas = replicas_of(estimator)
            return original_train(
                estimator,
                input_fn,
                hooks=hooks,
                steps=steps,
                max_steps=max_steps,
                saving_listeners=saving_listeners,
            )

        def evaluate(estimator, input_fn, *args, **kwargs):
            result = original_evaluate(estimator, input_fn, *args, **kwargs)
            record = instrument.record_of(estimator)
            record.evaluations.append(dict(result))
            record.input_fn = input_fn
            return result

        owner.train = train
        owner.evaluate = evaluate
        for name in ("export_saved_model", "export_savedmodel"):
            if name in owner.__dict__:
                setattr(owner, name, self.noting_exports(owner.__dict__[name]))

        if options.model_dir:
            original_init = owner.__init__
            signature = inspect.signature(original_init)

            def __init__(estimator, *args, **kwargs):
                bound = signature.bind(estimator, *args, **kwargs)
                config = bound.arguments.get("config")
                model_dir = bound.arguments.get("model_dir")
                if model_dir is None and config is not None:
                    model_dir = getattr(config, "model_dir", None)
                model_dir = instrument.remapped(model_dir)
                bound.arguments["model_dir"] = model_dir
                if config is not None and hasattr(config, "replace"):
                    bound.arguments["config"] = config.replace(model_dir=model_dir)
                original_init(*bound.args, **bound.kwargs)

            owner.__init__ = __init__

    def noting_exports(self, original):
        """The method, with a note of the folder that it exports into."""

        @functools.wraps(original)
        def export(estimator, export_dir_base, *args, **kwargs):
            self.export_bases.append(os.fspath(export_dir_base))
            return original(estimator, export_dir_base, *args, **kwargs)

        return export

    def patch_run_config(self):
        tf, options = self.tf, self.options
        owner = tf.estimator.RunConfig
        original = owner.__init__
        signature = inspect.signature(original)
        instrument = self

        def __init__(config, *args, **kwargs):
            bound = signature.bind(config, *args, **kwargs)
            values = bound.arguments
            if options.seed is not None and "tf_random_seed" not in values:
                values["tf_random_seed"] = options.seed
            if options.model_dir and values.get("model_dir"):
                values["model_dir"] = instrument.remapped(values["model_dir"])
            values["session_config"] = session_config(
                tf, options, values.get("session_config")
            )
            original(*bound.args, **bound.kwargs)

        owner.__init__ = __init__

    def patch_model_to_estimator(self):
        tf, instrument = self.tf, self
        original = tf.keras.estimator.model_to_estimator
        signature = inspect.signature(original)

        def model_to_estimator(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            values = bound.arguments
            model_dir = values.get("model_dir")
            config = values.get("config")
            if model_dir is None and config is not None:
                model_dir = config.model_dir
            model_dir = instrument.remapped(model_dir)
            values["model_dir"] = model_dir
            if config is not None:
                values["config"] = config.replace(model_dir=model_dir)
            return original(*bound.args, **bound.kwargs)

        tf.keras.estimator.model_to_estimator = model_to_estimator

    def patch_shuffling(self):
        tf = self.tf

        def shuffle(dataset, *args, **kwargs):
            return dataset

        for cls in tf.data.Dataset.__mro__:
            if "shuffle" in cls.__dict__:
                cls.shuffle = shuffle

        def shuffle_and_repeat(buffer_size=None, count=None, seed=None):
            return lambda dataset: dataset.repeat(count)

        for module in (
            getattr(tf.data, "experimental", None),
            getattr(getattr(tf, "contrib", None), "data", None),
        ):
            if module is not None and hasattr(module, "shuffle_and_repeat"):
                module.shuffle_and_repeat = shuffle_and_repeat

        inputs = getattr(tf.estimator, "inputs", None)
        for name in ("numpy_input_fn", "pandas_input_fn"):
            original = getattr(inputs, name, None)
            if original is not None:
                replace_everywhere(inputs, name, original, without_shuffling(original))

    def patch_strategies(self):
        """Put the replicas on CPU devices, however many GPUs were asked for."""
        tf = self.tf
        devices = [f"/device:CPU:{i}" for i in range(self.options.replicas)]
        no_prefetch = self.options.no_shuffle and not self.options.compat
        classes = [
            getattr(getattr(tf, "distribute", None), "MirroredStrategy", None),
            getattr(tf.contrib.distribute, "MirroredStrategy", None),
        ]
        for cls in classes:
            if cls is None:
                continue
            original = cls.__init__
            signature = inspect.signature(original)

            def __init__(
                strategy, *args, __original=original, __signature=signature, **kwargs
            ):
                bound = __signature.bind(strategy, *args, **kwargs)
                values = dict(itertools.islice(bound.arguments.items(), 1, None))
                for name in ("num_gpus", "num_gpus_per_worker"):
                    values.pop(name, None)
                values["devices"] = devices
                # TF 1.12 hands batches to prefetching devices in any order.
                if no_prefetch and "prefetch_on_device" in __signature.parameters:
                    values["prefetch_on_device"] = False
                __original(strategy, **values)

            cls.__init__ = __init__


def replace_everywhere(module, name, original, replacement):
    """Replace a function also where another spelling of the import finds it.

    In TF 1.15 ``from tensorflow.estimator.inputs import ...`` reads a module of
    its own, which is not the one that ``tf.estimator.inputs`` gives.
    """
    setattr(module, name, replacement)
    with contextlib.suppress(ImportError):
        importlib.import_module("tensorflow.estimator.inputs")
    for place, each in list(sys.modules.items()):
        names = getattr(each, "__dict__", {})
        if place.startswith("tensorflow") and names.get(name) is original:
            setattr(each, name, replacement)


def without_shuffling(factory):
    signature = inspect.signature(factory)

    def make(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.arguments["shuffle"] = False
        return factory(*bound.args, **bound.kwargs)

    return make


def session_config(tf, options, given):
    """The program's session settings with our threads and CPU devices added."""
    if given is None:
        # What the Estimator uses when it is given nothing.
        given = quiet(tf).ConfigProto(allow_soft_placement=True)
        given.graph_options.rewrite_options.meta_optimizer_iterations = 1
    config = quiet(tf).ConfigProto()
    config.CopyFrom(given)
    if options.threads:
        config.intra_op_parallelism_threads = options.threads
        config.inter_op_parallelism_threads = options.threads
    if options.replicas and not options.compat:
        config.device_count["CPU"] = options.replicas
    return config


# --- the recording ---


def save_arrays(path, names, values):
    import numpy as np

    arrays = {
        f"{index:03d}:{name}": value
        for index, (name, value) in enumerate(zip(names, values))
    }
    np.savez_compressed(path, **arrays)


def fixed_predictions(record):
    """Predictions for the first examples of the last input function used."""

    found = []
    generator = record.estimator.predict(record.input_fn)
    for prediction in itertools.islice(generator, FIXED_EXAMPLES):
        found.append(
            prediction if isinstance(prediction, dict) else {"output": prediction}
        )
    generator.close()
    # Several heads key their predictions by (head, name).
    return {
        name if isinstance(name, str) else "/".join(name): stacked(
            [each[name] for each in found]
        )
        for name in found[0]
    }


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


def accuracy_metric(evaluation):
    for name in ("accuracy", "acc"):
        if name in evaluation:
            return name
    named = sorted(name for name in evaluation if "accuracy" in name)
    return named[0] if named else None


def exported_names(folders):
    """Names of the folders into which models were exported, and are there still."""
    names = set()
    for folder in folders:
        for place, _, files in os.walk(folder):
            if "saved_model.pb" in files or "saved_model.pbtxt" in files:
                # Exports stand in folders named by the time they were made.
                name = os.path.basename(place)
                if name.isdigit():
                    name = os.path.basename(os.path.dirname(place))
                names.add(name)
    return sorted(names)


def write_recording(tf, options, record, export_bases=()):
    import numpy as np

    if not os.path.isdir(options.out):
        os.makedirs(options.out)
    predictions = False
    if not options.no_predictions:
        try:
            arrays = fixed_predictions(record)
        except Exception as error:  # a program may have removed its own data
            sys.stderr.write(f"no predictions could be recorded: {error}\n")
        else:
            np.savez_compressed(os.path.join(options.out, "predictions.npz"), **arrays)
            predictions = True
    norms = {}
    for part in ("initial", "final"):
        values = getattr(record, part)
        if options.light:
            norms[part + "_norms"] = [
                float(np.linalg.norm(np.asarray(value, np.float64))) for value in values
            ]
        else:
            path = os.path.join(options.out, part + "_weights.npz")
            save_arrays(path, record.names, values)
    evaluations = [
        {name: plain(value) for name, value in sorted(each.items())}
        for each in record.evaluations
    ]
    last = evaluations[-1] if evaluations else {}
    content = {
        "format": FORMAT,
        "program": options.name or os.path.basename(options.script),
        "producer": {
            "tensorflow": tf.__version__,
            "python": platform.python_version(),
            "platform": platform.machine(),
            "threads": options.threads,
            "compat": options.compat,
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
        # Ended by itself, not by our limit.
        "complete": not options.steps or record.global_step < options.steps,
        "drawn": record.drawn,
        "exports": exported_names(export_bases),
        "predictions": predictions,
    }
    content.update(norms)
    with open(os.path.join(options.out, "recording.json"), "w") as stream:
        json.dump(content, stream, indent=1)
        stream.write("\n")


def prepare_compat(options):
    """Let ``import tensorflow`` give the legacy surface, as ``tfmigrate run`` does."""
    from tfmigrate.compat.launcher.settings import Settings
    from tfmigrate.compat.launcher.trigger import arm

    arm(Settings(replicas=options.replicas))


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
    trained = [record for record in instrument.records if record.losses]
    if len(trained) <= options.estimator:
        raise SystemExit(
            f"{options.script} trained {len(trained)} estimator(s); "
            f"number {options.estimator} was to be recorded"
        )
    write_recording(tf, options, trained[options.estimator], instrument.export_bases)


if __name__ == "__main__":
    main()
