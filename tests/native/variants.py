"""One program said in fifty ways: each is the base with some lines said differently.

What is computed is the same for most of them; how Estimator, configuration, model
function and data come to each other is not.
"""

from __future__ import annotations

from textwrap import indent

BASE = '''\
"""Three classes of small pictures, told apart by two layers."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def dense_model_fn(features, labels, mode, params):
    """Two layers with a normalization between them."""
    pixels = tf.reshape(features['image'], [-1, 8])
    net = tf.layers.dense(
        pixels, params['hidden'], activation=tf.nn.relu, kernel_initializer=RAMP)
    net = tf.layers.batch_normalization(
        net, training=mode == tf.estimator.ModeKeys.TRAIN)
    net = tf.layers.dropout(
        net, rate=params['dropout'], training=(mode == tf.estimator.ModeKeys.TRAIN))
    logits = tf.layers.dense(net, 3, kernel_initializer=RAMP, name='logits')

    predicted = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {'class': predicted, 'probabilities': tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            'accuracy': tf.metrics.accuracy(labels, predicted),
            'mean_logit': tf.metrics.mean(logits),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def ramp(shape, dtype=tf.float32, partition_info=None):
    """First weights that are the same in every run."""
    count = int(np.prod(shape))
    values = np.cos(np.arange(count)).reshape([int(size) for size in shape])
    return tf.constant(values, dtype)


RAMP = ramp


def arrays(split):
    """Pictures and classes."""
    rng = np.random.RandomState(1 if split == 'train' else 2)
    classes = rng.randint(0, 3, 60).astype('int32')
    images = rng.rand(60, 2, 4) + classes[:, None, None] * .3
    return images.astype('float32'), classes


def dataset(split, batch_size):
    """Batches of one split."""
    images, classes = arrays(split)
    data = tf.data.Dataset.from_tensor_slices(({'image': images}, classes))
    if split == 'train':
        data = data.repeat()
    return data.batch(batch_size)


def main():
    config = tf.estimator.RunConfig(
        model_dir=tempfile.mkdtemp(),
        save_checkpoints_steps=10,
        log_step_count_steps=10)
    classifier = tf.estimator.Estimator(
        dense_model_fn,
        config=config,
        params={'hidden': 6, 'dropout': 0., 'learning_rate': 0.02})
    classifier.train(lambda: dataset('train', 10), max_steps=25)
    results = classifier.evaluate(lambda: dataset('test', 20))
    RESULT.update(results)
    predicted = list(classifier.predict(lambda: dataset('test', 20)))
    RESULT['first'] = predicted[0]['probabilities'][0]
    RESULT['last'] = predicted[-1]['probabilities'][2]


RESULT = {}
if __name__ == '__main__':
    main()
'''

_MADE = """\
    classifier = tf.estimator.Estimator(
        dense_model_fn,
        config=config,
        params={'hidden': 6, 'dropout': 0., 'learning_rate': 0.02})
"""
_CONFIG = """\
    config = tf.estimator.RunConfig(
        model_dir=tempfile.mkdtemp(),
        save_checkpoints_steps=10,
        log_step_count_steps=10)
"""
_PARAMS = "{'hidden': 6, 'dropout': 0., 'learning_rate': 0.02}"
_TRAIN = "    classifier.train(lambda: dataset('train', 10), max_steps=25)\n"
_EVALUATE = "    results = classifier.evaluate(lambda: dataset('test', 20))\n"
_IMPORT = "import tensorflow as tf\n"
_LAST = "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
_METRICS = """\
        metrics = {
            'accuracy': tf.metrics.accuracy(labels, predicted),
            'mean_logit': tf.metrics.mean(logits),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
"""
_MAIN = "def main():\n"
_RAMP = "RAMP = ramp\n"
_MINIMIZE = "        train_op = optimizer.minimize(loss, tf.train.get_global_step())\n"
_LOSS = (
    "    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)\n"
)
_UPDATE = BASE[BASE.index("    optimizer =") : BASE.index(_LAST)]
_LOGITS = (
    "    logits = tf.layers.dense(net, 3, kernel_initializer=RAMP, name='logits')\n"
)
_HEADED = BASE[BASE.index("\n    predicted = ") : BASE.index("\n\ndef ramp")]
_DATA = "    return data.batch(batch_size)\n"

_FUNCTION = BASE[BASE.index("def dense_model_fn") : BASE.index("\n\ndef ramp")]

# name -> what stands there: what is said instead
VARIANTS: dict[str, dict[str, str]] = {
    "bound_twice": {
        _MADE: f"{_MADE}    classifier.train(lambda: dataset('test', 10), steps=3)\n"
        + _CONFIG
        + _MADE,
    },
    "bound_in_branches": {
        _MADE: "    if os.environ.get('WIDE'):\n"
        "        classifier = tf.estimator.Estimator(\n"
        "            dense_model_fn, config=config,\n"
        "            params={'hidden': 9, 'dropout': 0., 'learning_rate': 0.02})\n"
        "    else:\n"
        "        classifier = tf.estimator.Estimator(\n"
        "            dense_model_fn, config=config,\n"
        f"            params={_PARAMS})\n",
    },
    "from_import": {
        _IMPORT: f"{_IMPORT}from tensorflow.estimator import Estimator, RunConfig\n",
        "tf.estimator.Estimator(\n": "Estimator(\n",
        "tf.estimator.RunConfig(": "RunConfig(",
    },
    "private_path": {
        _IMPORT: (
            f"{_IMPORT}from tensorflow.python.estimator.estimator import Estimator\n"
            "from tensorflow.python.estimator.model_fn import EstimatorSpec as Spec\n"
            "from tensorflow.python.estimator import run_config as run_config_lib\n"
        ),
        "tf.estimator.Estimator(\n": "Estimator(\n",
        _LAST: "    return Spec(mode, loss=loss, train_op=train_op)\n",
        "tf.estimator.RunConfig(": "run_config_lib.RunConfig(",
    },
    "compat_door": {_IMPORT: "import tensorflow.compat.v1 as tf\n"},
    "alias_of_package": {
        _RAMP: f"{_RAMP}est = tf.estimator\nlayers = tf.layers\n",
        "tf.estimator.Estimator(\n": "est.Estimator(\n",
        "tf.layers.dense(net": "layers.dense(net",
    },
    "alias_of_class": {
        _RAMP: f"{_RAMP}Spec = tf.estimator.EstimatorSpec\n",
        _LAST: "    return Spec(mode, loss=loss, train_op=train_op)\n",
    },
    "config_from_options": {
        _CONFIG: "    options = dict(model_dir=tempfile.mkdtemp(),\n"
        "                   save_checkpoints_steps=10)\n"
        "    options['log_step_count_steps'] = 10\n"
        "    config = tf.estimator.RunConfig(**options)\n",
    },
    "config_replaced": {
        _CONFIG: "    config = tf.estimator.RunConfig().replace(\n"
        "        model_dir=tempfile.mkdtemp(), save_checkpoints_steps=10)\n",
    },
    "config_from_helper": {
        _MAIN: "def settings(**more):\n"
        "    return tf.estimator.RunConfig(\n"
        "        tf_random_seed=3, keep_checkpoint_max=2, **more)\n\n\n" + _MAIN,
        _CONFIG: "    config = settings(model_dir=tempfile.mkdtemp())\n",
    },
    "builder": {
        _MAIN: "def build(kind, **options):\n"
        "    if kind == 'dense':\n"
        "        return tf.estimator.Estimator(dense_model_fn, **options)\n"
        "    raise ValueError(kind)\n\n\n" + _MAIN,
        _MADE: f"    classifier = build('dense', config=config, params={_PARAMS})\n",
    },
    "builder_of_several": {
        _MAIN: "def wide_model_fn(features, labels, mode, params):\n"
        "    params = dict(params, hidden=2 * params['hidden'])\n"
        "    return dense_model_fn(features, labels, mode, params)\n\n\n"
        "def build(kind, config, params):\n"
        "    if kind == 'wide':\n"
        "        return tf.estimator.Estimator(wide_model_fn, None, config, params)\n"
        "    elif kind == 'dense':\n"
        "        return tf.estimator.Estimator(dense_model_fn, None, config, params)\n"
        "    return None\n\n\n" + _MAIN,
        _MADE: f"    classifier = build('wide', config, {_PARAMS})\n",
    },
    "train_and_evaluate": {
        _TRAIN: "    train_spec = tf.estimator.TrainSpec(\n"
        "        lambda: dataset('train', 10), max_steps=25)\n"
        "    eval_spec = tf.estimator.EvalSpec(\n"
        "        lambda: dataset('test', 20), steps=None, throttle_secs=0)\n"
        "    tf.estimator.train_and_evaluate(classifier, train_spec, eval_spec)\n",
    },
    "hooks_of_evaluation": {
        _MAIN: "class Counted(tf.train.SessionRunHook):\n"
        "    def begin(self):\n"
        "        self.batches = 0\n\n"
        "    def after_run(self, run_context, run_values):\n"
        "        self.batches += 1\n\n"
        "    def end(self, session):\n"
        "        RESULT['batches'] = self.batches\n\n\n" + _MAIN,
        _TRAIN: "    tf.estimator.train_and_evaluate(\n"
        "        classifier,\n"
        "        tf.estimator.TrainSpec(lambda: dataset('train', 10), 25),\n"
        "        tf.estimator.EvalSpec(lambda: dataset('test', 20), None,\n"
        "                              hooks=[Counted()], throttle_secs=0))\n",
    },
    "hook_fetches_loss": {
        _MAIN: "class Losses(tf.estimator.SessionRunHook):\n"
        "    def __init__(self, name):\n"
        "        self.name, self.seen = name, []\n\n"
        "    def begin(self):\n"
        "        graph = tf.get_default_graph()\n"
        "        self.loss_tensor = graph.get_tensor_by_name(self.name)\n\n"
        "    def before_run(self, run_context):\n"
        "        return tf.train.SessionRunArgs({'loss': self.loss_tensor})\n\n"
        "    def after_run(self, run_context, run_values):\n"
        "        self.seen.append(run_values.results['loss'])\n\n\n" + _MAIN,
        _LAST: "    tf.identity(loss, name='the_loss')\n" + _LAST,
        _TRAIN: "    losses = Losses('the_loss:0')\n"
        + _TRAIN.replace("max_steps=25", "max_steps=25, hooks=[losses]")
        + "    RESULT['steps'] = len(losses.seen)\n"
        "    RESULT['mean_loss'] = np.mean(losses.seen)\n",
    },
    "input_fn_with_iterator": {
        _DATA: "    iterator = data.batch(batch_size).make_one_shot_iterator()\n"
        "    features, classes = iterator.get_next()\n"
        "    return features, classes\n",
    },
    "numpy_input_fn": {
        _TRAIN: "    images, classes = arrays('train')\n"
        "    train_fn = tf.estimator.inputs.numpy_input_fn(\n"
        "        {'image': images}, classes, batch_size=10, num_epochs=None,\n"
        "        shuffle=False)\n"
        "    classifier.train(train_fn, max_steps=25)\n",
    },
    "partial_input_fn": {
        _IMPORT: f"{_IMPORT}import functools\n",
        _TRAIN: (
            "    classifier.train(functools.partial(dataset, 'train', batch_size=10),\n"
            "                     steps=25)\n"
        ),
    },
    "input_fn_with_params": {
        _MAIN: "def train_input_fn(params, mode, config):\n"
        "    assert mode == tf.estimator.ModeKeys.TRAIN\n"
        "    return dataset('train', params['batch'])\n\n\n" + _MAIN,
        "'learning_rate': 0.02}": "'learning_rate': 0.02, 'batch': 10}",
        _TRAIN: "    classifier.train(train_input_fn, max_steps=25)\n",
    },
    "lambda_model_fn": {
        "        dense_model_fn,\n        config=config,\n"
        f"        params={_PARAMS})\n": (
            "        model_fn=lambda features, labels, mode: dense_model_fn(\n"
            f"            features, labels, mode, {_PARAMS}),\n"
            "        config=config)\n"
        ),
    },
    # -- thirty more ----------------------------------------------------------------
    "method_model_fn": {
        _MAIN: "class Model(object):\n"
        "    def __init__(self, **params):\n"
        "        self.params = params\n\n"
        "    def model_fn(self, features, labels, mode):\n"
        "        return dense_model_fn(features, labels, mode, self.params)\n\n"
        "    def estimator(self, config):\n"
        "        return tf.estimator.Estimator(self.model_fn, config=config)\n\n\n"
        + _MAIN,
        _MADE: "    model = Model(hidden=6, dropout=0., learning_rate=0.02)\n"
        "    classifier = model.estimator(config)\n",
    },
    "callable_object": {
        _MAIN: "class ModelFn(object):\n"
        "    def __init__(self, params):\n"
        "        self.params = params\n\n"
        "    def __call__(self, features, labels, mode):\n"
        "        return dense_model_fn(features, labels, mode, self.params)\n\n\n"
        + _MAIN,
        _MADE: f"    classifier = tf.estimator.Estimator(ModelFn({_PARAMS}),\n"
        "                                        config=config)\n",
    },
    "factory_model_fn": {
        _MAIN: "def make_model_fn(params):\n"
        "    def model_fn(features, labels, mode):\n"
        "        return dense_model_fn(features, labels, mode, params)\n"
        "    return model_fn\n\n\n" + _MAIN,
        _MADE: f"    model_fn = make_model_fn({_PARAMS})\n"
        "    classifier = tf.estimator.Estimator(model_fn, config=config)\n",
    },
    "subclassed": {
        _MAIN: "class Classifier(tf.estimator.Estimator):\n"
        "    def __init__(self, hidden, config):\n"
        "        def model_fn(features, labels, mode):\n"
        "            params = {'hidden': hidden, 'dropout': 0.,\n"
        "                      'learning_rate': 0.02}\n"
        "            return dense_model_fn(features, labels, mode, params)\n"
        "        super(Classifier, self).__init__(\n"
        "            model_fn=model_fn, config=config)\n\n\n" + _MAIN,
        _MADE: "    classifier = Classifier(6, config)\n",
    },
    "held_in_a_dict": {
        _MADE: "    models = {}\n"
        "    for name, hidden in (('small', 6), ('large', 8)):\n"
        "        models[name] = tf.estimator.Estimator(\n"
        "            dense_model_fn, tempfile.mkdtemp(), params={\n"
        "                'hidden': hidden, 'dropout': 0.,\n"
        "                'learning_rate': 0.02})\n"
        "    classifier = models['small']\n",
    },
    "rounds": {
        _TRAIN: "    for round_ in range(3):\n"
        "        classifier.train(lambda: dataset('train', 10), steps=8)\n"
        "        results = classifier.evaluate(lambda: dataset('test', 20))\n"
        "        RESULT['loss_%d' % round_] = results['loss']\n",
    },
    "rates_tried": {
        _MADE + _TRAIN: "    for rate in (0.1, 0.01):\n"
        "        classifier = tf.estimator.Estimator(\n"
        "            dense_model_fn, tempfile.mkdtemp(),\n"
        "            params={'hidden': 6, 'dropout': 0., 'learning_rate': rate})\n"
        "        classifier.train(lambda: dataset('train', 10), max_steps=9)\n"
        "        RESULT['at_%s' % rate] = classifier.evaluate(\n"
        "            lambda: dataset('test', 20))['loss']\n",
    },
    "spec_of_all_modes": {
        _METRICS: "        pass\n",
        _LAST: "    return tf.estimator.EstimatorSpec(\n"
        "        mode=mode, loss=loss, train_op=train_op,\n"
        "        predictions={'class': predicted},\n"
        "        eval_metric_ops={\n"
        "            'accuracy': tf.metrics.accuracy(labels, predicted)})\n",
    },
    "metrics_from_helper": {
        _MAIN: "def figures(labels, predicted, **more):\n"
        "    found = {'accuracy': tf.metrics.accuracy(labels, predicted)}\n"
        "    for name, tensor in more.items():\n"
        "        found[name] = tf.metrics.mean(tensor)\n"
        "    return found\n\n\n" + _MAIN,
        _METRICS: "        return tf.estimator.EstimatorSpec(\n"
        "            mode, loss=loss, eval_metric_ops=figures(\n"
        "                labels, predicted, mean_logit=logits))\n",
    },
    "spec_by_keywords": {
        _LAST: "    given = {'mode': mode, 'loss': loss}\n"
        "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
        "        given['train_op'] = train_op\n"
        "    return tf.estimator.EstimatorSpec(**given)\n",
    },
    "training_hooks_of_spec": {
        _LAST: (
            "    hook = tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=10)\n"
            "    return tf.estimator.EstimatorSpec(\n"
            "        mode, loss=loss, train_op=train_op, training_hooks=[hook])\n"
        ),
    },
    "own_variables": {
        "    predicted = tf.argmax(logits, axis=1)\n": (
            "    with tf.variable_scope('head', reuse=tf.AUTO_REUSE):\n"
            "        scale = tf.get_variable('scale', [3], initializer=RAMP)\n"
            "        logits = logits * scale\n"
            "    moved = tf.Variable(tf.zeros([3]), name='moved')\n"
            "    logits = logits + moved\n"
            "    predicted = tf.argmax(logits, axis=1)\n"
        ),
    },
    "values_of_numpy": {
        "[-1, 8])\n": (
            "[-1, 8])\n"
            "    scale = tf.Variable(np.linspace(.5, 1.5, 8), trainable=False,\n"
            "                        dtype=tf.float32, name='scale')\n"
            "    pixels = pixels * scale\n"
        ),
    },
    "gradients_shown": {
        _MINIMIZE: (
            "        found = optimizer.compute_gradients(loss)\n"
            "        train_op = optimizer.apply_gradients(\n"
            "            found, tf.train.get_global_step())\n"
            "    for g, v in found:\n"
            "        if g is not None:\n"
            "            name = v.name.replace(':', '_')\n"
            "            g = tf.convert_to_tensor(g)\n"
            "            tf.summary.histogram('{}/gradient'.format(name), g)\n"
            "            tf.summary.scalar(name + '/zeros', tf.nn.zero_fraction(g))\n"
        ),
    },
    "gradients_clipped": {
        _MINIMIZE: "        variables = tf.trainable_variables()\n"
        "        gradients = tf.gradients(loss, variables)\n"
        "        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)\n"
        "        train_op = optimizer.apply_gradients(\n"
        "            zip(gradients, variables), tf.train.get_global_step())\n",
    },
    "decayed_rate": {
        "tf.train.MomentumOptimizer(params['learning_rate'], 0.9)": (
            "tf.train.AdamOptimizer(tf.train.exponential_decay(\n"
            "        params['learning_rate'], tf.train.get_or_create_global_step(),\n"
            "        5, 0.7, staircase=True), epsilon=1e-3)"
        ),
        # Its gradient is rounding alone before a normalization, which Adam amplifies.
        "activation=tf.nn.relu, kernel": (
            "activation=tf.nn.relu, use_bias=False, kernel"
        ),
    },
    "regularized": {
        "    if mode == tf.estimator.ModeKeys.EVAL:\n": (
            "    weights = [v for v in tf.trainable_variables() if 'kernel' in v.name]\n"
            "    loss += 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in weights])\n"
            "    if mode == tf.estimator.ModeKeys.EVAL:\n"
        ),
    },
    "regularized_or_not": {
        "    logits =": "    reg = (tf.contrib.layers.l2_regularizer(params['l2'])\n"
        "           if params.get('l2') else None)\n    logits =",
        "net, 3, kernel": "net, 3, kernel_regularizer=reg, kernel",
        _LOSS: f"{_LOSS}    loss += tf.losses.get_regularization_loss()\n",
        "RunConfig(\n": "RunConfig(\n        save_summary_steps=None,\n",
    },
    "layout_by_cuda": {
        "    net = tf.layers.dense(\n        pixels": (
            "    first = tf.test.is_built_with_cuda()\n"
            "    layout = ('channels_first' if tf.test.is_built_with_cuda()\n"
            "              else 'channels_last')\n"
            "    pixels = tf.layers.flatten(tf.layers.max_pooling2d(\n"
            "        tf.reshape(pixels, [-1, 1, 8, 1] if not first else [-1, 1, 1, 8]),\n"
            "        (1, 2), (1, 1), data_format=layout))\n"
            "    net = tf.layers.dense(\n        pixels"
        ),
    },
    "normalized_by_contrib": {
        "    net = tf.layers.batch_normalization(\n"
        "        net, training=mode == tf.estimator.ModeKeys.TRAIN)\n": (
            "    train = mode == tf.estimator.ModeKeys.TRAIN\n"
            "    net = tf.contrib.layers.batch_norm(\n"
            "        net, decay=.7, is_training=train, scale=True)\n"
            "    net = tf.contrib.layers.fully_connected(\n"
            "        net, 5, weights_initializer=RAMP,\n"
            "        normalizer_fn=tf.contrib.layers.batch_norm,\n"
            "        normalizer_params={'is_training': train, 'decay': .8})\n"
        ),
    },
    "sizes_of_shapes": {
        _LOGITS: "    size = net.get_shape()[-1].value\n"
        "    width = net.shape[1]\n"
        "    kernel = tf.get_variable('kernel', [size, 3], initializer=RAMP)\n"
        "    logits = tf.matmul(net, kernel) / tf.sqrt(float(int(width)))\n",
    },
    "table_in_model_fn": {
        "    predicted = tf.argmax(logits, axis=1)\n": (
            "    predicted = tf.argmax(logits, axis=1)\n"
            "    table = tf.lookup.StaticHashTable(\n"
            "        tf.lookup.KeyValueTensorInitializer(\n"
            "            tf.constant([0, 1, 2], tf.int64),\n"
            "            tf.constant([0, 1, 2], tf.int64)), -1)\n"
            "    predicted = table.lookup(predicted)\n"
        ),
    },
    "summaries": {
        _MINIMIZE: "        tf.summary.scalar('rate', params['learning_rate'])\n"
        "        tf.summary.histogram('logits', logits)\n" + _MINIMIZE,
        "log_step_count_steps=10": "save_summary_steps=5",
    },
    "scaffold": {
        _LAST: "    scaffold = tf.train.Scaffold(\n"
        "        saver=tf.train.Saver(max_to_keep=2, sharded=False))\n"
        "    return tf.estimator.EstimatorSpec(\n"
        "        mode, loss=loss, train_op=train_op, scaffold=scaffold)\n",
    },
    "scaffold_that_begins": {
        _LAST: "    scaffold = tf.train.Scaffold(local_init_op=tf.group(\n"
        "        tf.local_variables_initializer(), tf.tables_initializer()))\n"
        "    return tf.estimator.EstimatorSpec(\n"
        "        mode, loss=loss, train_op=train_op, scaffold=scaffold)\n",
    },
    "hparams_object": {
        _MAIN: "class HParams(object):\n"
        "    def __init__(self, **values):\n"
        "        self.__dict__.update(values)\n\n"
        "    def __getitem__(self, name):\n"
        "        return self.__dict__[name]\n\n\n" + _MAIN,
        f"params={_PARAMS}": "params=HParams(hidden=6, dropout=0., learning_rate=0.02)",
    },
    "modes_by_name": {
        _RAMP: f"{_RAMP}ModeKeys = tf.estimator.ModeKeys\nTRAIN = ModeKeys.TRAIN\n",
        "        net, training=mode == tf.estimator.ModeKeys.TRAIN)\n": (
            "        net, training=mode == TRAIN)\n"
        ),
        "    if mode == tf.estimator.ModeKeys.PREDICT:\n": (
            "    if mode not in (TRAIN, ModeKeys.EVAL):\n"
        ),
    },
    "exported": {
        _EVALUATE: "    def receiver():\n"
        "        images = tf.placeholder(tf.float32, [None, 2, 4], 'images')\n"
        "        return tf.estimator.export.ServingInputReceiver(\n"
        "            {'image': images}, {'images': images})\n"
        "    path = classifier.export_savedmodel(tempfile.mkdtemp(), receiver)\n"
        "    files = os.listdir(path.decode())\n"
        "    RESULT['exported'] = 'saved_model.pb' in files\n" + _EVALUATE,
        "EstimatorSpec(mode, predictions=predictions)": (
            "EstimatorSpec(mode, predictions=predictions, export_outputs={\n"
            "            'serving_default': tf.estimator.export.PredictOutput(\n"
            "                predictions)})"
        ),
    },
    "latest_values": {
        _EVALUATE: _EVALUATE
        + "    RESULT['variables'] = len(classifier.get_variable_names())\n"
        "    RESULT['kernel'] = np.sum(\n"
        "        classifier.get_variable_value('logits/kernel'))\n"
        "    assert classifier.latest_checkpoint().endswith('25')\n",
    },
    "warm_start": {
        _TRAIN: _TRAIN + "    classifier = tf.estimator.Estimator(\n"
        "        dense_model_fn, tempfile.mkdtemp(),\n"
        f"        params={_PARAMS},\n"
        "        warm_start_from=tf.estimator.WarmStartSettings(\n"
        "            classifier.model_dir, vars_to_warm_start='.*logits.*'))\n"
        "    classifier.train(lambda: dataset('train', 10), steps=4)\n",
    },
    "from_checkpoint": {
        _TRAIN: _TRAIN + "    os.environ['START'] = classifier.latest_checkpoint()\n"
        "    classifier = tf.estimator.Estimator(\n"
        f"        dense_model_fn, tempfile.mkdtemp(), params={_PARAMS})\n"
        "    classifier.train(lambda: dataset('train', 10), steps=4)\n"
        "    del os.environ['START']\n",
        "    optimizer = tf.train.MomentumOptimizer(": (
            "    if os.environ.get('START'):\n"
            "        tf.train.init_from_checkpoint(\n"
            "            os.environ['START'], {'dense/': 'dense/'})\n"
            "    optimizer = tf.train.MomentumOptimizer("
        ),
    },
    "data_processed": {
        _DATA: "    def parse(features, label):\n"
        "        return {'image': tf.to_float(features['image']) * 2. - 1.}, label\n"
        "    data = data.map(parse, num_parallel_calls=2)\n"
        "    data = data.apply(tf.contrib.data.batch_and_drop_remainder(batch_size))\n"
        "    return data.prefetch(1)\n",
    },
    "keras_layers": {
        _LOGITS: "    head = tf.keras.layers.Dense(\n"
        "        3, kernel_initializer=tf.keras.initializers.Constant(.1))\n"
        "    logits = head(net)\n",
    },
    "keras_recurrent": {
        _LOGITS: "    gates = tf.keras.layers.LSTM(\n"
        "        4, kernel_initializer=RAMP, recurrent_initializer=RAMP)\n"
        "    net = gates(tf.reshape(net, [-1, 3, 2]))\n"
        "    logits = tf.layers.dense(net, 3, kernel_initializer=RAMP)\n",
    },
    "head_with_thresholds": {
        "astype('float32'), classes": (
            "astype('float32'), (classes > 1).astype('int32')"
        ),
        "tf.layers.dense(net, 3,": "tf.layers.dense(net, 1,",
        "['probabilities'][2]": "['probabilities'][1]",
        _HEADED: "    head = tf.contrib.estimator.binary_classification_head(\n"
        "        thresholds=[0.25, 0.7])\n"
        "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n"
        "    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n"
        "    with tf.control_dependencies(update_ops):\n"
        "        return head.create_estimator_spec(\n"
        "            features, mode, logits, labels, optimizer)\n",
    },
    "normalized_volumes": {
        "    net = tf.layers.dense(\n": "    volumes = tf.layers.conv3d(\n"
        "        tf.reshape(pixels, [-1, 2, 2, 2, 1]), 3, 2, padding='same',\n"
        "        kernel_initializer=RAMP)\n"
        "    volumes = tf.layers.batch_normalization(\n"
        "        volumes, momentum=0.8, training=mode == tf.estimator.ModeKeys.TRAIN)\n"
        "    pixels = tf.reshape(tf.nn.relu(volumes), [-1, 24])\n"
        "    net = tf.layers.dense(\n",
    },
    "loss_and_update_from_helpers": {
        _MAIN: "def loss_of(labels, logits, mode):\n"
        "    if mode in (tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL):\n"
        "        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
        "        return loss * 0.5 + tf.reduce_mean(tf.square(logits)) * 0.1\n"
        "    else:\n"
        "        return None\n\n\n"
        "def update(loss, mode):\n"
        "    if mode != tf.estimator.ModeKeys.TRAIN:\n"
        "        return None\n"
        "    optimizer = tf.train.MomentumOptimizer(0.02, 0.9)\n"
        "    return tf.contrib.training.create_train_op(loss, optimizer)\n\n\n" + _MAIN,
        _LOSS: "    loss = loss_of(labels, logits, mode)\n",
        _UPDATE: "    train_op = update(loss, mode)\n",
    },
    "helper_gives_to_its_argument": {
        _MAIN: "def with_penalty(loss, logits, mode):\n"
        "    total = loss + tf.reduce_mean(tf.square(logits))\n"
        "    if mode == tf.estimator.ModeKeys.EVAL:\n"
        "        total = total * 2.\n"
        "    total = total * loss + far(2. * logits, logits)\n"
        "    return total\n\n\n"
        "def far(there, here):\n"
        "    return tf.losses.absolute_difference(there, here, weights=0.5)\n\n\n"
        + _MAIN,
        _LOSS: f"{_LOSS}    loss = with_penalty(loss, logits, mode)\n",
    },
    "more_metrics": {
        _MAIN: "def more(labels, predictions, features):\n"
        "    sums = tf.reduce_sum(features['image'], [1, 2])\n"
        "    told = tf.cast(predictions['class_ids'], tf.float32)\n"
        "    return {'rmse': tf.metrics.root_mean_squared_error(sums, told),\n"
        "            'mae': tf.metrics.mean_absolute_error(\n"
        "                sums, told, weights=tf.abs(sums)),\n"
        "            'spread': spread(sums, told)}\n\n\n"
        "def spread(sums, told):\n"
        "    square, square_op = tf.metrics.mean_squared_error(sums, told)\n"
        "    mean, mean_op = tf.metrics.mean(sums - told)\n"
        "    low = mean ** 2\n"
        "    return square - low, tf.group(square_op, mean_op)\n\n\n" + _MAIN,
        _MADE: "    column = tf.feature_column.numeric_column('image', (4, 2))\n"
        "    classifier = tf.estimator.LinearClassifier(\n"
        "        [column], n_classes=3, config=config)\n"
        "    classifier = tf.contrib.estimator.add_metrics(classifier, more)\n",
    },
    "columns_outside": {
        _RAMP: f"{_RAMP}COLUMNS = tf.feature_column.shared_embedding_columns(\n"
        "    [tf.feature_column.categorical_column_with_identity(name, 7)\n"
        "     for name in ('left', 'right')], 2, initializer=RAMP)\n"
        "SPEC = tf.feature_column.make_parse_example_spec(COLUMNS)\n",
        "    net = tf.layers.dense(\n": (
            "    sums = tf.cast(tf.reduce_sum(pixels, 1, keepdims=True), tf.int32)\n"
            "    embedded = tf.feature_column.input_layer(\n"
            "        {'left': sums % 7, 'right': sums % 5}, COLUMNS)\n"
            "    pixels = tf.concat([pixels, embedded], 1)\n"
            "    net = tf.layers.dense(\n"
        ),
    },
    "app_and_flags": {
        _RAMP: f"{_RAMP}FLAGS = tf.app.flags.FLAGS\n"
        "tf.app.flags.DEFINE_integer('NAME_hidden', 6, 'size')\n",
        "{'hidden': 6,": "{'hidden': FLAGS.NAME_hidden,",
        "    main()\n": "    try:\n"
        "        tf.app.run(lambda _: main(), ['program'])\n"
        "    except SystemExit:\n"
        "        pass\n",
    },
    "early_stopping": {
        _TRAIN: "    hook = tf.contrib.estimator.stop_if_no_decrease_hook(\n"
        "        classifier, 'loss', max_steps_without_decrease=1000,\n"
        "        run_every_secs=None, run_every_steps=5)\n"
        "    tf.estimator.train_and_evaluate(\n"
        "        classifier,\n"
        "        tf.estimator.TrainSpec(\n"
        "            lambda: dataset('train', 10), 25, hooks=[hook]),\n"
        "        tf.estimator.EvalSpec(lambda: dataset('test', 20), None,\n"
        "                              throttle_secs=0))\n",
    },
    "names_that_differ": {
        _MAIN: "def scaled(x, scope='scaled'):\n"
        "    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):\n"
        "        return x * tf.get_variable('scale', [6], initializer=RAMP)\n\n\n"
        "def first(x, scope='first'):\n"
        "    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):\n"
        "        return scaled(x)\n\n\n"
        "def second(x, scope='second'):\n"
        "    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):\n"
        "        return scaled(x)\n\n\n" + _MAIN,
        _LOGITS: "    for n in range(2):\n"
        "        with tf.variable_scope('block_{}'.format(n)):\n"
        "            net = second(first(net))\n"
        "        net = tf.layers.dense(\n"
        "            net, 6, kernel_initializer=RAMP, name='dense_%d' % n)\n" + _LOGITS,
    },
    "clipped_by_a_name": {
        _RAMP: f"{_RAMP}clip = 5.0\n",
        _UPDATE: (
            "    clip = params['dropout'] + 0.1\n"
            "    train_op = tf.contrib.layers.optimize_loss(\n"
            "        loss, tf.train.get_global_step(), params['learning_rate'],\n"
            "        'SGD', clip_gradients=clip)\n"
        ),
        _EVALUATE: _EVALUATE + "    old = os.path.join(classifier.model_dir, "
        "'model.ckpt-10')\n"
        "    older = classifier.predict(\n"
        "        lambda: dataset('test', 20), checkpoint_path=old)\n"
        "    RESULT['older'] = next(older)['probabilities'][0]\n",
    },
    "counts_in_its_way": {
        _RAMP: f"{_RAMP}SPEEDS = []\n\n\n"
        "class Speed(tf.train.StepCounterHook):\n"
        "    def __init__(self, factor, **options):\n"
        "        super(Speed, self).__init__(**options)\n"
        "        self._factor = factor\n\n"
        "    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):\n"
        "        assert elapsed_time > 0\n"
        "        SPEEDS.append(self._factor * elapsed_steps + global_step)\n\n\n",
        _TRAIN: _TRAIN.replace(
            ", max_steps=25", ", hooks=[Speed(100, every_n_steps=5)], max_steps=25"
        ),
        _EVALUATE: _EVALUATE
        + "    kernel = classifier.get_variable_value('logits/kernel')\n"
        "    RESULT['kernel'] = kernel.sum()\n    RESULT['speeds'] = sum(SPEEDS)\n",
    },
    "clipped_by_option": {
        _UPDATE: (
            "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n"
            "    scale = params['hidden'] - 2.\n"
            "    if scale != 1:\n"
            "        scaled = optimizer.compute_gradients(loss * scale)\n"
            "        unscaled = [(g / scale, v) for g, v in scaled]\n"
            "        train_op = optimizer.apply_gradients(unscaled, STEP())\n"
            "    else:\n"
            "        train_op = optimizer.minimize(loss, STEP())\n"
        ).replace("STEP", "tf.train.get_global_step"),
    },
    "clipped_by_slim": {
        _RAMP: f"{_RAMP}slim = tf.contrib.slim\n",
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op": (
            "    del features\n    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op"
        ),
        _UPDATE: (
            "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n"
            "    train_op = slim.learning.create_train_op(\n"
            "        loss, optimizer, clip_gradient_norm=0.1)\n"
        ),
    },
    "keras_model_told_by_mode": {
        "tf.reshape(features['image'], [-1, 8])": "features['image']",
        _MAIN: "def network():\n"
        "    pool = tf.keras.layers.MaxPooling1D()\n"
        "    return tf.keras.Sequential([\n"
        "        tf.keras.layers.Reshape((8, 1), input_shape=(8,)),\n"
        "        pool,\n"
        "        tf.keras.layers.Conv1D(2, 2, kernel_initializer=RAMP),\n"
        "        pool,\n"
        "        tf.keras.layers.Flatten(),\n"
        "        tf.keras.layers.Dense(3, kernel_initializer=RAMP)])\n\n\n" + _MAIN,
        BASE[BASE.index("    net = tf.layers.dense(\n") : BASE.index(_LOGITS)]
        + _LOGITS: "    model = network()\n"
        "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
        "        logits = model(pixels, training=True)\n"
        "    else:\n"
        "        logits = model(pixels, training=False)\n",
        _EVALUATE: _EVALUATE + "    image = tf.placeholder(tf.float32, [None, 4, 2])\n"
        "    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(\n"
        "        {'image': image})\n"
        "    assert classifier.export_savedmodel(tempfile.mkdtemp(), receiver)\n",
    },
    "cells_from_zero": {
        _MAIN: "def rate_of(params):\n"
        "    return tf.train.exponential_decay(\n"
        "        params['learning_rate'], tf.train.get_global_step(), 5, 0.9)\n\n\n"
        + _MAIN,
        _LOGITS: "    steps = tf.reshape(net, [-1, 3, 2])\n"
        "    count = tf.shape(steps)[0]\n"
        "    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=RAMP)\n"
        "    state = cell.zero_state(count, tf.float32)\n"
        "    outputs, _ = tf.nn.dynamic_rnn(cell, steps, initial_state=state)\n"
        "    flat = tf.reshape(outputs, [-1, 12])\n"
        "    weights = tf.get_variable('weights', [12, 3], initializer=RAMP)\n"
        "    bias = tf.get_variable('bias', [3], initializer=RAMP)\n"
        "    logits = tf.reshape(tf.matmul(flat, weights) + bias, [count, 3])\n",
        _LOSS: "    targets = tf.reshape(labels, [-1, 1])\n"
        "    shares = 1. + tf.cast(targets, tf.float32)\n"
        "    loss = tf.contrib.seq2seq.sequence_loss(\n"
        "        logits[:, tf.newaxis], targets, shares)\n",
        "Optimizer(params['learning_rate'], 0.9)": "Optimizer(rate_of(params), 0.9)",
    },
    "metrics_of_metrics": {
        _METRICS: "        hits = tf.metrics.precision(labels > 1, predicted > 1)\n"
        "        found = tf.metrics.recall(labels > 1, predicted > 1)\n"
        "        both = 2 * hits[0] * found[0] / (hits[0] + found[0] + 1e-8)\n"
        "        metrics = {\n"
        "            'precision': hits, 'recall': found,\n"
        "            'f1': (both, tf.group(hits[1], found[1])),\n"
        "        }\n"
        "        return tf.estimator.EstimatorSpec(\n"
        "            mode, loss=loss, eval_metric_ops=metrics)\n",
    },
    "metrics_shown_in_a_loop": {
        _METRICS: "        metrics = {\n"
        "            'accuracy': tf.metrics.accuracy(labels, predicted),\n"
        "            'mean_logit': tf.metrics.mean(logits),\n"
        "        }\n"
        "        return tf.estimator.EstimatorSpec(\n"
        "            mode, loss=loss, eval_metric_ops=metrics)\n"
        "    shown = {'accuracy': tf.metrics.accuracy(labels, predicted)}\n"
        "    for name, op in shown.items():\n"
        "        tf.summary.scalar(name, op[1])\n",
        _TRAIN: "    os.makedirs(classifier.eval_dir())\n" + _TRAIN,
    },
    "head_of_the_module": {
        _RAMP: f"{_RAMP}HEAD = tf.contrib.estimator.multi_class_head(n_classes=3)\n",
        "tf.layers.dense(net, 3,": "tf.layers.dense(net, HEAD.logits_dimension,",
        "['probabilities'][2]": "['probabilities'][1]",
        _HEADED: (
            "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n"
            "    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n"
            "    with tf.control_dependencies(update_ops):\n"
            "        return HEAD.create_estimator_spec(\n"
            "            features, mode, logits, labels, optimizer)\n"
        ),
    },
    "head_of_two_outputs": {
        _LOGITS: "    with tf.variable_scope('wide'):\n"
        "        wide = tf.layers.dense(pixels, 3, kernel_initializer=RAMP)\n"
        "    with tf.variable_scope('deep'):\n"
        "        deep = tf.layers.dense(net, 3, kernel_initializer=RAMP)\n"
        "    logits = wide + deep\n"
        "    head = tf.contrib.estimator.multi_class_head(n_classes=3)\n",
        "['probabilities'][2]": "['probabilities'][1]",
        _HEADED: (
            "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n"
            "    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n"
            "    with tf.control_dependencies(update_ops):\n"
            "        return head.create_estimator_spec(\n"
            "            features, mode, logits, labels, optimizer)\n"
        ),
    },
    "object_around_helpers": {
        BASE[
            BASE.index("def dense_model_fn") : BASE.index("def ramp")
        ]: "def dense(net, units):\n"
        "    return tf.layers.dense(net, units, kernel_initializer=RAMP)\n\n\n"
        "class Classifier(object):\n"
        "    def __init__(self, params):\n"
        "        self.params = params\n\n"
        "    def forward(self, features):\n"
        "        pixels = tf.reshape(features['image'], [-1, 8])\n"
        "        net = tf.nn.relu(dense(pixels, self.params['hidden']))\n"
        "        return {'logits': dense(net, 3)}\n\n"
        "    def metrics(self, out, labels):\n"
        "        return {'accuracy': tf.metrics.accuracy(\n"
        "            labels, tf.argmax(out['logits'], axis=1))}\n\n"
        "    def train_op(self, loss):\n"
        "        rate = self.params['learning_rate']\n"
        "        optimizer = tf.train.MomentumOptimizer(rate, 0.9)\n"
        "        with tf.name_scope('update'):\n"
        "            return optimizer.minimize(loss, tf.train.get_global_step())\n\n"
        "    def model_fn(self, features, labels, mode):\n"
        "        out = self.forward(features)\n"
        "        if mode == tf.estimator.ModeKeys.PREDICT:\n"
        "            return tf.estimator.EstimatorSpec(mode, predictions={\n"
        "                'probabilities': tf.nn.softmax(out['logits'])})\n"
        "        loss = tf.losses.sparse_softmax_cross_entropy(\n"
        "            labels, out['logits'])\n"
        "        if mode == tf.estimator.ModeKeys.EVAL:\n"
        "            return tf.estimator.EstimatorSpec(\n"
        "                mode, loss=loss, eval_metric_ops=self.metrics(out, labels))\n"
        "        return tf.estimator.EstimatorSpec(\n"
        "            mode, loss=loss, train_op=self.train_op(loss))\n\n\n",
        _MADE: f"    model = Classifier({_PARAMS})\n"
        "    classifier = tf.estimator.Estimator(model.model_fn, config=config)\n",
    },
    "sum_behind_the_model": {
        _LOGITS: "    with tf.variable_scope('wide'):\n"
        "        wide = tf.layers.dense(pixels, 3, kernel_initializer=RAMP)\n"
        "    with tf.variable_scope('deep'):\n"
        "        deep = tf.layers.dense(net, 3, kernel_initializer=RAMP)\n"
        "    with tf.name_scope('sum'):\n"
        "        half = 0.5 * tf.ones_like(deep)\n"
        "        logits = half * wide + deep\n",
    },
    "network_of_two_parts": {
        "def dense_model_fn": "def block(net, units, mode):\n"
        "    net = tf.layers.dense(\n"
        "        net, units, tf.nn.relu, kernel_initializer=RAMP)\n"
        "    return tf.layers.batch_normalization(\n"
        "        net, training=mode == tf.estimator.ModeKeys.TRAIN)\n\n\n"
        "class Network(object):\n"
        "    def __init__(self, width):\n"
        "        self.width = width\n\n"
        "    def body(self, net, mode):\n"
        "        return block(net, self.width, mode)\n\n"
        "    def __call__(self, net, mode):\n"
        "        net = self.body(net, mode)\n"
        "        with tf.variable_scope('out'):\n"
        "            return tf.layers.dense(net, 3, kernel_initializer=RAMP)\n\n\n"
        "def dense_model_fn",
        BASE[
            BASE.index("    net = tf.layers") : BASE.index("\n    predicted =")
        ]: "    network = Network(params['hidden'])\n"
        "    logits = network(pixels, mode)\n",
    },
    "partial_of_the_module": {
        "import os\n": "import functools\nimport os\n",
        "def dense_model_fn(": (
            "dense = functools.partial(tf.layers.dense, activation=tf.nn.relu)\n\n\n"
            "def dense_model_fn("
        ),
        "    net = tf.layers.dense(\n"
        "        pixels, params['hidden'], activation=tf.nn.relu,"
        " kernel_initializer=RAMP)\n": (
            "    net = dense(pixels, params['hidden'], kernel_initializer=RAMP)\n"
        ),
    },
    "partial_of_a_layer": {
        "import os\n": "import functools\nimport os\n",
        "    net = tf.layers.dense(\n"
        "        pixels, params['hidden'], activation=tf.nn.relu,"
        " kernel_initializer=RAMP)\n": "    dense = functools.partial(\n"
        "        tf.layers.dense, kernel_initializer=RAMP, activation=tf.nn.relu)\n"
        "    net = dense(dense(pixels, params['hidden']), 5, activation=None)\n",
    },
    "flag_of_branches": {
        "    pixels =": "    if params['hidden']:\n"
        "        if mode == tf.estimator.ModeKeys.TRAIN:\n"
        "            train_phase = True\n"
        "        else:\n"
        "            train_phase = False\n"
        "    pixels =",
        "net, training=mode == tf.estimator.ModeKeys.TRAIN)": (
            "net, training=train_phase)"
        ),
    },
    "logits_of_parts": {
        _LOGITS: "    wide = tf.layers.dense(pixels, 3, kernel_initializer=RAMP)\n"
        "    deep = tf.layers.dense(net, 3, kernel_initializer=RAMP)\n"
        "    deeper = tf.layers.dense(net + 1, 3, kernel_initializer=RAMP)\n"
        "    logits = tf.add_n([wide, deep, deeper])\n"
        "    probabilities = tf.nn.softmax(logits)\n",
        "        predictions = {'class': predicted, 'probabilities': "
        "tf.nn.softmax(logits)}": (
            "        predictions = {\n"
            "            'class': predicted, 'probabilities': probabilities,\n"
            "            'wide': wide, 'deep': deep, 'deeper': deeper}"
        ),
        "tf.metrics.mean(logits)": "tf.metrics.mean(probabilities)",
        _LOSS: f"{_LOSS}    tf.summary.scalar('most', tf.reduce_max(probabilities))\n",
    },
    "metrics_by_key": {
        _LOSS: f"{_LOSS}    shown = measured(labels, predicted)\n"
        "    tf.summary.scalar('accuracy', shown['accuracy'][1])\n",
        _METRICS: "        spec = dict(mode=mode, loss=loss)\n"
        "        spec['eval_metric_ops'] = shown\n"
        "        return tf.estimator.EstimatorSpec(**spec)\n",
        _RAMP: f"{_RAMP}\n\ndef measured(labels, predicted):\n"
        "    metrics = {}\n"
        "    accuracy = tf.metrics.accuracy(labels, predicted)\n"
        "    metrics['accuracy'] = accuracy\n"
        "    return metrics\n",
    },
    "auxiliary_head": {
        "    net = tf.layers.batch_normalization(": (
            "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
            "        aux = tf.layers.dense(net, 3, kernel_initializer=RAMP)\n"
            "    net = tf.layers.batch_normalization("
        ),
        _LOSS: f"{_LOSS}    if mode == tf.estimator.ModeKeys.TRAIN:\n"
        "        loss += 0.3 * tf.losses.sparse_softmax_cross_entropy(labels, aux)\n",
    },
    "minimizes_more": {
        _MINIMIZE: "        total = loss + 0.01 * tf.add_n([\n"
        "            tf.nn.l2_loss(one) for one in tf.trainable_variables()])\n"
        "        found = optimizer.compute_gradients(total)\n"
        "        capped = [(tf.clip_by_norm(g, 0.1), v) for g, v in found]\n"
        "        train_op = optimizer.apply_gradients(\n"
        "            capped, tf.train.get_global_step())\n",
        _LAST: "    hook = tf.train.LoggingTensorHook({'total': total}, 10)\n"
        f"{_LAST[:-2]}, training_hooks=[hook])\n",
    },
    "experiment": {
        _RAMP: f"{_RAMP}EVALUATED = []\n\n\n"
        "class Counts(tf.train.SessionRunHook):\n"
        "    def end(self, session):\n"
        "        EVALUATED.append(session.run(tf.train.get_global_step()))\n\n\n",
        _TRAIN: "    def experiment_fn(run_config, hparams):\n"
        "        return tf.contrib.learn.Experiment(\n"
        "            classifier, train_input_fn=lambda: dataset('train', 10),\n"
        "            eval_input_fn=lambda: dataset('test', 20), eval_steps=None,\n"
        "            train_steps=25, eval_hooks=[Counts()],\n"
        "            check_interval_secs=0)\n"
        "    experiment_fn(config, None).train_and_evaluate()\n"
        "    print(EVALUATED)\n"
        "    assert EVALUATED == [0, 10, 20, 25], EVALUATED\n",
    },
    "an_object_is_the_model_fn": {
        _FUNCTION: "class Dense:\n    def __init__(self, size):\n"
        "        self.size = size\n\n"
        + indent(_FUNCTION, "    ")
        .replace("dense_model_fn(", "__call__(self, ")
        .replace("params['hidden']", "self.size"),
        "        dense_model_fn,\n": "        Dense(6),\n",
    },
    "iterator_in_a_scope": {
        _DATA: "    with tf.name_scope('input'), tf.device('/cpu:0'):\n"
        "        iterator = data.batch(batch_size).make_one_shot_iterator()\n"
        "        features, classes = iterator.get_next()\n"
        "    return features, classes\n",
    },
    "names_given_to_a_hook": {
        _LAST: "    tf.identity(loss, name='current')\n" + _LAST,
        _RAMP: f"{_RAMP}\n\ndef hooks(names, every=5):\n"
        "    return [tf.train.LoggingTensorHook(names, every_n_iter=every)]\n\n\n",
        "max_steps=25)": "max_steps=25, hooks=hooks({'now': 'current'}))",
    },
    "much_that_nothing_calls": {
        _RAMP: f"{_RAMP}\n\nclass Old:\n    def __init__(self):\n"
        "        self.x = tf.placeholder(tf.float32, [None, 3])\n\n\n"
        "def check(folder):\n    with tf.Session() as session:\n"
        "        tf.train.Saver().restore(session, folder)\n"
        "        return session.run(built(Old().x))\n\n\n"
        "def built(x):\n    return dense_model_fn({'image': x}, None, 'infer', {})\n\n\n",
    },
    "a_tpu_by_a_flag": {
        _RAMP: f"{_RAMP}use_tpu = 'TPU' in os.environ\n",
        _LAST: "    if use_tpu:\n"
        "        return tf.contrib.tpu.TPUEstimatorSpec(\n"
        f"            mode, loss=loss, train_op=train_op)\n{_LAST}",
        _MADE: f"    if not use_tpu:\n{indent(_MADE, '    ')}"
        "    else:\n"
        "        config = tf.contrib.tpu.RunConfig(\n"
        "            cluster=tf.contrib.cluster_resolver.TPUClusterResolver('a'))\n"
        "        classifier = tf.contrib.tpu.TPUEstimator(\n"
        "            dense_model_fn, config=config, train_batch_size=8)\n",
    },
    "hparams_that_are_overridden": {
        _RAMP: f"{_RAMP}HPARAMS = tf.contrib.training.HParams(rate=9.)\n",
        "    optimizer = tf.train.MomentumOptimizer(params['learning_rate'], 0.9)\n": (
            "    if params:\n"
            "        HPARAMS.override_from_dict({'rate': params['learning_rate']})\n"
            "    optimizer = tf.train.MomentumOptimizer(HPARAMS.rate, 0.9)\n"
        ),
    },
}


def program(name: str) -> str:
    """The text of a variant."""
    text = BASE
    for old, new in VARIANTS[name].items():
        assert text.count(old) >= 1, (name, old)
        text = text.replace(old, new.replace("NAME", name), 1)
    compile(text, name, "exec")
    return text
