"""Text ranking with its CNN, from TFRecords, through its command's main function."""

import os
import sys
import tempfile

import tensorflow as tf
from detext import run_detext

FOLDER = tempfile.mkdtemp()
WORDS = ["[PAD]", "[SEP]", "[CLS]", "[UNK]", "[MASK]", "red", "blue", "hat", "shoe"]
VOCABULARY = os.path.join(FOLDER, "words.txt")
RECORDS = os.path.join(FOLDER, "lists.tfrecord")


def of_bytes(*values):
    held = tf.train.BytesList(value=[value.encode() for value in values])
    return tf.train.Feature(bytes_list=held)


def of_floats(*values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


with open(VOCABULARY, "w") as stream:
    stream.write("\n".join(WORDS) + "\n")
with tf.io.TFRecordWriter(RECORDS) as writer:
    for at in range(16):
        first = 1.0 if at % 2 else 0.0
        feature = {
            "label": of_floats(first, 1.0 - first),
            "query": of_bytes("red hat"),
            "doc_title": of_bytes("red shoe hat", "blue shoe shoe"),
            "wide_ftrs": of_floats(0.1, 0.2, 0.3, 0.1 * (at % 3)),
        }
        features = tf.train.Features(feature=feature)
        writer.write(tf.train.Example(features=features).SerializeToString())

OUT = os.path.join(FOLDER, "out")
ARGUMENTS = {
    "ftr_ext": "cnn",
    "num_filters": 4,
    "filter_window_sizes": 1,
    "num_units": 4,
    "emb_sim_func": "inner",
    "ltr_loss_fn": "softmax",
    "optimizer": "bert_adam",
    "learning_rate": 0.01,
    "feature_names": "label,query,doc_title,wide_ftrs",
    "num_wide": 2,
    "train_file": RECORDS,
    "dev_file": RECORDS,
    "test_file": RECORDS,
    "out_dir": OUT,
    "vocab_file": VOCABULARY,
    "pmetric": "ndcg@2",
    "all_metrics": "ndcg@2",
    "num_train_steps": 4,
    "steps_per_eval": 2,
    "train_batch_size": 4,
    "test_batch_size": 4,
    "max_len": 6,
}
words = [
    word for name, value in ARGUMENTS.items() for word in ("--" + name, str(value))
]
run_detext.main(["detext", *words])
checkpoint = tf.train.latest_checkpoint(OUT)
step = tf.train.load_variable(checkpoint, "global_step")
assert step == 4, step
# The command has put its log in the place of sys.stdout.
print(f"TRAINED {step} 0", file=sys.__stdout__)
