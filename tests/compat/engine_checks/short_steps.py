"""Steps that repeat themselves give what Session.run gives, and fail as it does."""

from __future__ import annotations

import pytest
import tfmigrate.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
STEPS = 9
BAD = 7


def input_fn():
    return tf.data.Dataset.range(100).map(lambda n: (tf.cast(n, tf.float32), 0.0))


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)
    fed = tf.placeholder_with_default(1.0, [], name="fed")
    safe = tf.check_numerics(features / (BAD - features), "divided", name="guard")
    tf.identity(features, name="number")
    tf.identity(features * fed, name="scaled")
    step = tf.train.get_global_step()
    train_op = tf.group(w.assign_add(1.0), tf.assign_add(step, 1))
    return tf.estimator.EstimatorSpec(mode, loss=0.0 * safe + w, train_op=train_op)


class Asks(tf.train.SessionRunHook):
    """Asks for other things from step to step, feeds at some, traces one."""

    def begin(self):
        self.seen, self.traced, self.step = [], [], 0

    def after_create_session(self, session, coord):
        self.session = session

    def before_run(self, run_context):
        self.step += 1
        feed = {"fed:0": 10.0} if self.step % 3 == 0 else None
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        return tf.train.SessionRunArgs(
            {"number": "number:0", "pair": ["scaled:0", ("number:0",)]}
            if self.step % 2
            else "scaled:0",
            feed_dict=feed,
            options=options if self.step == 6 else None,
        )

    def after_run(self, run_context, run_values):
        self.seen.append(run_values.results)
        if run_values.run_metadata.step_stats.dev_stats:
            self.traced.append(self.step)


asks = Asks()
estimator = tf.estimator.Estimator(model_fn)
with pytest.raises(tf.errors.InvalidArgumentError) as failed:
    estimator.train(input_fn, hooks=[asks], steps=STEPS)
assert failed.value.op.name == "guard", "an error tells its op"
assert "engine_checks/short_steps.py" in str(failed.value), "and where that was made"
assert len(asks.seen) == BAD, asks.seen
for place, found in enumerate(asks.seen):
    scaled = place * (10.0 if (place + 1) % 3 == 0 else 1.0)
    wanted = scaled
    if (place + 1) % 2:
        wanted = {"number": place, "pair": [scaled, (place,)]}
    assert found == wanted, (place, found, wanted)
assert asks.traced == [6], asks.traced

asks = Asks()
estimator = tf.estimator.Estimator(model_fn).train(input_fn, hooks=[asks], steps=5)
assert estimator.get_variable_value("w") == 5.0
with pytest.raises(RuntimeError, match="closed"):
    asks.session.run("number:0")
print("short steps ok")
