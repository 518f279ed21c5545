# Linear, deep or both by tf.contrib.learn, on words in sparse tensors and numbers.
import tempfile

import numpy as np
import tensorflow as tf

NUMBERS = ["age", "hours"]
WORDS = ["sex", "job"]
DATA = {
    "age": np.linspace(18., 70., 24).astype(np.float32),
    "hours": np.linspace(10., 60., 24)[::-1].astype(np.float32),
    "sex": np.array(["f", "m", "m"] * 8),
    "job": np.array(["cook", "pilot", "nurse", "judge"] * 6),
}
LABELS = (DATA["age"] + DATA["hours"] / 5 > 48).astype(np.int32)


def build_estimator(model_dir, model_type):
    sex = tf.contrib.layers.sparse_column_with_keys(column_name="sex", keys=["f", "m"])
    job = tf.contrib.layers.sparse_column_with_hash_bucket(
        "job", hash_bucket_size=1000)
    age = tf.contrib.layers.real_valued_column("age")
    hours = tf.contrib.layers.real_valued_column("hours")
    ages = tf.contrib.layers.bucketized_column(age, boundaries=[25, 35, 50, 65])
    wide = [sex, job, ages,
            tf.contrib.layers.crossed_column([job, sex], hash_bucket_size=int(1e6)),
            tf.contrib.layers.crossed_column([ages, job], hash_bucket_size=int(1e6))]
    deep = [tf.contrib.layers.embedding_column(job, dimension=8),
            tf.contrib.layers.one_hot_column(sex), age, hours]
    if model_type == "wide":
        m = tf.contrib.learn.LinearClassifier(model_dir=model_dir,
                                              feature_columns=wide)
    elif model_type == "deep":
        m = tf.contrib.learn.DNNClassifier(model_dir=model_dir,
                                           feature_columns=deep,
                                           hidden_units=[10, 5])
    else:
        m = tf.contrib.learn.DNNLinearCombinedClassifier(
            model_dir=model_dir,
            linear_feature_columns=wide,
            dnn_feature_columns=deep,
            dnn_hidden_units=[10, 5],
            fix_global_step_increment_bug=True)
    return m


def input_fn(start):
    features = {k: tf.constant(DATA[k][start:]) for k in NUMBERS}
    features.update({
        k: tf.SparseTensor(
            indices=[[i, 0] for i in range(24 - start)],
            values=DATA[k][start:], dense_shape=[24 - start, 1])
        for k in WORDS})
    return features, tf.constant(LABELS[start:])


def train_and_eval(model_type, steps):
    m = build_estimator(tempfile.mkdtemp(), model_type)
    m.fit(input_fn=lambda: input_fn(0), steps=steps)
    results = m.evaluate(input_fn=lambda: input_fn(8), steps=1)
    for key in sorted(results):
        print("%s: %s" % (key, results[key]))
    return results


RESULT = train_and_eval("wide", 30)
for kind in ("deep", "both"):
    RESULT["steps of " + kind] = train_and_eval(kind, 3)["global_step"]
