"""What the listings of TensorFlow cannot know about symbols: imports and advice."""

from __future__ import annotations

from ..tables import table_of

# Attributes of the package that ``from tensorflow.X import ...`` cannot reach,
# because a directory of that name hides the public module.
NOT_IMPORTABLE = (
    "tf.distribute",
    "tf.lite",
    "tf.compat.v1.flags",
    "tf.compat.v1.app.flags",
)


def importable(name: str) -> bool:
    """Whether ``from <parent of name> import <name>`` works in TF 2.21."""
    parent = name.rpartition(".")[0]
    return name != "tf.compat.v1.app.flags" and not any(
        parent == hidden or parent.startswith(hidden + ".") for hidden in NOT_IMPORTABLE
    )


# Private modules that are elsewhere today, with the same names in them.
MOVED_MODULES: dict[str, str] = {
    "tf.python.training.gen_training_ops": "tf.python.ops.gen_training_ops",
    "tf.python.training.training_ops": "tf.python.ops.gen_training_ops",
}

# What to do instead of a name that is gone.
ADVICE: dict[str, str] = table_of(__package__, "data/advice.toml")


def moved(symbol: str) -> str | None:
    """Where a name of a private module is that has moved, or the module itself."""
    for module, home in MOVED_MODULES.items():
        if symbol == module or symbol.startswith(module + "."):
            return home + symbol[len(module) :]
    return None


def advice_for(name: str) -> str | None:
    """The advice whose prefix fits ``name`` best, or None."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        found = ADVICE.get(".".join(parts[:end]))
        if found is not None:
            return found
    return None
