"""A grammar of Estimator scripts: one seed, one program.

Each program is small, deterministic and complete: it makes its data, trains and
prints what ``evaluate`` returned, as JSON after the word RESULT.
"""

from __future__ import annotations

import random
import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import shapes

__all__ = ["Generated", "generate"]


@dataclass
class Generated:
    """A program, and what is to be known to compare it with its rewrite."""

    source: str
    replicas: int
    traits: dict[str, str] = field(default_factory=dict)


OPTIMIZERS = (
    "tf.train.AdamOptimizer({rate})",
    "tf.train.AdamOptimizer(learning_rate={rate}, beta1=0.8, beta2=0.99)",
    "tf.train.AdamOptimizer({rate}, epsilon=1e-4)",
    "tf.train.GradientDescentOptimizer({rate})",
    "tf.train.MomentumOptimizer({rate}, 0.9)",
    "tf.train.MomentumOptimizer({rate}, momentum=0.8, use_nesterov=True)",
    "tf.train.RMSPropOptimizer({rate})",
    "tf.train.RMSPropOptimizer({rate}, decay=0.8, momentum=0.5)",
    "tf.train.RMSPropOptimizer({rate}, centered=True)",
    "tf.train.AdagradOptimizer({rate})",
    "tf.train.AdagradOptimizer({rate}, initial_accumulator_value=0.5)",
    "tf.train.AdadeltaOptimizer({rate}, rho=0.9)",
    "tf.train.FtrlOptimizer({rate})",
    "tf.train.FtrlOptimizer({rate}, l1_regularization_strength=0.001)",
)
ACTIVATIONS = ("tf.nn.relu", "'relu'", "tf.nn.tanh", "'sigmoid'", "tf.nn.elu", "None")
TASKS = ("classes", "one_hot", "binary", "regression")
PLACEMENTS = ("module", "main", "builder", "self")
LIMITS = ("steps", "max_steps", "end of data", "twice", "rounds", "together")
HOOK = '''
class StepCounter(tf.train.SessionRunHook):
    """Counts and times the steps."""

    def begin(self):
        self.seconds = []

    def before_run(self, run_context):
        self.start = time.time()

    def after_run(self, run_context, run_values):
        self.seconds.append(time.time() - self.start)
'''


class _Writer:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        draw = self.draw
        # Further shapes, drawn for themselves: half of the programs have none.
        self.more = random.Random(7_000_000 + seed)
        self.varied = self.more.random() < 0.5
        # And again: tables, summaries, exporters.
        self.wide = random.Random(9_000_000 + seed)
        self.keras = draw.random() < 0.5
        self.task = draw.choice(TASKS)
        self.placement = draw.choice(PLACEMENTS)
        self.limit = draw.choice(LIMITS)
        self.hook = draw.random() < 0.35
        self.strategy = draw.choice(("none", "contrib", "core"))
        if self.keras and self.strategy == "core":
            self.strategy = "contrib"  # core scaled Keras losses twice: TFM130
        self.replicas = 1 if self.strategy == "none" else draw.choice((1, 2))
        self.dict_features = not self.keras and draw.random() < 0.5
        self.image = draw.random() < 0.3
        self.batch = draw.choice((8, 16))
        self.ragged = draw.random() < 0.3
        self.table = (
            self.task == "classes" and not self.keras and self.wide.random() < 0.6
        )
        self.summaries = not self.keras and self.wide.random() < 0.5
        self.exports = self.limit == "together" and self.wide.random() < 0.8
        self.size = self.batch * 12 + (self.batch // 2 - 1 if self.ragged else 0)
        self.optimizer = draw.choice(OPTIMIZERS).format(
            rate=draw.choice(("0.05", "0.01", "0.002"))
        )
        self.traits = {
            "kind": "keras" if self.keras else "model_fn",
            "task": self.task,
            "placement": self.placement,
            "limit": self.limit,
            "hook": str(self.hook),
            "strategy": f"{self.strategy}-{self.replicas}",
            "optimizer": self.optimizer.split("(")[0].rpartition(".")[2],
            "image": str(self.image),
            "table": str(self.table),
            "summaries": str(self.summaries),
            "exporter": str(self.exports),
        }

    # -- pieces ------------------------------------------------------------

    def data(self) -> str:
        shape = "(SIZE, 8, 8, 1)" if self.image else "(SIZE, 12)"
        total = "x.reshape(SIZE, -1)[:, :4].sum(axis=1)"
        labels = {
            "classes": f"np.digitize({total}, [-1, 0, 1]).astype(np.int32)",
            "one_hot": f"np.eye(4, dtype=np.float32)[np.digitize({total}, [-1, 0, 1])]",
            "binary": f"({total} > 0).astype(np.float32)[:, None]",
            "regression": f"{total}.astype(np.float32)[:, None]",
        }[self.task]
        if self.table:
            labels = f"np.array({shapes.CLASSES})[{labels}]"
        return (
            f"SIZE = {self.size}\n"
            "rng = np.random.RandomState(7)\n"
            f"x = rng.normal(size={shape}).astype(np.float32)\n"
            f"y = {labels}\n"
        )

    def input_function(self) -> str:
        features = "{'x': x}" if self.dict_features else "x"
        order = ["repeat(epochs)", f"batch({self.batch})"]
        self.batch_first = self.draw.random() < 0.3 and not self.ragged
        if self.batch_first:
            order.reverse()
        chain = "." + ".".join(order)
        if self.draw.random() < 0.5:
            chain = ".shuffle(100)" + chain
        if self.draw.random() < 0.5:
            chain += ".prefetch(2)"
        end = f"return data{chain}\n"
        if self.varied and self.more.random() < 0.4 and not self.ragged:
            tensors = self.strategy == "none" and not self.keras
            end, form = shapes.input_chain(self.more, self.batch, tensors)
            self.batch_first = False
            self.traits["input"] = form
        return (
            "def input_fn(epochs=None):\n"
            f"    data = tf.data.Dataset.from_tensor_slices(({features}, y))\n"
            f"{textwrap.indent(end, '    ')}"
        )

    def outputs(self) -> int:
        return 4 if self.task in ("classes", "one_hot") else 1

    def hidden(self, call: str) -> list[str]:
        """Constructor calls of hidden layers, without their input."""
        draw, found = self.draw, []
        if self.image:
            if draw.random() < 0.7:
                found.append(f"{call[:-5]}conv2d|(4, 3, activation=tf.nn.relu)")
                found.append(f"{call[:-5]}max_pooling2d|(2, 2)")
            found.append(f"{call[:-5]}flatten|()")
        for _ in range(draw.randint(1, 3)):
            units, activation = draw.choice((6, 10, 16)), draw.choice(ACTIVATIONS)
            found.append(f"{call}|({units}, activation={activation})")
            if draw.random() < 0.2 and not self.keras:
                found.append("tf.layers.batch_normalization|(TRAINING)")
            elif draw.random() < 0.15:
                found.append("dropout")
        return found

    # -- Keras ---------------------------------------------------------------

    def keras_layers(self) -> list[str]:
        made = []
        names = {
            "conv2d": "Conv2D",
            "max_pooling2d": "MaxPooling2D",
            "flatten": "Flatten",
            "dense": "Dense",
        }
        for text in self.hidden("tf.layers.dense"):
            if text == "dropout":
                made.append("tf.keras.layers.Dropout(0.0)")
                continue
            name, _, arguments = text.partition("|")
            made.append(f"tf.keras.layers.{names[name.rpartition('.')[2]]}{arguments}")
        if self.draw.random() < 0.3:
            made[-1] = made[-1].replace(
                ", activation",
                ", kernel_regularizer=tf.keras.regularizers.l2(0.01), activation",
            )
        last = {
            "classes": "softmax",
            "one_hot": "softmax",
            "binary": "sigmoid",
            "regression": None,
        }[self.task]
        made.append(f"tf.keras.layers.Dense({self.outputs()}, activation={last!r})")
        return made

    def keras_model(self) -> str:
        shape = "(8, 8, 1)" if self.image else "(12,)"
        layers = self.keras_layers()
        form = self.draw.choice(("functional", "list", "add"))
        self.traits["model"] = form
        if form == "functional":
            lines = [f"inputs = tf.keras.Input(shape={shape})"]
            for index, layer in enumerate(layers):
                source = "inputs" if index == 0 else "net"
                lines.append(f"net = {layer}({source})")
            lines.append("model = tf.keras.Model(inputs=inputs, outputs=net)")
        else:
            first = layers[0][:-1] + (", " if layers[0][-2] != "(" else "")
            layers[0] = f"{first}input_shape={shape})"
            if form == "list":
                inside = "".join(f"    {layer},\n" for layer in layers)
                lines = [f"model = tf.keras.Sequential([\n{inside}])"]
            else:
                lines = ["model = tf.keras.models.Sequential()"]
                lines += [f"model.add({layer})" for layer in layers]
        loss = {
            "classes": "sparse_categorical_crossentropy",
            "one_hot": "categorical_crossentropy",
            "binary": "binary_crossentropy",
            "regression": self.draw.choice(("mse", "mean_absolute_error", "logcosh")),
        }[self.task]
        metrics = "['accuracy']" if self.task != "regression" else "['mae', 'mse']"
        if self.draw.random() < 0.3:
            lines.append(f"optimizer = {self.optimizer}")
            optimizer = "optimizer"
        else:
            optimizer = self.optimizer
        lines.append(
            f"model.compile(optimizer={optimizer}, loss='{loss}', metrics={metrics})"
        )
        return "\n".join(lines) + "\n"

    # -- model_fn --------------------------------------------------------------

    def model_function(self) -> str:
        training = "training=mode == tf.estimator.ModeKeys.TRAIN"
        source = "features['x']" if self.dict_features else "features"
        lines = []
        for index, text in enumerate(self.hidden("tf.layers.dense")):
            value = source if index == 0 else "net"
            if text == "dropout":
                lines.append(f"net = tf.layers.dropout({value}, rate=0.0, {training})")
                continue
            name, _, arguments = text.partition("|")
            inside = arguments[1:-1].replace("TRAINING", training)
            inside = f", {inside}" if inside else ""
            lines.append(f"net = {name}({value}{inside})")
        lines.append(f"logits = tf.layers.dense(net, {self.outputs()})")
        if self.varied and self.more.random() < 0.3:
            lines = shapes.body_of_contrib(lines)
            self.traits["body"] = "contrib"
        normalised = any("batch_normalization" in line for line in lines)
        loss, metrics = {
            "classes": (
                "tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)",
                "{'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1))}",
            ),
            "one_hot": (
                "tf.losses.softmax_cross_entropy(labels, logits)",
                "{'accuracy': tf.metrics.accuracy("
                "tf.argmax(labels, 1), tf.argmax(logits, 1))}",
            ),
            "binary": (
                "tf.losses.sigmoid_cross_entropy(labels, logits)",
                "{'positive': tf.metrics.mean(tf.sigmoid(logits))}",
            ),
            "regression": (
                self.draw.choice(
                    (
                        "tf.losses.mean_squared_error(labels, logits)",
                        "tf.losses.absolute_difference(labels, logits)",
                        "tf.losses.huber_loss(labels, logits)",
                        "tf.reduce_mean(tf.square(labels - logits))",
                    )
                ),
                "{'rmse': tf.metrics.root_mean_squared_error(labels, logits),\n"
                "               'mae': tf.metrics.mean_absolute_error(labels, logits)}",
            ),
        }[self.task]
        if self.varied and self.more.random() < 0.4:
            loss = self.more.choice(shapes.losses(self.more, self.task))
        minimize = (
            f"optimizer = {self.optimizer}\n"
            "train_op = optimizer.minimize(\n"
            "    loss, global_step=tf.train.get_global_step())\n"
        )
        if normalised:
            minimize = (
                f"optimizer = {self.optimizer}\n"
                "update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n"
                "with tf.control_dependencies(update_ops):\n"
                "    train_op = optimizer.minimize(\n"
                "        loss, global_step=tf.train.get_global_step())\n"
            )
        if self.varied and self.more.random() < 0.7:
            minimize, form = shapes.training(self.more, self.optimizer, normalised)
            self.traits["training"] = form
        looked_up = ""
        if self.table:
            looked_up = shapes.looked_up(self.wide)
            loss = loss.replace("labels=labels", "labels=targets")
            loss = re.sub(r"\(labels\b(?!=)", "(targets", loss)
            metrics = metrics.replace("labels=labels", "labels=targets")
            metrics = re.sub(r"\(labels\b(?!=)", "(targets", metrics)
        shown = shapes.summaries(self.wide) if self.summaries else ""
        one_spec = self.draw.random() < 0.3
        self.traits["model"] = "one spec" if one_spec else "spec by mode"
        predict = "if mode == tf.estimator.ModeKeys.PREDICT:\n"
        predict += (
            "    return tf.estimator.EstimatorSpec(mode, predictions={'o': logits})\n"
        )
        body = "\n".join(lines) + "\n" + predict
        body += f"{looked_up}loss = {loss}\n{shown}"
        if one_spec:
            body += f"metrics = {metrics}\n{minimize}"
            body += (
                "return tf.estimator.EstimatorSpec(\n"
                "    mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)\n"
            )
        else:
            body += (
                "if mode == tf.estimator.ModeKeys.EVAL:\n"
                f"    metrics = {metrics}\n"
                "    return tf.estimator.EstimatorSpec(\n"
                "        mode, loss=loss, eval_metric_ops=metrics)\n"
                f"{minimize}"
                "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
            )
        arguments = "features, labels, mode"
        if self.draw.random() < 0.5:
            arguments += ", params"
            body = body.replace("(8, activation", "(params['units'], activation")
        self.has_params = "params" in arguments
        return f"def model_fn({arguments}):\n{textwrap.indent(body, '    ')}"

    # -- the program --------------------------------------------------------------

    def estimator(self) -> tuple[str, str]:
        """Statements that make the config, and the estimator's expression."""
        config = [f"log_step_count_steps={self.draw.choice((4, 7, 100))}"]
        if self.draw.random() < 0.5:
            config.append(f"save_checkpoints_steps={self.draw.choice((5, 9))}")
        lines = ""
        if self.strategy != "none":
            if self.strategy == "contrib":
                made = (
                    f"tf.contrib.distribute.MirroredStrategy(num_gpus={self.replicas})"
                )
            else:
                names = ", ".join(f"'/gpu:{i}'" for i in range(self.replicas))
                made = f"tf.distribute.MirroredStrategy(devices=[{names}])"
            lines += f"strategy = {made}\n"
            config.insert(0, "train_distribute=strategy")
            if self.draw.random() < 0.3:
                config.append("eval_distribute=strategy")
        if self.draw.random() < 0.3:
            config.append("keep_checkpoint_max=2")
        if self.summaries:
            config.append(f"save_summary_steps={self.wide.choice((3, 7, 10))}")
        lines += f"config = tf.estimator.RunConfig({', '.join(config)})\n"
        if self.keras:
            return (
                lines,
                "tf.keras.estimator.model_to_estimator(model, config=config)",
            )
        params = ", params={'units': 8}" if self.has_params else ""
        if self.has_params and self.varied and self.more.random() < 0.5:
            params = ", params=tf.contrib.training.HParams(units=8)"
            self.traits["params"] = "HParams"
        return lines, f"tf.estimator.Estimator(model_fn, config=config{params})"

    def training(self, estimator: str) -> str:
        hooks = ", hooks=[counter]" if self.hook else ""
        made = "counter = StepCounter()\n" if self.hook else ""
        give = self.draw.choice(("lambda", "function", "partial"))

        def data(count: str) -> str:
            forms = {
                "lambda": f"lambda: input_fn({count})",
                "function": "input_fn",
                "partial": f"functools.partial(input_fn, {count})",
            }
            return forms[give]

        test = "lambda: input_fn(1)"
        result = f"results = {estimator}.evaluate({test})\n"
        if self.draw.random() < 0.3:
            result = f"results = {estimator}.evaluate({test}, steps=5)\n"
        if self.limit == "steps":
            text = f"{estimator}.train({data('None')}, steps=22{hooks})\n"
        elif self.limit == "max_steps":
            text = f"{estimator}.train({data('None')}, max_steps=22{hooks})\n"
        elif self.limit == "end of data":
            text = f"{estimator}.train(lambda: input_fn({2 * self.replicas}){hooks})\n"
            self.at_end = True
        elif self.limit == "twice":
            text = f"{estimator}.train({data('None')}, steps=9{hooks})\n"
            text += f"{estimator}.train({data('None')}, steps=13{hooks})\n"
        elif self.limit == "rounds":
            text = "for _ in range(2):\n"
            text += f"    {estimator}.train({data('None')}, steps=11{hooks})\n"
            text += "    " + result
            result = ""
        else:
            spec, text = f"eval_spec = tf.estimator.EvalSpec({test}, steps=None)\n", ""
            if self.exports:
                dictionary = "x" if self.dict_features else None
                text = shapes.serving(dictionary) + "\n"
                exporter = self.wide.choice(shapes.EXPORTERS)
                spec = (
                    f"eval_spec = tf.estimator.EvalSpec(\n    {test}, steps=None,\n"
                    f"    exporters=[tf.estimator.{exporter}])\n"
                )
            text += (
                f"train_spec = tf.estimator.TrainSpec({data('None')}, max_steps=22"
                f"{hooks})\n"
                f"{spec}"
                f"tf.estimator.train_and_evaluate({estimator}, train_spec, eval_spec)\n"
            )
        wanted = ""
        if self.varied:
            wanted = shapes.asked(
                self.more, estimator, "x" if self.dict_features else None
            )
            if self.limit == "together":
                wanted = result and wanted
        result += "" if self.limit == "rounds" else wanted
        shown = (
            "print('RESULT', json.dumps({k: float(v) for k, v in results.items()}))\n"
        )
        return made + text + result + shown

    at_end = False
    has_params = False
    batch_first = False

    def write(self) -> Generated:
        """The whole program."""
        pieces = [
            '"""A generated Estimator program."""\n'
            "import functools\nimport json\nimport tempfile\nimport time\n\n"
            "import numpy as np\nimport tensorflow as tf\n",
            self.data(),
            self.input_function(),
        ]
        if self.hook:
            pieces.append(HOOK.strip() + "\n")
        model = self.keras_model() if self.keras else self.model_function()
        if not self.keras:
            pieces.append(model)
            model = ""
        config, made = self.estimator()
        if self.placement == "self":
            training = self.training("self.estimator")
            inner = f"{model}{config}self.estimator = {made}\n"
            pieces.append(
                "class Job:\n    def __init__(self):\n"
                + textwrap.indent(inner, " " * 8)
                + "\n    def run(self):\n"
                + textwrap.indent(training, " " * 8)
            )
            pieces.append("Job().run()\n")
        else:
            training = self.training("estimator")
            if self.placement == "builder" and model:
                pieces.append(
                    "def build():\n"
                    + textwrap.indent(model, "    ")
                    + "    return model\n"
                )
                model = "model = build()\n"
            elif self.placement == "builder":
                pieces.append(
                    "def build():\n"
                    + textwrap.indent(f"{config}return {made}\n", "    ")
                )
                config, made = "", "build()"
            body = f"{model}{config}estimator = {made}\n{training}"
            if self.placement == "module":
                pieces.append(body)
            else:
                pieces.append("def main():\n" + textwrap.indent(body, "    "))
                pieces.append("if __name__ == '__main__':\n    main()\n")
        return Generated("\n\n".join(pieces), self.replicas, self.traits)


def generate(seed: int) -> Generated:
    """The program of a seed; the same one on every machine."""
    return _Writer(seed).write()
