"""Shapes that real programs have beside the plain ones: what the grammar adds.

Each function draws for one part of a program and returns its text. They have a
generator of their own, so that the plain program of a seed stays what it was.
"""

from __future__ import annotations

import random
import re

__all__ = [
    "CLASSES",
    "EXPORTERS",
    "asked",
    "body_of_contrib",
    "input_chain",
    "looked_up",
    "losses",
    "serving",
    "summaries",
    "training",
]

SCHEDULES = (
    "tf.train.exponential_decay({rate}, STEP, 5, 0.8)",
    "tf.train.exponential_decay({rate}, STEP, decay_steps=6, decay_rate=0.5, "
    "staircase=True)",
    "tf.train.polynomial_decay({rate}, STEP, 15, end_learning_rate={rate} / 10)",
    "tf.train.piecewise_constant(STEP, [4, 9], [{rate}, {rate} / 2, {rate} / 10])",
    "tf.train.cosine_decay({rate}, STEP, 18)",
    "tf.train.inverse_time_decay({rate}, STEP, 5, 0.5)",
    "tf.train.natural_exp_decay({rate}, STEP, 10, 0.5)",
    "{rate} * tf.minimum(1.0, tf.cast(STEP + 1, tf.float32) / 6.0)",
)
CLASSES = "['oak', 'ash', 'elm', 'fir']"
EXPORTERS = (
    "LatestExporter('latest', serving)",
    "FinalExporter('final', serving)",
    "BestExporter('best', serving, exports_to_keep=2)",
)
STEP = "tf.train.get_global_step()"
CONTRIB = {
    "relu": "tf.nn.relu",
    "tanh": "tf.nn.tanh",
    "sigmoid": "tf.sigmoid",
    "elu": "tf.nn.elu",
}


def training(draw: random.Random, optimizer: str, updates: bool) -> tuple[str, str]:
    """Statements from the loss to ``train_op``, and the name of their shape."""
    lines = []
    shape = ["plain"]
    found = re.search(r"\((learning_rate=)?(0\.\d+)", optimizer)
    assert found is not None
    rate = found[2]
    if draw.random() < 0.4:
        schedule = draw.choice(SCHEDULES).format(rate=rate)
        if "Ftrl" in optimizer:
            # It divides by the rate, which must not come to zero.
            schedule = schedule.replace("STEP, 18)", "STEP, 18, alpha=0.1)")
        shape.append(re.split(r"[.(]", schedule.removeprefix("tf.train."))[0])
        name = draw.choice(("learning_rate", "rate"))
        step = STEP
        if draw.random() < 0.5 or schedule.startswith("0"):
            step = "global_step"
            lines.append(f"global_step = {STEP}")
        lines.append(f"{name} = {schedule.replace('STEP', step)}")
        given = f"{found[1] or ''}{name}"
        optimizer = optimizer.replace(found[0], f"({given}", 1)
    form = draw.choice(("minimize", "minimize", "norm", "each", "gradients", "helper"))
    if form == "helper" and updates:
        form = "minimize"
    shape[0] = form
    step = "global_step" if any("global_step =" in li for li in lines) else STEP
    if form == "helper":
        # The function of contrib makes the optimizer itself.
        kind = draw.choice(("'Adam'", "'SGD'", "'RMSProp'", "'Adagrad'"))
        lines = [
            "train_op = tf.contrib.layers.optimize_loss(",
            f"    loss, {STEP}, learning_rate={rate},",
            f"    optimizer={kind}, clip_gradients={draw.choice(('1.0', 'None'))})",
        ]
        return "\n".join(lines) + "\n", "-".join(shape[:1])
    lines.append(f"optimizer = {optimizer}")
    if form == "minimize":
        last = [f"train_op = optimizer.minimize(loss, global_step={step})"]
    elif form == "norm":
        last = [
            "gradients, variables = zip(*optimizer.compute_gradients(loss))",
            "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)",
            "train_op = optimizer.apply_gradients(",
            f"    zip(gradients, variables), global_step={step})",
        ]
    elif form == "each":
        clip = draw.choice(("tf.clip_by_norm(g, 0.5)", "tf.clip_by_value(g, -1., 1.)"))
        last = [
            "pairs = optimizer.compute_gradients(loss)",
            f"pairs = [({clip}, v) for g, v in pairs if g is not None]",
            f"train_op = optimizer.apply_gradients(pairs, global_step={step})",
        ]
    else:
        last = [
            "variables = tf.trainable_variables()",
            "gradients = tf.gradients(loss, variables)",
            "gradients, _ = tf.clip_by_global_norm(gradients, clip_norm=2.0)",
            "train_op = optimizer.apply_gradients(",
            f"    zip(gradients, variables), global_step={step})",
        ]
    if updates:
        lines.append("update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)")
        lines.append("with tf.control_dependencies(update_ops):")
        last = [f"    {line}" for line in last]
    return "\n".join(lines + last) + "\n", "-".join(shape)


def body_of_contrib(lines: list[str]) -> list[str]:
    """Dense layers as those of contrib, where nothing else is in the way."""
    found = []
    for line in lines:
        match = re.fullmatch(
            r"net = tf\.layers\.dense\((\S+), (\d+)(?:, activation=(\S+))?\)", line
        )
        if match is None:
            found.append(line)
            continue
        value, units, activation = match.groups()
        activation = (activation or "None").strip("'")
        activation = CONTRIB.get(activation, activation)
        given = "" if activation == "tf.nn.relu" else f", activation_fn={activation}"
        found.append(
            f"net = tf.contrib.layers.fully_connected({value}, {units}{given})"
        )
    return found


def losses(draw: random.Random, task: str) -> list[str]:
    """More losses of a task."""
    return {
        "classes": [
            "tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=0.5)",
            "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits("
            "labels=labels, logits=logits))",
            "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 4), logits)",
        ],
        "one_hot": [
            "tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.1)",
            "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2("
            "labels=labels, logits=logits))",
        ],
        "binary": [
            "tf.losses.log_loss(labels, tf.sigmoid(logits))",
            "tf.losses.hinge_loss(labels, logits)",
            "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits("
            "labels=labels, logits=logits))",
        ],
        "regression": [
            "tf.losses.huber_loss(labels, logits, delta=0.5)",
            "tf.reduce_sum(tf.squared_difference(labels, logits)) / 8.0",
            "tf.losses.mean_squared_error(labels, logits, weights=2.0)",
        ],
    }[task]


def input_chain(draw: random.Random, batch: int, tensors: bool) -> tuple[str, str]:
    """The end of an input function: statements from ``data`` with its epochs."""
    forms = ["drop", "batch", "fused", "take"] + (["iterator"] * 2 if tensors else [])
    form = draw.choice(forms)
    text = {
        "drop": "data = data.repeat(epochs)\n"
        f"return data.apply(tf.contrib.data.batch_and_drop_remainder({batch}))\n",
        "batch": f"return data.repeat(epochs).batch({batch}, drop_remainder=True)\n",
        "fused": "data = data.repeat(epochs)\n"
        "return data.apply(tf.contrib.data.map_and_batch(\n"
        f"    lambda *example: example, {batch}))\n",
        "take": f"data = data.repeat(epochs).batch({batch})\n"
        "return data if epochs is None else data.take(7)\n",
        "iterator": f"data = data.repeat(epochs).batch({batch})\n"
        "features, labels = data.make_one_shot_iterator().get_next()\n"
        "return features, labels\n",
    }[form]
    return text, form


def serving(dictionary: str | None) -> str:
    """A receiver in the raw form, by a placeholder for each feature."""
    shape = "[None] + list(x.shape[1:])"
    given = f"{{'{dictionary}': placeholder}}" if dictionary else "placeholder"
    kind = "ServingInputReceiver" if dictionary else "TensorServingInputReceiver"
    return (
        "def serving():\n"
        f"    placeholder = tf.placeholder(tf.float32, {shape}, name='served')\n"
        f"    return tf.estimator.export.{kind}(\n"
        f"        {given}, {{'served': placeholder}})\n"
    )


def looked_up(draw: random.Random) -> str:
    """Statements that make ``targets`` of labels that are words."""
    table = draw.choice(
        (
            f"tf.contrib.lookup.index_table_from_tensor({CLASSES})",
            f"tf.contrib.lookup.index_table_from_tensor(tf.constant({CLASSES}))",
            "tf.contrib.lookup.HashTable(\n"
            "    tf.contrib.lookup.KeyValueTensorInitializer(\n"
            f"        {CLASSES}, [0, 1, 2, 3], tf.string, tf.int64), 0)",
        )
    )
    return f"table = {table}\ntargets = table.lookup(labels)\n"


def summaries(draw: random.Random) -> str:
    """Statements that write summaries of a step."""
    return "".join(
        draw.sample(
            (
                "tf.summary.scalar('error', loss)\n",
                "tf.summary.scalar('mean', tf.reduce_mean(logits))\n",
                "largest = tf.reduce_max(logits, name='top')\n"
                "tf.summary.scalar('top', largest)\n",
                "with tf.name_scope('figures'):\n"
                "    tf.summary.scalar('root', tf.sqrt(loss))\n",
                "tf.summary.histogram('logits', logits)\n",
            ),
            2,
        )
    )


def asked(draw: random.Random, estimator: str, dictionary: str | None) -> str:
    """What a program asks of a trained model besides its evaluation."""
    lines = []
    if draw.random() < 0.35:
        lines += [
            f"predictions = list({estimator}.predict(lambda: input_fn(1)))",
            "results['predicted'] = float(np.mean([",
            "    np.sum(list(p.values())[0]) for p in predictions]))",
            "results['examples'] = len(predictions)",
        ]
    if draw.random() < 0.3:
        lines += [
            "",
            serving(dictionary),
            f"folder = {estimator}.export_savedmodel(tempfile.mkdtemp(), serving)",
            "results['exported'] = float(bool(folder))",
        ]
    return "\n".join(lines) + "\n" if lines else ""
