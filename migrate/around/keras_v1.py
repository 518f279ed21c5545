"""What ``tf.keras`` meant in TF 1 where tf_keras gives another thing by that name.

A program of TF 1 has the gates of its recurrent layers, the random numbers of its
initializers, the batch norm that `trainable=False` does not freeze, and optimizers that
take `lr=` and `decay=`. tf_keras has all of them, below its API of version 1.
"""

from __future__ import annotations

__all__ = ["KERAS_V1", "of_keras_1"]

KERAS_V1 = "tf_keras.api._v1.keras"

_NAMES = {
    "layers": (
        "BatchNormalization",
        "CuDNNGRU",
        "CuDNNLSTM",
        "DenseFeatures",
        "GRU",
        "GRUCell",
        "LSTM",
        "LSTMCell",
    ),
    "initializers": (
        "RandomNormal",
        "RandomUniform",
        "TruncatedNormal",
        "he_normal",
        "he_uniform",
        "lecun_normal",
        "lecun_uniform",
        "normal",
        "random_normal",
        "random_uniform",
        "truncated_normal",
        "uniform",
    ),
    "losses": ("cosine", "cosine_proximity"),
    "metrics": ("cosine", "cosine_proximity"),
}
_OPTIMIZERS = (
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSprop",
    "SGD",
)
_HOMES = {
    **{
        f"tf.keras.{package}.{name}": (KERAS_V1, f"{package}.{name}")
        for package, names in _NAMES.items()
        for name in names
    },
    # These have a public path.
    **{
        f"tf.keras.optimizers.{name}": ("tf_keras", f"optimizers.legacy.{name}")
        for name in _OPTIMIZERS
    },
}


def of_keras_1(symbol: str) -> tuple[str, str] | None:
    """Module and dotted name of what a symbol below ``tf.keras`` was in TF 1.

    None where tf_keras has the same under the same name.
    """
    return _HOMES.get(symbol)
