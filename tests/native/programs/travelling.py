"""An Estimator made by a function and kept on an object, trained in two ways."""

import itertools
import json
import tempfile

import numpy as np
import tensorflow as tf

COUNTS = []


class Steps(tf.train.SessionRunHook):
    """Counts the steps of each call."""

    def begin(self):
        self.count = 0

    def after_run(self, run_context, run_values):
        self.count += 1

    def end(self, session):
        COUNTS.append(self.count)


def get_config(folder, every):
    session_config = tf.ConfigProto(allow_soft_placement=True)
    return tf.estimator.RunConfig(
        model_dir=folder,
        save_checkpoints_steps=every,
        keep_checkpoint_max=2,
        tf_random_seed=5,
        session_config=session_config,
    )


def build_estimator(folder, rate, every=40):
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(
                4,
                activation="relu",
                input_shape=(3,),
                kernel_initializer=tf.keras.initializers.Constant(0.3),
            ),
            tf.keras.layers.Dense(1, kernel_initializer="ones", name="sum"),
        ]
    )
    model.compile(loss="mean_squared_error", optimizer=tf.train.AdagradOptimizer(rate))
    return tf.keras.estimator.model_to_estimator(
        keras_model=model, config=get_config(folder, every)
    )


class Experiment:
    def __init__(self, rate=0.1):
        self.estimator = build_estimator(tempfile.mkdtemp(), rate)
        draw = np.random.RandomState(1)
        self.x = draw.uniform(size=(64, 3)).astype("float32")
        self.y = self.x.sum(axis=1, keepdims=True)

    def batches(self):
        return tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(8)

    def fit(self, steps):
        self.estimator.train(
            input_fn=lambda: self.batches().repeat(), hooks=[Steps()], steps=steps
        )

    def fit_to_the_end(self):
        tf.estimator.train_and_evaluate(
            self.estimator,
            tf.estimator.TrainSpec(
                lambda: self.batches().repeat(), max_steps=200, hooks=[Steps()]
            ),
            tf.estimator.EvalSpec(self.batches, steps=4, throttle_secs=0),
        )

    def score(self, steps=None):
        return self.estimator.evaluate(self.batches, steps=steps)

    def guesses(self, count):
        answers = self.estimator.predict(self.batches)
        return [a["sum"].tolist() for a in itertools.islice(answers, count)]


experiment = Experiment()
for more in (25, 30):
    experiment.fit(more)
    print(json.dumps(float(experiment.score()["loss"])))
print(json.dumps(experiment.guesses(5)))
print(json.dumps(experiment.estimator.latest_checkpoint() is not None))
experiment.fit_to_the_end()
print(json.dumps({k: float(v) for k, v in sorted(experiment.score(3).items())}))
print(json.dumps(COUNTS))
