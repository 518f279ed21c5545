"""Skip-gram on a small text, through its class."""

import os
import tempfile

from word2vec.estimators.word2vec import Word2Vec

FOLDER = tempfile.mkdtemp()
TEXT = os.path.join(FOLDER, "text.txt")
with open(TEXT, "w") as stream:
    for at in range(60):
        stream.write(
            "the cat {} sat on the mat {}\n".format("a" * (at % 5 + 1), at % 7)
        )

model = Word2Vec()
model.build_vocab(TEXT, os.path.join(FOLDER, "words"), 1)
model.train(
    "skipgram",
    TEXT,
    os.path.join(FOLDER, "model"),
    batch_size=16,
    embedding_size=4,
    num_neg_samples=2,
    learning_rate=0.1,
    window_size=1,
    num_epochs=1,
    sampling_rate=1.0,
    p_num_threads=1,
    t_num_threads=1,
    shuffling_buffer_size=10,
    save_summary_steps=100,
    save_checkpoints_steps=100,
    keep_checkpoint_max=1,
    log_step_count_steps=100,
    debug=False,
    debug_port=0,
    xla=False,
)

import tensorflow as tf  # noqa: E402

checkpoint = tf.train.latest_checkpoint(os.path.join(FOLDER, "model"))
step = tf.train.load_variable(checkpoint, "global_step")
assert step > 3, step
print(f"TRAINED {step} 0")
