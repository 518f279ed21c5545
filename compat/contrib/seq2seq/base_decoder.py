"""The decoder that is a Keras layer: TF 1.15 had it in a private module."""

from __future__ import annotations

import inspect
from typing import Any

import tf_keras

from .decoder import Decoder, dynamic_decode

__all__ = ["BaseDecoder"]


@Decoder.register
class BaseDecoder(tf_keras.layers.Layer):
    """A decoder that is called with the inputs of all steps.

    Args:
      output_time_major: as `dynamic_decode` has it, like the next four.
      impute_finished: see there.
      maximum_iterations: see there.
      parallel_iterations: see there.
      swap_memory: see there.
      **kwargs: passed to the layer.
    """

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: Any = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """Decodes ``inputs`` to the end."""
        # Keras 2 tells each call whether it trains; what TF 1.15 had did not.
        if "training" not in inspect.signature(self.initialize).parameters:
            kwargs.pop("training", None)
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs={**kwargs, "initial_state": initial_state},
        )

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """Shapes of the outputs of one step, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """Types of the outputs."""
        raise NotImplementedError

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """(finished, first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any) -> Any:
        """(outputs, next state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """What is made of the outputs of all steps, if anything."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a finished sequence may become unfinished, as beams do."""
        return False
