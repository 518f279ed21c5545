from dataclasses import dataclass, replace

from .code import Code

_L = ("labels", "predictions", "weights")
SIGNATURES = {
    f"tf.metrics.{n}": (*_L, "metrics_collections", "updates_collections", "name")
    for n in [
        "accuracy",
        "auc",
        "precision",
        "recall",
        "mean_absolute_error",
        "mean_squared_error",
        "root_mean_squared_error",
        "true_positives",
        "false_positives",
    ]
}
SIGNATURES["tf.metrics.mean"] = (
    "values",
    "weights",
    "metrics_collections",
    "updates_collections",
    "name",
)


@dataclass(frozen=True)
class Metric:
    constructor: Code
    update: tuple
    sample_weight: str | None = None

    def changed(self, f):
        return replace(
            self, constructor=self.constructor, update=tuple(map(f, self.update))
        )


def metric(symbol, key, a):
    a = dict(a)
    w = a.pop("weights", None)
    return Metric(
        Code(f'tf_keras.metrics.DEV_{symbol.rpartition(".")[2]}("{key}")'),
        tuple(a.values()),
        w,
    )
