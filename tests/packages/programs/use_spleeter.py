"""The separation model over two instruments, on very short clips."""

import tensorflow as tf
from spleeter.model import model_fn
from steps import RANDOM, train

PARTS = ["vocals", "rest"]
TIME, BANDS = 64, 64
CLIPS = {
    name + "_spectrogram": RANDOM.rand(2, TIME, BANDS, 2).astype("float32")
    for name in ["mix", *PARTS]
}
PARAMS = {
    "mix_name": "mix",
    "instrument_list": PARTS,
    "n_channels": 2,
    "sample_rate": 8000,
    "frame_length": 256,
    "frame_step": 64,
    "T": TIME,
    "F": BANDS,
    "separation_exponent": 2,
    "mask_extension": "zeros",
    "learning_rate": 0.001,
    "stft_backend": "tensorflow",
    "model": {"type": "unet.unet", "params": {}},
}


def input_fn():
    mixed = {"mix_spectrogram": CLIPS["mix_spectrogram"]}
    labels = {part + "_spectrogram": CLIPS[part + "_spectrogram"] for part in PARTS}
    return tf.data.Dataset.from_tensor_slices((mixed, labels)).repeat().batch(2)


train(tf.estimator.Estimator(model_fn, params=PARAMS), input_fn)
