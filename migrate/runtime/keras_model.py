"""Keras classes for model functions: their variables keep TensorFlow 1's names."""

from __future__ import annotations

from typing import Any

import tf_keras

from .vocabulary import v1


class KerasLayer(tf_keras.layers.Layer):
    """A layer made of layers, whose own name is not part of their variables' names.

    So a variable has the name it had when a function made it, and checkpoints,
    whoever wrote them, go on.
    """

    def _name_scope(self) -> str:
        # Keras has no public way to name the variables of a layer from outside.
        scope = str(v1.get_default_graph().get_name_scope())
        return f"{scope}/" if scope else ""


class KerasModel(tf_keras.Model):
    """The layers of a model function: see `KerasLayer` for the variables' names."""

    _name_scope = KerasLayer._name_scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The forward pass; losses of regularizers are found as for any layer."""
        outputs = super().__call__(*args, **kwargs)
        self.collect_losses()
        return outputs

    def collect_losses(self) -> None:
        """Puts losses of regularizers where TensorFlow 1 had them."""
        collected = v1.get_collection_ref(v1.GraphKeys.REGULARIZATION_LOSSES)
        known = {id(one) for one in collected}
        collected += [loss for loss in self.losses if id(loss) not in known]
