"""The words around the models: what stays, what is refused, and each row of the table."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from tfmigrate.project.facts import ParsedModule, ProjectFacts
from tfmigrate.rewrite.native.code import Refused
from tfmigrate.rewrite.native.words import Reworded, reworded, watched

TF = "import tensorflow as tf\n"


def module(code: str, name: str = "train") -> ParsedModule:
    """A file of a program."""
    return ProjectFacts().load(Path(f"{name}.py"), dedent(code).encode())


def rework(code: str, *, for_tf2: bool = False, package: str = "") -> Reworded:
    """What a file becomes; its own result stays as it is."""

    def once(text: str) -> Reworded:
        parsed = module(text)
        return reworded(
            parsed, module="training", package=package, for_tf2=for_tf2, beside=[parsed]
        )

    found = once(code)
    compile(found.text, "train.py", "exec")
    assert once(found.text).text == found.text
    return found


def body(code: str, *, for_tf2: bool = False) -> str:
    """What lines below `import tensorflow as tf` become, without imports."""
    text = rework(f"import functools\n{TF}\n{dedent(code)}", for_tf2=for_tf2).text
    lines = text.splitlines(keepends=True)
    kept = [
        line
        for line in lines
        if not line.startswith(("import ", "from ")) and "absl" not in line
    ]
    return "".join(kept).strip("\n") + "\n"


# -- nothing to do

NOOPS = {
    "no TensorFlow": "from estimators import Estimator\n\nEstimator(model_fn=f)\n",
    "a namesake": f"{TF}\nRunConfig = dict\nconfig = RunConfig(model_dir='a')\n",
    "TensorFlow 2": f"{TF}\nx = tf.reduce_mean(tf.constant([1.0]))\n",
    "replace of text": f"{TF}\nname = 'a/b'.replace('/', '_')\n",
    "a data set": f"{TF}\ndata = tf.data.Dataset.range(3).batch(2)\n",
    "next of an iterator": f"{TF}\nfirst = iter(data).get_next()\n",
    "switches of today": (
        f"{TF}\nimport tensorflow.experimental.numpy as tnp\n\n"
        "tf.config.experimental.enable_tensor_float_32_execution(False)\n"
        "tf.profiler.experimental.server.start(6009)\nx = tnp.arange(3)\n"
    ),
    "compile of Python": "import re\n\npattern = re.compile('a')\n",
    "its own words": (
        f"{TF}\nfrom training import Task, Trainer\n\n\nclass Net(Task):\n"
        "    pass\n\n\nTrainer(Net, params={}).train(f, steps=3)\n"
    ),
}


@pytest.mark.parametrize("code", NOOPS.values(), ids=NOOPS)
def test_what_is_no_word_of_tf_1_stays(code: str) -> None:
    assert rework(code).text == code


def test_names_of_tf_2_mean_what_they_say() -> None:
    code = f"{TF}import tf_keras\n\nlayer = tf_keras.layers.LSTM(3)\n"
    assert rework(code, for_tf2=True).text == code


# -- refused

REFUSALS = {
    "the text of a hook's error": (
        """
        try:
            tf.estimator.Estimator(Net).train(f)
        except tf.train.NanLossDuringTrainingError as problem:
            print(problem)
        """,
        "what a hook's error says",
    ),
    "a hook that is told of a computed name": (
        """
        class Looks(tf.train.SessionRunHook):
            def __init__(self, name):
                self.name = name

            def before_run(self, run_context):
                graph = run_context.session.graph
                return tf.train.SessionRunArgs(graph.get_tensor_by_name(self.name))


        hooks = [Looks('a:%d' % 0)]
        """,
        "asks for the tensor `graph.get_tensor_by_name(self.name)`",
    ),
    "variables that are chosen by their names": (
        "s = tf.estimator.WarmStartSettings('folder', 'conv.*')\n",
        "(line 3) chooses variables by their names",
    ),
    "a session": (
        "with tf.Session() as sess:\n    sess.run(x)\n",
        "`tf.Session` (line 3) runs a session",
    ),
    "metrics that a name holds": (
        "def more(labels):\n    return FOUND\n\n\ntf.estimator.add_metrics(e, more)\n",
        "the metrics (line 7) are not added: `more` returns no plain dictionary",
    ),
    "a metric that is computed of one that is not updated": (
        """
        def run(e):
            def more(labels):
                a = tf.metrics.mean(labels)
                b = tf.metrics.mean(labels + 1)
                return {'c': (a[0] - b[0], a[1])}

            return tf.estimator.add_metrics(e, more)
        """,
        "the metrics (line 9) are not added: `more` returns more than metrics",
    ),
    "metrics that a loop adds to": (
        """
        def more(labels):
            found = {'a': tf.metrics.mean(labels)}
            for name in NAMES:
                found[name] = tf.metrics.mean(labels)
            return found


        tf.estimator.add_metrics(e, more)
        """,
        "the metrics (line 10) are not added: `more` returns no plain dictionary",
    ),
    "losses that are gathered": (
        "def f(labels, logits):\n"
        "    tf.losses.log_loss(labels, logits)\n"
        "    return tf.losses.get_total_loss()\n\nf(y, x)\n",
        "`tf.losses.get_total_loss` (line 5) has no counterpart",
    ),
    "a sum of losses": (
        "def f(labels, logits):\n"
        "    return tf.losses.log_loss(\n"
        "        labels, logits, reduction=tf.losses.Reduction.SUM)\n",
        "a loss (line 4) that is a sum",
    ),
    "MNIST of bytes": (
        "tf.contrib.learn.datasets.mnist.read_data_sets('data', dtype=tf.uint8)\n",
        "`dtype` (line 3) of MNIST's data sets",
    ),
    "a data set that was a download": (
        "tf.contrib.learn.datasets.load_dataset('dbpedia')\n",
        "(line 3) loads a data set that is gone",
    ),
    "memory of devices": (
        "from tensorflow.python.client import device_lib\n\n"
        "print([one.memory_limit for one in device_lib.list_local_devices()])\n",
        "says more than names and types",
    ),
    "a placeholder": ("x = tf.placeholder(tf.float32)\n", "makes a placeholder"),
    "queues": (
        "x = tf.train.string_input_producer(['a'])\n",
        "reads its data through queues",
    ),
    "an iterator in a function whose caller goes on": (
        """
        def read():
            return data.make_one_shot_iterator().get_next()


        def input_fn():
            x, y = read()
            return {'x': x}, y
        """,
        "an iterator (line 4) is not read in its input function alone",
    ),
    "files that are read by a call for nothing": (
        """
        def input_fn(name):
            files = tf.data.Dataset.list_files(name)
            return files.flat_map(tf.data.TextLineDataset).batch(2)


        input_fn('')
        """,
        "`input_fn` is called for nothing (line 8), and reads files",
    ),
    "tensors that are looked at and computed with": (
        """
        def input_fn():
            x, y = data.make_one_shot_iterator().get_next()
            with tf.Session() as sess:
                print(sess.run(x))
            return x * 2, y
        """,
        "runs a session",
    ),
    "an iterator that is read twice": (
        """
        def input_fn():
            it = data.make_one_shot_iterator()
            return it.get_next(), it.get_next()
        """,
        "an iterator",
    ),
    "the package as a value": (
        "make(tf.estimator)\n",
        "`tf.estimator` (line 3) is handed about as a whole",
    ),
    "hidden arguments of a RunConfig": (
        "config = tf.estimator.RunConfig(**options)\n",
        "the fields of a RunConfig (line 3) are hidden by `**`",
    ),
    "a hidden model_fn": ("tf.estimator.Estimator(**options)\n", "hidden by `**`"),
    "a server of its own": (
        "s = tf.train.Server({'worker': ['a:1']})\n",
        "`tf.train.Server` (line 3) makes a cluster without a strategy",
    ),
    "a question about the session": (
        "c = tf.estimator.RunConfig()\nprint(c.master)\n",
        "`c.master` (line 4) asks a RunConfig about its session",
    ),
    "strategies that are not seen": (
        "tf.estimator.RunConfig(experimental_distribute=d)\n",
        "`experimental_distribute` of a RunConfig (line 3) has no native form yet",
    ),
    "a hook that works with its session": (
        """
        class Peek(tf.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                run_context.session.run(self.op)
        """,
        "the hook `Peek` (line 5) works with its session",
    ),
    "a hook that feeds": (
        """
        class Feed(tf.train.SessionRunHook):
            def before_run(self, run_context):
                return tf.train.SessionRunArgs('loss:0', feed_dict=self.fed)
        """,
        "feeds the session",
    ),
    "a hook that asks for a tensor it was given": (
        """
        class Look(tf.train.SessionRunHook):
            def before_run(self, run_context):
                return tf.train.SessionRunArgs(self.loss)
        """,
        "asks for the tensor `self.loss`",
    ),
    "a class made of a hook": (
        "class Log(tf.train.LoggingTensorHook):\n    pass\n",
        "is made of `tf.train.LoggingTensorHook`: write it out",
    ),
    "a table of what is computed": (
        "t = tf.contrib.lookup.index_table_from_tensor(build())\n",
        "give it a list",
    ),
    "mixed precision": (
        "o = tf.train.experimental.MixedPrecisionLossScaleOptimizer(f, 2)\n",
        "scales losses",
    ),
    "a strategy for servers that no RunConfig takes": (
        "s = tf.contrib.distribute.ParameterServerStrategy()\nprint(s)\n",
        "is more than a RunConfig's",
    ),
    "a TPU": (
        "e = tf.contrib.tpu.TPUEstimator(f, use_tpu=True, config=c)\n",
        "trains on a TPU",
    ),
    "a TPUEstimator that is handed about": (
        """
        def make():
            return tf.contrib.tpu.TPUEstimator(
                f, use_tpu=False, train_batch_size=8, eval_batch_size=4)
        """,
        "is handed about: give one batch size",
    ),
    "a receiver that is made at once": (
        """
        def receiver(spec):
            x = tf.placeholder(tf.string, [None])
            return tf.estimator.export.ServingInputReceiver(parse(x, spec), {'x': x})


        made = receiver(spec)
        """,
        "is made where none is asked for",
    ),
    "a listener of checkpoints": (
        """
        class Listens(tf.train.CheckpointSaverListener):
            def after_save(self, session, step):
                print(step)
        """,
        "`tf.train.CheckpointSaverListener` (line 3) is told of checkpoints",
    ),
    "a hook that saves": (
        "h = tf.train.CheckpointSaverHook('out', save_steps=9)\n",
        "`tf.train.CheckpointSaverHook` (line 3) saves in a way of its own",
    ),
    "listeners of a training": (
        "e = tf.estimator.Estimator(f)\ne.train(g, saving_listeners=listeners)\n",
        "`saving_listeners` (line 4) are no hooks",
    ),
    "listeners of a specification": (
        "s = tf.estimator.TrainSpec(f, 9, None, [one])\n",
        "`saving_listeners` (line 3) are no hooks",
    ),
    "a hook that calls what it is made of with its session": (
        """
        class First(tf.train.SessionRunHook):
            def before_run(self, run_context):
                super().before_run(run_context)
        """,
        "the hook `First` (line 5) works with its session",
    ),
    "receivers that are made in branches": (
        """
        def receiver():
            if FLAG:
                return tf.estimator.export.build_raw_serving_input_receiver_fn(one)()
            return tf.estimator.export.build_raw_serving_input_receiver_fn(other)()
        """,
        "a receiver (line 5) is made where none is asked for",
    ),
    "another receiver that is read twice": (
        """
        def receiver():
            one = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
            one.features['a'] = one.features['b']
            return tf.estimator.export.ServingInputReceiver(
                one.features, one.receiver_tensors)
        """,
        "is made of another one in a way not understood",
    ),
    "data that a function around it takes apart": (
        """
        def read(path):
            def input_fn():
                return tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next()
            return input_fn

        def more(fn):
            def input_fn():
                features, labels = fn()
                return dict(features, one=1.0), labels
            return input_fn

        e.train(more(read('a')))
        """,
        "an iterator (line 5) is not read in its input function alone",
    ),
    "an optimizer of rows that clips": (
        """
        c = tf.feature_column.numeric_column('x')
        made = tf.contrib.estimator.clip_gradients_by_norm(tf.train.FtrlOptimizer(0.5), 5.0)
        use(made)
        """,
        "(line 4): this optimizer cannot clip gradients by their norm",
    ),
    "a head that an export chooses": (
        "s = tf.contrib.learn.make_export_strategy(f, 'head')\n",
        "an export takes no `default_output_alternative_key` (line 3)",
    ),
    "a receiver of what is computed": (
        """
        def receiver():
            x = tf.placeholder(tf.string, [None])
            y = tf.identity(x)
            return tf.estimator.export.ServingInputReceiver({'x': y}, {'x': y})
        """,
        "give it placeholders by name",
    ),
    "an initializer that layers share": (
        """
        init = tf.keras.initializers.he_normal()
        a = tf.keras.layers.Dense(3, kernel_initializer=init)
        b = tf.keras.layers.Dense(3, kernel_initializer=init)
        """,
        "is shared",
    ),
    "what is not in Keras any more": (
        "model = tf.keras.utils.multi_gpu_model(m, 2)\n",
        "is not in Keras any more",
    ),
    "an optimizer without its like": (
        "opt = tf.train.AdagradDAOptimizer(0.1, step)\n",
        "`tf.train.AdagradDAOptimizer` (line 3)",
    ),
    "a variable by its name": (
        "print(estimator.get_variable_value('dense/kernel'))\n",
        "no Trainer has it",
    ),
    "a canned Estimator with an optimizer that is not seen": (
        "tf.estimator.DNNClassifier([4], columns, optimizer=make())\n",
        "is not made in its call",
    ),
}


@pytest.mark.parametrize(("code", "why"), REFUSALS.values(), ids=REFUSALS)
def test_what_has_no_native_form_keeps_its_program(code: str, why: str) -> None:
    code = dedent(code).lstrip()
    called = "".join(
        f"print({name})\n" for name in re.findall(r"(?m)^(?:def|class) (\w+)", code)
    )
    with pytest.raises(Refused) as refused:
        rework(f"{TF}\n{code}\n{called}")
    assert why in str(refused.value)


UNUSED = """
def sizes():
    return [None, 4]


def check():
    x = tf.placeholder(tf.float32, sizes())
    return check_again(tf.layers.dense(x, 1, kernel_initializer=f))


def check_again(x):
    return tf.Session().run(x)


def describe(x):
    return tf.reduce_mean(x)


print(1)
"""


def test_what_nothing_calls_keeps_no_program() -> None:
    found = rework(TF + UNUSED)
    assert found.text == f"{TF}\n\n{UNUSED[UNUSED.index('def describe') :]}"
    assert [(line, what.partition(":")[0]) for line, what in found.notes] == [
        (7, "`check` is gone, unused"),
        (12, "`check_again` is gone, unused"),
    ]
    for other in ("check()", "FUNCTIONS = ['check']\nglobals()[FUNCTIONS[0]]()"):
        with pytest.raises(Refused):
            rework(f"{TF}{UNUSED}\n\n{other}\n")


# -- rows of the table: code below the imports, and what becomes of it

ROWS = {
    "a GPU by what TensorFlow is built with": (
        """
        layout = 'NCHW' if tf.test.is_built_with_cuda() else 'NHWC'
        print(tf.test.is_built_with_cuda())
        """,
        """
        layout = 'NCHW' if tf.config.list_physical_devices('GPU') else 'NHWC'
        print(bool(tf.config.list_physical_devices('GPU')))
        """,
    ),
    "summaries that are never written": (
        """
        c = tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=None)
        """,
        """
        c = RunConfig(tf_random_seed=1)
        """,
    ),
    "settings that are a checkpoint": (
        """
        start = tf.estimator.WarmStartSettings('folder', vars_to_warm_start='.*')
        """,
        """
        start = 'folder'
        """,
    ),
    "workers in step": (
        """
        s = tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=1)
        c = tf.estimator.RunConfig(train_distribute=s)
        """,
        """
        s = tf.distribute.MultiWorkerMirroredStrategy()
        c = RunConfig(strategy=s)
        """,
    ),
    "how workers add up": (
        """
        how = tf.distribute.experimental.CollectiveCommunication.RING
        s = tf.distribute.experimental.MultiWorkerMirroredStrategy(how)
        """,
        """
        how = tf.distribute.experimental.CollectiveCommunication.RING
        s = tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=tf.distribute.experimental.CommunicationOptions(
                implementation=how))
        """,
    ),
    "gradients that one device adds up": (
        "a = tf.contrib.distribute.ReductionToOneDeviceCrossTowerOps()\n",
        "a = tf.distribute.ReductionToOneDevice()\n",
    ),
    "a strategy for parameter servers": (
        """
        s = tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=1)
        c = tf.estimator.RunConfig(train_distribute=s)
        """,
        "c = RunConfig()\n",
    ),
    "a question about the cluster": (
        "c = tf.estimator.RunConfig()\nprint(c.is_chief, c.num_worker_replicas)\n",
        "c = RunConfig()\nprint(c.is_chief, c.num_worker_replicas)\n",
    ),
    "model_fn as first argument": (
        "e = tf.estimator.Estimator(model_fn=Net, params=p)\n",
        "e = Trainer(Net, params=p)\n",
    ),
    "model_fn further behind": (
        "e = tf.estimator.Estimator(params=p, model_fn=Net)\n",
        "e = Trainer(params=p, make_task=Net)\n",
    ),
    "an Estimator as a value": (
        "makers = [tf.estimator.Estimator]\n",
        "makers = [Trainer]\n",
    ),
    "an Estimator under a name of its own": (
        "Maker = tf.estimator.Estimator\ne = Maker(model_fn=Net)\n",
        "Maker = Trainer\ne = Maker(Net)\n",
    ),
    "the package under a name of its own": (
        "est = tf.estimator\n\ne = est.Estimator(Net)\n",
        "e = Trainer(Net)\n",
    ),
    "a short name that nothing reads any more": (
        "dense = tf.layers.dense\ne = tf.estimator.Estimator(Net)\n",
        "e = Trainer(Net)\n",
    ),
    "a subclass": (
        """
        class Mine(tf.estimator.Estimator):
            def __init__(self, folder):
                super().__init__(model_fn=Net, model_dir=folder)
        """,
        """
        class Mine(Trainer):
            def __init__(self, folder):
                super().__init__(Net, model_dir=folder)
        """,
    ),
    "a task that takes params": (
        """
        class Net(Task):
            def __init__(self, params):
                self.params = params


        e = tf.estimator.Estimator(Net)
        """,
        """
        class Net(Task):
            def __init__(self, params):
                self.params = params


        e = Trainer(Net, params={})
        """,
    ),
    "fields of a RunConfig": (
        """
        c = tf.estimator.RunConfig(
            'folder', 7, train_distribute=s, session_config=tf.ConfigProto(),
            protocol='grpc', save_checkpoints_steps=10)
        """,
        """
        c = RunConfig(
            'folder', tf_random_seed=7, strategy=s, save_checkpoints_steps=10)
        """,
    ),
    "replace": (
        "c = c.replace(session_config=s, train_distribute=d, model_dir=m)\n",
        "c = c.replace(strategy=d, model_dir=m)\n",
    ),
    "what only a dropped field reads": (
        """
        options = tf.GPUOptions(allow_growth=True)
        session = tf.ConfigProto(gpu_options=options)
        session.allow_soft_placement = True
        c = tf.estimator.RunConfig(session_config=session)
        """,
        "c = RunConfig()\n",
    ),
    "keywords that named an Estimator": (
        """
        tf.estimator.train_and_evaluate(estimator=e, train_spec=t, eval_spec=v)
        """,
        """
        train_and_evaluate(trainer=e, train_spec=t, eval_spec=v)
        """,
    ),
    "an exporter": (
        "class Mine(tf.estimator.Exporter):\n    name = 'mine'\n",
        "class Mine(object):\n    name = 'mine'\n",
    ),
    "modes": (
        "if mode == tf.estimator.ModeKeys.PREDICT or mode == 'x':\n    pass\n",
        "if mode == 'infer' or mode == 'x':\n    pass\n",
    ),
    "get_variable_value of the step": (
        "print(e.get_variable_value('global_step'))\n",
        "print(e.global_step)\n",
    ),
    "logging": (
        """
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.warn('%d', 3)
        tf.logging.info('done')
        tf.logging.log(tf.logging.WARN, 'late')
        tf.logging.log_every_n(tf.logging.INFO, 'once', 5)
        """,
        """
        tf.get_logger().setLevel('INFO')
        tf.get_logger().warning('%d', 3)
        tf.get_logger().info('done')
        tf.get_logger().warning('late')
        tf.logging.log_every_n(tf.logging.INFO, 'once', 5)
        """,
    ),
    "switches": (
        "tf.enable_eager_execution()\ntf.reset_default_graph()\nx = 1\n",
        "x = 1\n",
    ),
    "casts": (
        "x = tf.to_float(tf.to_int32(y))\n",
        "x = tf.cast(tf.cast(y, tf.int32), tf.float32)\n",
    ),
    "seed": ("tf.set_random_seed(3)\n", "tf.random.set_seed(3)\n"),
    "app without its function": (
        "def main(_):\n    pass\n\n\ntf.app.run()\n",
        "def main(_):\n    pass\n\n\napp.run(main)\n",
    ),
    "app of a program that parses its options itself": (
        "import argparse\n\n\ndef main(_):\n    pass\n\n\ntf.app.run()\n",
        "def main(_):\n    pass\n\n\nmain(sys.argv)\n",
    ),
    "app of a program with flags and options of its own": (
        "import argparse\nFLAGS = tf.flags.FLAGS\n\n\ndef main(_):\n    f(FLAGS.n)\n\n\n"
        "tf.app.run(main)\n",
        "FLAGS = flags.FLAGS\n\n\ndef main(_):\n    f(FLAGS.n)\n\n\n"
        "app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))\n",
    ),
    "app with arguments alone": (
        "def main(_):\n    pass\n\n\ntf.app.run(argv=[x])\n",
        "def main(_):\n    pass\n\n\napp.run(argv=[x], main=main)\n",
    ),
    "flags": (
        """
        flags = tf.app.flags
        FLAGS = flags.FLAGS
        tf.flags.DEFINE_string(flag_name='a', default_value='', docstring='A.')


        def main(_):
            print(FLAGS.a)


        tf.app.run(main)
        """,
        """
        FLAGS = flags.FLAGS
        flags.DEFINE_string(name='a', default='', help='A.')


        def main(_):
            print(FLAGS.a)


        app.run(main)
        """,
    ),
    "flags that are read before they are parsed": (
        "FLAGS = tf.flags.FLAGS\nN = FLAGS.n\ntf.app.run(main)\n",
        "FLAGS = tf.flags.FLAGS\nN = FLAGS.n\napp.run(main)\n",
    ),
    "flags that the script reads before it runs": (
        "FLAGS = tf.flags.FLAGS\nif __name__ == '__main__':\n    f(FLAGS.n)\n"
        "    tf.app.run(main)\n",
        "FLAGS = tf.flags.FLAGS\nif __name__ == '__main__':\n    f(FLAGS.n)\n"
        "    app.run(main)\n",
    ),
    # inputs
    "an iterator's tensors": (
        """
        def input_fn():
            return data.batch(2).make_one_shot_iterator().get_next()
        """,
        """
        def input_fn():
            return data.batch(2)
        """,
    ),
    "tensors under names": (
        """
        def input_fn():
            iterator = tf.data.make_one_shot_iterator(data)
            features, labels = iterator.get_next()
            return features, labels
        """,
        """
        def input_fn():
            return data
        """,
    ),
    "tensors by name": (
        """
        def input_fn():
            x, y = data.make_one_shot_iterator().get_next()
            return {'x': x}, y
        """,
        """
        def input_fn():
            return data.map(lambda x, y: ({'x': x}, y))
        """,
    ),
    "work on tensors": (
        """
        def input_fn():
            batches = data.batch(2)
            x, y = batches.make_one_shot_iterator().get_next()
            # Grey values.
            x = tf.to_float(x)
            return {'x': x}, y
        """,
        """
        def input_fn():
            batches = data.batch(2)

            def prepare(x, y):
                # Grey values.
                x = tf.cast(x, tf.float32)
                return {'x': x}, y

            return batches.map(prepare)
        """,
    ),
    "an iterator that a session initializes": (
        """
        def input_fn():
            iterator = data.make_initializable_iterator()
            tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
            return iterator.get_next()
        """,
        """
        def input_fn():
            return data
        """,
    ),
    "an iterator that a hook initializes": (
        """
        class Init(tf.train.SessionRunHook):
            def __init__(self):
                self.initialize = None

            def after_create_session(self, session, coord):
                self.initialize(session)


        def make(x, y):
            hook = Init()

            def input_fn():
                fed = tf.placeholder(x.dtype, x.shape)
                numbers = tf.placeholder(tf.int32, [None])
                data = tf.data.Dataset.from_tensor_slices((fed, numbers))
                iterator = data.make_initializable_iterator()
                features, labels = iterator.get_next()
                hook.initialize = lambda sess: sess.run(
                    iterator.initializer, feed_dict={fed: x, numbers: y})
                return features, labels
            return input_fn, hook
        """,
        """
        class Init(Callback):
            def __init__(self):
                self.initialize = None


        def make(x, y):
            hook = Init()

            def input_fn():
                fed = x
                numbers = tf.constant(y, tf.int32)
                data = tf.data.Dataset.from_tensor_slices((fed, numbers))
                return data
            return input_fn, hook
        """,
    ),
    "a session that looks at data": (
        """
        def read():
            x, y = data.make_one_shot_iterator().get_next()
            return x, y


        batch = read()
        with tf.Session() as sess:
            sess.run(tf.tables_initializer())
            first = sess.run(batch)
        print(first)
        """,
        """
        def read():
            return data


        batch = read().as_numpy_iterator()
        first = next(batch)
        print(first)
        """,
    ),
    "sessions that look at one data after another": (
        """
        def maker(path):
            def read():
                x, y = data(path).make_one_shot_iterator().get_next()
                return x, y
            return read


        read_one = maker('one')
        x, y = read_one()
        with tf.Session() as sess:
            first, _ = sess.run([x, y])
        print(first)

        read_two = maker('two')
        x, y = read_two()
        with tf.Session() as sess:
            print(sess.run(y))
        """,
        """
        def maker(path):
            def read():
                return data(path)
            return read


        read_one = maker('one')
        batches = read_one().as_numpy_iterator()
        x, y = next(batches)
        first, _ = x, y
        print(first)

        read_two = maker('two')
        batches_2 = read_two().as_numpy_iterator()
        x, y = next(batches_2)
        print(y)
        """,
    ),
    "a session that looks at what is returned": (
        """
        def input_fn(shows=False):
            x, y = data.make_one_shot_iterator().get_next()
            if shows:
                with tf.Session() as sess:
                    print(sess.run(x))
            return x, y
        """,
        """
        def input_fn(shows=False):
            if shows:
                x, y = next(data.as_numpy_iterator())
                print(x)
            return data
        """,
    ),
    "a batch that is printed": (
        """
        def input_fn(shows=False):
            if shows:
                x, y = data.make_one_shot_iterator().get_next()
                print(x)
            return data
        """,
        """
        def input_fn(shows=False):
            if shows:
                x, y = next(iter(data))
                print(x)
            return data
        """,
    ),
    "a file that is read at once": (
        "a = tf.python.lib.io.file_io.read_file_to_string(path)\n"
        "b = tf.python.lib.io.file_io.read_file_to_string(path, binary_mode=True)\n",
        "a = tf.io.gfile.GFile(path).read()\n"
        'b = tf.io.gfile.GFile(path, "rb").read()\n',
    ),
    "devices by their names": (
        """
        from tensorflow.python.client import device_lib

        names = [one.name for one in device_lib.list_local_devices()]
        """,
        "names = [one.name for one in tf.config.list_logical_devices()]\n",
    ),
    "MNIST": (
        """
        from tensorflow.examples.tutorials.mnist import input_data

        a = input_data.read_data_sets('data', one_hot=True)
        b = input_data.read_data_sets('data', False, True, source_url='https://a')
        c = tf.contrib.learn.datasets.load_dataset('mnist')
        d = tf.contrib.learn.datasets.DATASETS['mnist'](folder)
        e = tf.contrib.learn.datasets.mnist.load_mnist(train_dir=folder)
        """,
        """
        a = read_data_sets('data', one_hot=True)
        b = read_data_sets('data', one_hot=True)
        c = read_data_sets('MNIST-data')
        d = read_data_sets(folder)
        e = read_data_sets(folder=folder)
        """,
    ),
    "more metrics": (
        """
        def more(labels, predictions):
            told = predictions['predictions']
            return {'rmse': tf.metrics.root_mean_squared_error(labels, told)}


        e = tf.contrib.estimator.add_metrics(e, more)
        e = tf.contrib.estimator.forward_features(estimator=e, keys='id')
        """,
        """
        def more(labels, predictions):
            told = predictions['predictions']
            return {'rmse': (labels, told)}


        e = add_metrics(
            e, more, lambda: [tf_keras.metrics.RootMeanSquaredError('rmse')])
        e = forward_features(trainer=e, keys='id')
        """,
    ),
    "several metrics by keywords": (
        """
        def more(labels, predictions, features):
            found = {
                'a': tf.metrics.mean(labels),
                'b': tf.metrics.mean_squared_error(
                    labels, predictions['predictions'], weights=features['w']),
            }
            return found


        e = tf.estimator.add_metrics(metric_fn=more, estimator=e)
        """,
        """
        def more(labels, predictions, features):
            found = {
                'a': labels,
                'b': (tf.math.squared_difference(
                    tf.reshape(predictions['predictions'], tf.shape(labels)),
                    labels), features['w']),
            }
            return found


        e = add_metrics(measured=more, trainer=e, make_metrics=lambda: [
            tf_keras.metrics.Mean('a'),
            tf_keras.metrics.Mean('b'),
        ])
        """,
    ),
    "a raw receiver that is filled": (
        """
        def export():
            inputs = {}
            for key in KEYS:
                inputs[key] = tf.placeholder(tf.float32, [None], name=key)
            receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(inputs)
            e.export_saved_model('out', receiver)
        """,
        """
        def export():
            inputs = {}
            for key in KEYS:
                inputs[key] = tf.TensorSpec([None], tf.float32)
            receiver = raw_receiver(inputs)
            e.export_saved_model('out', receiver)
        """,
    ),
    "gradients that are clipped": (
        "a = tf.contrib.estimator.clip_gradients_by_norm(\n"
        "    tf.train.AdagradOptimizer(learning_rate=rate), 0.25)\n",
        "a = tf_keras.optimizers.Adagrad(rate, epsilon=0.0, global_clipnorm=0.25)\n",
    ),
    "gradients of some optimizer that are clipped": (
        "a = tf.contrib.estimator.clip_gradients_by_norm(f(), 0.25)\n",
        "a = clipped_by_norm(f(), 0.25)\n",
    ),
    "losses of functions": (
        """
        def f(labels, logits, weights):
            a = tf.losses.softmax_cross_entropy(labels, logits)
            return a + tf.losses.absolute_difference(labels, logits, weights)
        """,
        """
        def f(labels, logits, weights):
            a = tf.reduce_mean(
                tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            return a + weighted_mean(
                tf.abs(logits - tf.cast(labels, tf.float32)), weights)
        """,
    ),
    "whole batches": (
        "d = d.apply(tf.contrib.data.batch_and_drop_remainder(n + 1)).repeat()\n",
        "d = d.batch(n + 1, drop_remainder=True).repeat()\n",
    ),
    "a function in a function that makes a receiver": (
        """
        def builder():
            def receiver():
                inputs = {}
                for key in KEYS:
                    inputs[key] = tf.placeholder(tf.int32, [None])
                return tf.estimator.export.ServingInputReceiver(inputs, inputs)

            return receiver


        e.export_saved_model('out', builder())
        """,
        """
        def builder():
            def receiver():
                inputs = {}
                for key in KEYS:
                    inputs[key] = tf.TensorSpec([None], tf.int32)
                return raw_receiver(inputs)

            return receiver()


        e.export_saved_model('out', builder())
        """,
    ),
    "a receiver of one dictionary": (
        """
        def receiver():
            inputs = {'x': tf.placeholder(tf.float32, [None])}
            return tf.estimator.export.ServingInputReceiver(inputs, inputs)
        """,
        """
        @tf.function(
            input_signature=[{'x': tf.TensorSpec([None], tf.float32, name='x')}])
        def receiver(inputs):
            return inputs
        """,
    ),
    "a receiver of a dictionary that is filled": (
        """
        def receiver():
            inputs = {c.name: tf.placeholder(tf.float32, [None]) for c in columns}
            inputs['day'] = tf.placeholder(tf.string, [None])
            features = engineered(inputs.copy())
            return tf.estimator.export.ServingInputReceiver(features, inputs)


        exporter = tf.estimator.FinalExporter('e', receiver)
        """,
        """
        def receiver():
            inputs = {c.name: tf.TensorSpec(
                [None], tf.float32, name=c.name) for c in columns}
            inputs['day'] = tf.TensorSpec([None], tf.string, name='day')

            @tf.function(input_signature=[inputs])
            def receive(inputs):
                return engineered(inputs.copy())

            return receive


        exporter = FinalExporter('e', receiver())
        """,
    ),
    "weights of examples by a column of a name": (
        """
        weight = tf.feature_column.numeric_column('w')
        e = tf.estimator.LinearClassifier(columns, weight_column=weight)
        """,
        """
        e = Trainer(
            lambda: BinaryClassifier(
                LinearModel(columns),
                tf_keras.optimizers.Ftrl(0.2),
                weight_column='w',
            ),
        )
        """,
    ),
    "input functions that shuffle unless they are told not to": (
        """
        a = tf.contrib.learn.io.numpy_input_fn({'x': x}, y, 4, num_epochs=1000)
        b = tf.contrib.learn.io.pandas_input_fn(x, y, shuffle=False)
        """,
        """
        a = numpy_input_fn({'x': x}, y, 4, num_epochs=1000, shuffle=True)
        b = pandas_input_fn(x, y, shuffle=False)
        """,
    ),
    "what an input function of arrays gives is taken apart in another": (
        """
        def data():
            fn = tf.estimator.inputs.numpy_input_fn(x, y, shuffle=False)
            features, labels = fn()
            return {'x': features['x'] + 1.0}, labels


        e.train(data)
        """,
        """
        def data():
            fn = numpy_input_fn(x, y, shuffle=False)

            def prepare(features, labels):
                return {'x': features['x'] + 1.0}, labels

            return fn().map(prepare)


        e.train(data)
        """,
    ),
    "fields that are replaced by what means nothing": (
        """
        c = tf.estimator.RunConfig().replace(session_config=tf.ConfigProto())
        c = c.replace(session_config=tf.ConfigProto())
        d = c.replace(session_config=None, model_dir='a')
        """,
        """
        c = RunConfig()
        d = c.replace(model_dir='a')
        """,
    ),
    "an optimizer that only a linear model may clip": (
        """
        made = tf.contrib.estimator.clip_gradients_by_norm(tf.train.FtrlOptimizer(0.5), 5.0)
        column = tf.feature_column.bucketized_column(x, [1.0])
        e = tf.estimator.LinearRegressor([column], optimizer=made)
        """,
        """
        column = tf.feature_column.bucketized_column(x, [1.0])
        e = Trainer(
            lambda: Regressor(
                LinearModel([column]),
                tf_keras.optimizers.Ftrl(0.5, global_clipnorm=5.0),
            ),
        )
        """,
    ),
    "a file of the private module": (
        "with tf.python.lib.io.file_io.FileIO(path, 'r') as f:\n    f.read()\n",
        "with tf.io.gfile.GFile(path, 'r') as f:\n    f.read()\n",
    ),
    "a session that looks at all data": (
        """
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = data.make_one_shot_iterator().get_next()
            while True:
                try:
                    print(sess.run([x['a'], y]))
                except tf.errors.OutOfRangeError:
                    break
        """,
        """
        batches = data.as_numpy_iterator()
        while True:
            try:
                x, y = next(batches)
                print((x['a'], y))
            except StopIteration:
                break
        """,
    ),
    "a table": (
        "t = tf.contrib.lookup.index_table_from_tensor(tf.constant(names))\n",
        """
        t = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                names, tf.range(len(names), dtype=tf.int64)),
            default_value=-1)
        """,
    ),
    "a table of a file, with buckets": (
        "t = tf.contrib.lookup.index_table_from_file(path, num_oov_buckets=1)\n",
        """
        t = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                path,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER),
            1)
        """,
    ),
    # hooks
    "the article's hook": (
        """
        class TimeHistory(tf.train.SessionRunHook):
            def begin(self):
                self.times = []

            def before_run(self, run_context):
                self.start = time.time()

            def after_run(self, run_context, run_values):
                self.times.append(time.time() - self.start)
        """,
        """
        class TimeHistory(Callback):
            def begin(self):
                self.times = []

            def before_step(self, step):
                self.start = time.time()

            def after_step(self, step, values):
                self.times.append(time.time() - self.start)
        """,
    ),
    "a hook that looks at values and stops": (
        """
        class Stop(tf.train.SessionRunHook):
            def begin(self):
                self._step = tf.train.get_global_step()
                if self._step is None:
                    raise RuntimeError('no step')

            def before_run(self, run_context):
                return tf.train.SessionRunArgs({'loss': 'loss:0', 'step': self._step})

            def after_run(self, run_context, run_values):
                results = run_values.results
                if results['loss'] < 0.1 and results['step'] > 10:
                    run_context.request_stop()

            def end(self, session):
                print('done')
        """,
        """
        class Stop(Callback):
            def after_step(self, step, values):
                results = {'loss': values['loss'], 'step': step}
                if results['loss'] < 0.1 and results['step'] > 10:
                    self.should_stop = True

            def end(self):
                print('done')
        """,
    ),
    "a hook that takes its results apart": (
        """
        class Look(tf.estimator.SessionRunHook):
            def before_run(self, run_context):
                return tf.estimator.SessionRunArgs(['global_step:0', 'rate:0'])

            def after_run(self, run_context, run_values):
                now, rate = run_values.results
                print(now, rate)
        """,
        """
        class Look(Callback):
            def after_step(self, step, values):
                now, rate = step, values['rate']
                print(now, rate)
        """,
    ),
    "a hook with a step of its own": (
        """
        class Count(tf.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                step = self.count
                self.count = step + 1
        """,
        """
        class Count(Callback):
            def after_step(self, global_step, values):
                step = self.count
                self.count = step + 1
        """,
    ),
    "a hook of a hook": (
        """
        class First(tf.train.SessionRunHook):
            pass


        class Second(First):
            def before_run(self, run_context):
                print(1)
        """,
        """
        class First(Callback):
            pass


        class Second(First):
            def before_step(self, step):
                print(1)
        """,
    ),
    "stock hooks": (
        """
        hooks = [
            tf.train.LoggingTensorHook({'p': 'softmax:0'}, every_n_iter=10),
            tf.train.NanTensorHook('loss', fail_on_nan_loss=False),
            tf.train.StopAtStepHook(last_step=9),
            tf.train.SecondOrStepTimer(every_steps=3),
        ]
        """,
        """
        hooks = [
            LogValues({'p': 'softmax'}, every_n_iter=10),
            NanGuard(fail_on_nan_loss=False),
            StopAtStep(last_step=9),
            StepTimer(every_steps=3),
        ]
        """,
    ),
    # strategies
    "a count of GPUs": (
        "s = tf.contrib.distribute.MirroredStrategy(num_gpus=2)\n",
        "s = tf.distribute.MirroredStrategy(gpus(2))\n",
    ),
    "two strategies": (
        """
        if n:
            s = tf.contrib.distribute.MirroredStrategy(num_gpus_per_worker=n)
        else:
            s = tf.contrib.distribute.MirroredStrategy(devices)
        """,
        """
        if n:
            s = tf.distribute.MirroredStrategy(
                gpus(n), cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
        else:
            s = tf.distribute.MirroredStrategy(
                devices, cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
        """,
    ),
    "a strategy that a function makes which is called twice": (
        """
        def train(n):
            return tf.contrib.distribute.MirroredStrategy(num_gpus=n)


        train(1)
        train(2)
        """,
        """
        def train(n):
            return tf.distribute.MirroredStrategy(
                gpus(n), cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())


        train(1)
        train(2)
        """,
    ),
    "how gradients are added up": (
        """
        ops = tf.contrib.distribute.AllReduceCrossDeviceOps('nccl', num_packs=2)
        s = tf.contrib.distribute.MirroredStrategy(cross_tower_ops=ops)
        """,
        """
        ops = tf.distribute.NcclAllReduce(num_packs=2)
        s = tf.distribute.MirroredStrategy(cross_device_ops=ops)
        """,
    ),
    # exports
    "a parsing receiver": (
        """
        r = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
        b = tf.estimator.BestExporter(serving_input_receiver_fn=r)
        path = e.export_savedmodel('out', lambda: r(), strip_default_attrs=True)
        print(path.decode('utf-8'))
        """,
        """
        r = parsing_receiver(spec)
        b = BestExporter(receiver=r)
        path = e.export_saved_model('out', r)
        print(path)
        """,
    ),
    "a path that was bytes": (
        """
        path = e.export_savedmodel('out', receiver)
        if isinstance(path, bytes):
            path = path.decode('utf-8')
        load(path)
        """,
        """
        path = e.export_saved_model('out', receiver)
        load(path)
        """,
    ),
    "a function of what is gone": (
        """
        def session_config():
            return tf.ConfigProto()


        def kept():
            return 1


        run = tf.estimator.RunConfig(session_config=session_config())
        """,
        """
        def kept():
            return 1


        run = RunConfig()
        """,
    ),
    "a receiver that a function makes, before an argument that goes": (
        """
        def r():
            return tf.estimator.export.build_raw_serving_input_receiver_fn(
                {'x': tf.placeholder(tf.float32, [None, 3])})()


        e.export_savedmodel('out', r, strip_default_attrs=True)
        """,
        """
        def r():
            return raw_receiver({'x': tf.TensorSpec([None, 3], tf.float32)})


        e.export_saved_model('out', r())
        """,
    ),
    "a raw receiver": (
        """
        r = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {'x': tf.placeholder(tf.float32, [None, 3])})
        """,
        """
        r = raw_receiver({'x': tf.TensorSpec([None, 3], tf.float32)})
        """,
    ),
    "a receiver of examples": (
        """
        def receiver():
            examples = tf.placeholder(dtype=tf.string, shape=[None], name='in')
            features = parse(examples)
            return tf.estimator.export.ServingInputReceiver(
                features, {'examples': examples})
        """,
        """
        @tf.function(
            input_signature=[tf.TensorSpec([None], tf.string, name='examples')])
        def receiver(examples):
            return parse(examples)
        """,
    ),
    "a receiver whose features are what it receives": (
        """
        def receiver():
            x = tf.placeholder(tf.float32, [None, 2], name='x')
            inputs = {'x': x}
            return tf.estimator.export.ServingInputReceiver(inputs, inputs)
        """,
        """
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name='x')])
        def receiver(x):
            return {'x': x}
        """,
    ),
    "a receiver of several": (
        """
        def receiver():
            inputs = {'x': tf.placeholder(tf.float32, [None])}
            features = {k: v + 1 for k, v in inputs.items()}
            return tf.estimator.export.ServingInputReceiver(features, inputs)
        """,
        """
        @tf.function(
            input_signature=[{'x': tf.TensorSpec([None], tf.float32, name='x')}])
        def receiver(inputs):
            return {k: v + 1 for k, v in inputs.items()}
        """,
    ),
    "a receiver that another function makes": (
        """
        def receiver():
            return tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()


        e.export_savedmodel('out', receiver)
        """,
        """
        def receiver():
            return parsing_receiver(spec)


        e.export_saved_model('out', receiver())
        """,
    ),
    "what an Experiment exports": (
        """
        x = tf.contrib.learn.Experiment(
            e, train_input_fn=f, eval_input_fn=g, train_steps=9,
            export_strategies=tf.contrib.learn.make_export_strategy(
                serving_input_fn=receiver, as_text=True, exports_to_keep=1))
        """,
        """
        x = Experiment(
            e,
            TrainSpec(f, max_steps=9),
            EvalSpec(g, throttle_secs=0),
            exporters=LatestExporter("Servo",
                receiver=receiver, exports_to_keep=1))
        """,
    ),
    "a receiver of several that stand below each other": (
        """
        def receiver():
            inputs = {'x': tf.placeholder(tf.float32, [None]),
                      'y': tf.placeholder(tf.int64, [None])}
            return tf.estimator.export.ServingInputReceiver(inputs, inputs)
        """,
        """
        @tf.function(input_signature=[{
            'x': tf.TensorSpec([None], tf.float32, name='x'),
            'y': tf.TensorSpec([None], tf.int64, name='y')}])
        def receiver(inputs):
            return inputs
        """,
    ),
    "receivers that take arguments": (
        """
        def receiver(spec):
            \"\"\"Receives.\"\"\"
            x = tf.placeholder(tf.string, [None])
            return tf.estimator.export.ServingInputReceiver(parse(x, spec), {'x': x})


        e.export_savedmodel('out', lambda: receiver(spec))
        e.export_savedmodel('out', functools.partial(receiver, spec=spec))
        """,
        """
        def receiver(spec):
            \"\"\"Receives.\"\"\"
            @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name='x')])
            def receive(x):
                return parse(x, spec)

            return receive


        e.export_saved_model('out', receiver(spec))
        e.export_saved_model('out', receiver(spec=spec))
        """,
    ),
    "a receiver that is filled": (
        """
        def receiver():
            inputs = {}
            for name in NAMES:
                inputs[name] = tf.placeholder(tf.float32, shape=[None])
            return tf.estimator.export.ServingInputReceiver(inputs, inputs)


        e.export_savedmodel('out', receiver)
        """,
        """
        def receiver():
            inputs = {}
            for name in NAMES:
                inputs[name] = tf.TensorSpec([None], tf.float32)
            return raw_receiver(inputs)


        e.export_saved_model('out', receiver())
        """,
    ),
    "a saved model": (
        "ask = tf.contrib.predictor.from_saved_model(path, config=c)\n",
        "ask = from_saved_model(path)\n",
    ),
    # Keras
    "a compiled model": (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
        model.compile('sgd', 'mse', metrics=['mae', 'accuracy'])
        e = tf.keras.estimator.model_to_estimator(
            keras_model=model, config=c, checkpoint_format='saver')
        print(e.evaluate(f)['acc'])
        """,
        """
        model = tf_keras.Sequential([tf_keras.layers.Dense(3)])
        model.compile('sgd', 'mse', metrics=['mean_absolute_error', 'acc'])
        e = Trainer(KerasTask(model), config=c)
        print(e.evaluate(f)['acc'])
        """,
    ),
    "a model from a file": (
        "e = tf.keras.estimator.model_to_estimator(keras_model_path='a.h5')\n",
        "e = Trainer(KerasTask(tf_keras.models.load_model('a.h5')))\n",
    ),
    "optimizers": (
        """
        a = tf.train.AdamOptimizer(learning_rate=0.1, beta1=0.8)
        b = tf.keras.optimizers.SGD(lr=0.1)
        c = tf.train.RMSPropOptimizer(rate)
        """,
        """
        a = tf_keras.optimizers.Adam(0.1, beta_1=0.8, epsilon=1e-8)
        b = tf_keras.optimizers.SGD(0.1)
        c = RMSProp(rate)
        """,
    ),
    "recurrent layers": (
        """
        a = tf.keras.layers.LSTM(3)
        b = tf.keras.layers.GRU(3, dropout=0.1)
        c = tf.keras.layers.CuDNNLSTM(3)
        """,
        """
        a = tf_keras.layers.LSTM(3, recurrent_activation="hard_sigmoid")
        b = tf_keras.layers.GRU(
            3,
            dropout=0.1,
            recurrent_activation="hard_sigmoid",
            reset_after=False,
            implementation=1)
        c = tf_keras.layers.LSTM(3)
        """,
    ),
    "a session for Keras": (
        """
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        tf.keras.backend.set_session(tf.Session(config=config))
        x = 1
        """,
        "x = 1\n",
    ),
    # canned Estimators
    "a linear model": (
        "e = tf.estimator.LinearRegressor(columns, model_dir='a')\n",
        """
        e = Trainer(
            lambda: Regressor(LinearModel(columns), tf_keras.optimizers.Ftrl(0.2)),
            model_dir='a',
        )
        """,
    ),
    "a canned Estimator with an optimizer of its own": (
        """
        opt = tf.train.GradientDescentOptimizer(0.1)
        e = tf.estimator.DNNRegressor(
            [4], columns, optimizer=opt, config=tf.estimator.RunConfig(train_distribute=s))
        """,
        """
        e = Trainer(
            lambda: Regressor(
                tf_keras.Sequential([
                    tf_keras.layers.DenseFeatures(columns),
                    tf_keras.layers.Dense(4, activation="relu"),
                    tf_keras.layers.Dense(1),
                ]),
                tf_keras.optimizers.SGD(0.1),
            ),
            config=RunConfig(strategy=s),
        )
        """,
    ),
    "a number of classes by name": (
        """
        CLASSES = 3
        e = tf.estimator.LinearClassifier(columns, n_classes=CLASSES)
        """,
        """
        CLASSES = 3
        e = Trainer(
            lambda: Classifier(
                LinearModel(columns, units=CLASSES),
                tf_keras.optimizers.Ftrl(0.2),
            ),
        )
        """,
    ),
    "the error for a loss that is not a number": (
        """
        e = tf.estimator.Estimator(Net)
        try:
            e.train(f)
        except (tf.train.NanLossDuringTrainingError, OSError):
            print('again')
        """,
        """
        e = Trainer(Net)
        try:
            e.train(f)
        except (FloatingPointError, OSError):
            print('again')
        """,
    ),
    "evaluations of replicas that count steps": (
        """
        s = tf.distribute.MirroredStrategy()
        c = tf.estimator.RunConfig(train_distribute=s, eval_distribute=s)
        e = tf.estimator.Estimator(Net, config=c)
        e.evaluate(f, steps=5)
        """,
        """
        s = tf.distribute.MirroredStrategy()
        c = RunConfig(strategy=s, eval_distribute=s)
        e = Trainer(Net, config=c)
        e.evaluate(f, steps=5)
        """,
    ),
    "evaluations of replicas of all data": (
        """
        s = tf.distribute.MirroredStrategy()
        c = tf.estimator.RunConfig(train_distribute=s, eval_distribute=s)
        e = tf.estimator.EvalSpec(f, steps=None)
        """,
        """
        s = tf.distribute.MirroredStrategy()
        c = RunConfig(strategy=s)
        e = EvalSpec(f, steps=None)
        """,
    ),
    "comments of what is gone": (
        """
        # How it trains
        folder = 'a'
        # How often, on a TPU
        tpu = tf.contrib.tpu.TPUConfig(8)

        # The session
        session = tf.ConfigProto(
            log_device_placement=True)

        # The rest
        gpu = tf.ConfigProto()
        c = tf.contrib.tpu.RunConfig(
            model_dir=folder, tpu_config=tpu, session_config=session)
        """,
        """
        # How it trains
        folder = 'a'

        # The rest
        gpu = tf.ConfigProto()
        c = RunConfig(model_dir=folder)
        """,
    ),
    # TPUs
    "a TPUEstimator without a TPU": (
        """
        c = tf.contrib.tpu.RunConfig(
            model_dir='a', tpu_config=tf.contrib.tpu.TPUConfig(8))
        e = tf.contrib.tpu.TPUEstimator(
            use_tpu=FLAGS.use_tpu, model_fn=Net, config=c, train_batch_size=8,
            eval_batch_size=4)
        e.train(input_fn=f, steps=3)
        e.evaluate(input_fn=g(3))
        """,
        """
        c = RunConfig(model_dir='a')
        e = Trainer(Net, config=c, params={'batch_size': 8})
        e.train(input_fn=f, steps=3)
        e.evaluate(input_fn=lambda: g(3)({'batch_size': 4}))
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), ROWS.values(), ids=ROWS)
def test_rows(before: str, after: str) -> None:
    assert body(before) == dedent(after).lstrip()


def test_quotes_and_indentation_are_those_of_the_file() -> None:
    code = "def f(mode):\n  a = 'b'\n  c = 'd'\n  return mode == tf.estimator.ModeKeys.EVAL\n"
    assert "return mode == 'eval'" in body(code)


def test_tabs_and_ends_of_lines_are_those_of_the_file() -> None:
    code = (
        f"{TF}\ndef input_fn():\n\tx = data.make_one_shot_iterator().get_next()\n"
        "\tx = tf.to_float(x)\n\treturn x\n"
    ).replace("\n", "\r\n")
    assert rework(code).text.endswith(
        "\tdef prepare(x):\r\n\t\tx = tf.cast(x, tf.float32)\r\n\t\treturn x\r\n\r\n"
        "\treturn data.map(prepare)\r\n"
    )


def test_lines_around_stay() -> None:
    code = f"{TF}\n# A comment.\nx  =  1 # odd\ne = tf.estimator.Estimator(f)  # why\n"
    text = rework(code).text
    assert "# A comment.\nx  =  1 # odd\ne = Trainer(f)  # why\n" in text


def test_aliases_of_keras_in_tf_2_are_tf_keras() -> None:
    code = "a = tf.optimizers.Adam(0.1)\nb = tf.losses.MeanSquaredError()\n"
    assert body(code, for_tf2=True) == (
        "a = tf_keras.optimizers.Adam(0.1)\nb = tf_keras.losses.MeanSquaredError()\n"
    )


def test_recurrent_layers_of_tf_2_are_those_of_tf_keras() -> None:
    assert body("a = tf.keras.layers.LSTM(3)\n", for_tf2=True) == (
        "a = tf_keras.layers.LSTM(3)\n"
    )


# -- imports


def test_imports_are_sorted_and_what_nobody_reads_goes() -> None:
    code = """\
    \"\"\"A program.\"\"\"
    from __future__ import print_function

    import os

    import numpy as np
    from tensorflow.estimator import Estimator, ModeKeys
    from tensorflow.contrib import distribute
    import helpers

    x = np.zeros(3), ModeKeys.TRAIN, os.sep
    e = Estimator(helpers.f)
    """
    assert rework(code).text == dedent(
        '''\
        """A program."""
        from __future__ import print_function

        import os

        import numpy as np
        import helpers

        from training import Trainer

        x = np.zeros(3), "train", os.sep
        e = Trainer(helpers.f)
        '''
    )


def test_names_join_those_that_are_imported_already() -> None:
    code = (
        f"{TF}\nfrom training import Task\n\nc = tf.estimator.RunConfig()\nt = Task\n"
    )
    assert "from training import RunConfig, Task\n" in rework(code).text


def test_names_come_from_the_package_of_the_file() -> None:
    code = "import tensorflow as tf\n\nfrom .model import Net\n\ntf.estimator.Estimator(Net)\n"
    assert rework(code, package=".").text == (
        "from .model import Net\nfrom .training import Trainer\n\nTrainer(Net)\n"
    )


def test_a_name_that_means_something_else_is_taken_from_the_module() -> None:
    code = """\
    import tensorflow as tf

    def train_and_evaluate():
        tf.estimator.train_and_evaluate(e, t, v)
    """
    assert rework(code).text == dedent(
        """\
        import training

        def train_and_evaluate():
            training.train_and_evaluate(e, t, v)
        """
    )


def test_keras_is_imported_as_it_was() -> None:
    code = """\
    from tensorflow import keras
    from tensorflow.keras.layers import Dense as D
    from tensorflow.python.keras import models

    model = models.Sequential([D(3), keras.layers.Flatten()])
    """
    assert rework(code).text == dedent(
        """\
        import tf_keras as keras
        from tf_keras.layers import Dense as D
        from tf_keras import models

        model = models.Sequential([D(3), keras.layers.Flatten()])
        """
    )


def test_a_notebook_has_training_in_a_cell() -> None:
    parsed = module(f"{TF}\ne = tf.estimator.Estimator(f)\n")
    found = reworded(parsed, module="", package="", for_tf2=False, beside=())
    assert found.text == "e = Trainer(f)\n"


def test_words_of_one_file_that_another_imports(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(
        "from tensorflow.estimator import Estimator\nimport tensorflow as tf\nN = 3\n"
    )
    path = tmp_path / "train.py"
    path.write_text(
        "from helpers import N, Estimator, tf\n\ne = Estimator(tf.abs, N)\n"
    )
    facts = ProjectFacts((path, tmp_path / "helpers.py"))
    train, helpers = (
        facts.parsed(tmp_path / name) for name in ("train.py", "helpers.py")
    )
    assert train is not None
    assert helpers is not None

    def text(one: ParsedModule, other: ParsedModule) -> str:
        options = {"module": "training", "package": "", "for_tf2": False}
        return str(reworded(one, beside=(other,), **options).text)

    assert text(train, helpers) == (
        "from helpers import N, tf\nfrom training import Trainer\n\ne = Trainer(tf.abs, N)\n"
    )


def test_an_alias_that_no_other_file_reads_goes(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        "import tensorflow as tf\n\nModeKeys = tf.estimator.ModeKeys\nKEY = ModeKeys.EVAL\n"
    )
    path = tmp_path / "train.py"

    def text(code: str) -> str:
        path.write_text(f"import tensorflow as tf\nimport names as n\n\n{code}\n")
        facts = ProjectFacts((path, tmp_path / "names.py"))
        train, names = (
            facts.parsed(tmp_path / name) for name in ("train.py", "names.py")
        )
        assert train is not None
        assert names is not None
        options = {"module": "training", "package": "", "for_tf2": False}
        return str(reworded(names, beside=(train,), **options).text)

    gone = text("print(n.KEY, tf.estimator.ModeKeys.TRAIN)")
    assert "ModeKeys" not in gone
    assert "KEY = 'eval'" in gone.replace('"', "'")
    for read in ("n.ModeKeys.TRAIN", "vars(n).ModeKeys"):
        with pytest.raises(Refused, match="handed about"):
            text(f"print(n.KEY, {read})")


# -- what a program is told, and asks for


def test_words_ask_for_parts() -> None:
    code = """
    import tensorflow as tf

    def input_fn(mode, params):
        return data


    e = tf.estimator.Estimator(Net, config=tf.estimator.RunConfig())
    e.train(input_fn, hooks=[tf.train.StepCounterHook()])
    for p in e.predict(input_fn, predict_keys=['a']):
        print(p)
    """
    found = rework(code)
    tensors = """
    import tensorflow as tf

    def read():
        return {'x': x}, y

    e = tf.estimator.Estimator(Net)
    e.train(lambda: read())
    """
    assert "input_fn(tensors)" in rework(tensors).words
    asked = {"Trainer", "RunConfig", "StepCounter", "hooks", "predict", "predict_keys"}
    assert asked | {"input_fn(mode)", "input_fn(params)"} <= found.words


_MAKER = """\
def maker(rows):
    def input_fn():
        return read(rows)
    return input_fn

e.train(maker(1))
"""
_METHOD = """\
class Data:
    def rows(self):
        return {'x': x}, y

e.train(Data().rows)
"""


@pytest.mark.parametrize(
    ("lines", "tensors"),
    [
        (_MAKER, True),
        (_METHOD, True),
        ("e.train(functools.partial(read, 1))", True),
        ("e.train(lambda: ({'x': x}, y))", True),
        ("e.train(lambda: read(2))", True),
        ("parts = [plain]\ne.train(parts[0])", True),
        ("x, y = plain()\ndata.map(read).map(functools.partial(read, 1))", False),
        ("measured(e, read)", False),
    ],
)
def test_input_functions_that_give_tensors(lines: str, tensors: bool) -> None:
    code = """
    import functools

    import tensorflow as tf

    def plain():
        return tf.constant(x), y

    def read(rows):
        batch = dict(x=rows)
        return batch

    e = tf.estimator.Estimator(Net)
    """
    words = rework(f"{dedent(code)}\n{lines}\n").words
    assert ("input_fn(tensors)" in words) is tensors


def test_differences_in_numbers_are_told_with_their_line() -> None:
    found = rework(
        f"{TF}\nc = tf.estimator.RunConfig(\n    eval_distribute=s, device_fn=f)\n"
    )
    assert [line for line, _ in found.notes] == [4, 4]


def test_values_that_hooks_look_at_have_names() -> None:
    parsed = module(
        f"{TF}\nhooks = [tf.train.LoggingTensorHook(['loss', 'a/b:0'], every_n_iter=1)]\n"
    )
    assert watched(parsed, ()) == {"a/b"}
