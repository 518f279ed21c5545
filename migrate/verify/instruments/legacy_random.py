"""Random operations that draw the same numbers in every program, in every step.

Two programs that drop out, add noise or sample never agree step by step when each draws
its own numbers. Here an operation that a graph is built with gets the stateless one of
its kind in its place, with one fixed seed: what it draws depends on the shape alone,
and TensorFlow 1.15 and 2 draw the same. A mask that is missing, or of another rate,
still shows.

What variables begin with is drawn as ever, and so is what is drawn before training.
Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import functools
import importlib

_SEED = (1729, 41)

# Of each function that adds a random operation: the stateless function of its kind and
# which of the arguments that has as well.
_REAL, _INTEGER = ("shape", "dtype"), ("shape", "minval", "maxval")
_STATELESS = {
    "stateless_random_uniform": _REAL,
    "stateless_random_normal": _REAL,
    "stateless_truncated_normal": _REAL,
    "stateless_random_uniform_int": _INTEGER,
}
_KINDS = {
    "gen_random_ops": {
        "random_uniform": ("stateless_random_uniform", _REAL),
        "random_standard_normal": ("stateless_random_normal", _REAL),
        "truncated_normal": ("stateless_truncated_normal", _REAL),
        "random_uniform_int": ("stateless_random_uniform_int", _INTEGER),
        "multinomial": (
            "stateless_multinomial",
            ("logits", "num_samples", "output_dtype"),
        ),
    },
    "gen_stateless_random_ops": {
        name: (name, arguments) for name, arguments in _STATELESS.items()
    },
    # Keras 3 draws with these, from seeds that it counts itself.
    "gen_stateless_random_ops_v2": {
        name + "_v2": (name, arguments) for name, arguments in _STATELESS.items()
    },
}


def steady_random_operations(tf, in_step=None):
    """Replace the functions through which this process' TensorFlow draws.

    ``in_step`` tells whether a step is being computed, of a program that does so
    eagerly.
    """
    stateless = importlib.import_module(
        "tensorflow.python.ops.gen_stateless_random_ops"
    )
    originals = dict(vars(stateless))
    for place, functions in _KINDS.items():
        try:
            module = importlib.import_module("tensorflow.python.ops." + place)
        except ImportError:  # TF 1.x has two of the three
            continue
        for name, (kind, arguments) in functions.items():
            if hasattr(module, name) and kind in originals:
                steady = _steady(
                    tf, in_step, getattr(module, name), originals[kind], arguments
                )
                setattr(module, name, steady)


def _steady(tf, in_step, original, stateless, arguments):
    code = getattr(original, "__wrapped__", original).__code__
    order = code.co_varnames[: code.co_argcount]

    @functools.wraps(original)
    def draw(*args, **kwargs):
        eager = tf.executing_eagerly() and not (in_step is not None and in_step())
        graph = tf.compat.v1.get_default_graph
        # What makes a variable draws as ever.
        if eager or "Initializer" in graph().get_name_scope().split("/"):
            return original(*args, **kwargs)
        given = dict(zip(order, args))
        given.update(kwargs)
        chosen = {
            name: given[name] for name in arguments if given.get(name) is not None
        }
        return stateless(seed=_SEED, name=given.get("name"), **chosen)

    return draw
