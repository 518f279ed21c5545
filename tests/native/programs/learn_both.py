"""Wide and deep by tf.contrib.learn, on words and numbers."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers, learn

JOBS = ["cook", "pilot", "nurse", "judge", "smith"]


def columns():
    sex = layers.sparse_column_with_keys(column_name="sex", keys=["f", "m"])
    job = layers.sparse_column_with_hash_bucket("job", hash_bucket_size=40)
    age = layers.real_valued_column("age")
    number = layers.sparse_column_with_integerized_feature("number", bucket_size=7)
    ages = layers.bucketized_column(age, boundaries=[25, 35, 50])
    wide = [
        sex,
        job,
        ages,
        layers.crossed_column([sex, job], hash_bucket_size=int(1e4)),
        layers.crossed_column([job, ages, sex], 1000),
    ]
    deep = [
        age,
        layers.one_hot_column(sex),
        layers.embedding_column(job, dimension=3),
        layers.embedding_column(number, 2, combiner="sum"),
    ]
    return wide, deep


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    features = {
        "age": draw.uniform(18, 70, (count, 1)).astype(np.float32) / 10,
        "sex": draw.choice(["f", "m", "?"], (count, 1)),
        "job": draw.choice(JOBS, (count, 1)),
        "number": draw.randint(0, 7, (count, 2)),
    }
    labels = (features["age"][:, 0] > 4).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    return dataset.repeat(6).batch(20).make_one_shot_iterator().get_next()


wide, deep = columns()
classifier = learn.DNNLinearCombinedClassifier(
    model_dir=os.environ["MODEL_DIR"],
    linear_feature_columns=wide,
    dnn_feature_columns=deep,
    dnn_hidden_units=[6, 4],
    gradient_clip_norm=5.0,
    fix_global_step_increment_bug=True,
    config=learn.RunConfig(tf_random_seed=5),
)
classifier.fit(input_fn=data, steps=8)
RESULT = classifier.evaluate(input_fn=lambda: data(50, seed=1), steps=2)
for key in sorted(RESULT):
    print("%s: %s" % (key, RESULT[key]))
