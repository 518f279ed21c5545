from .code import Code

_N = "absolute_difference compute_weighted_loss cosine_distance hinge_loss huber_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy"
SIGNATURES = {
    f"tf.losses.{n}": (
        {
            "sigmoid_cross_entropy": ("multi_class_labels", "logits", "weights"),
            "softmax_cross_entropy": ("onehot_labels", "logits", "weights"),
        }.get(
            n,
            ("labels", "logits" if "cross" in n else "predictions", "weights", "scope"),
        )
    )
    for n in _N.split()
}


def loss(symbol, a):
    return Code(f"DEVLOSS_{symbol.rpartition('.')[2]}({', '.join(a.values())})")
