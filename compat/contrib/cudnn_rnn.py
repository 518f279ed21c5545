"""``tf.contrib.cudnn_rnn``: its layers and cells, made of plain operations.

They run on any device. A layer keeps its weights in the variables that checkpoints of
TF 1.x had for it, so that these are read and written; slots of optimizers, which were
those of one opaque variable, are not.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.legacy_layers import rnn_cell
from .rnn import LSTMBlockCell, stack_bidirectional_dynamic_rnn

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnLSTM",
    "CudnnRNNRelu",
    "CudnnRNNTanh",
]


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM as cuDNN computes it: without a bias of the forget gate."""

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(
            num_units,
            forget_bias=0.0,
            cell_clip=-1,
            reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )


class CudnnCompatibleGRUCell(rnn_cell.GRUCell):
    """A GRU as cuDNN computes it: what is forgotten is projected first."""

    def __init__(
        self, num_units: int, reuse: Any = None, kernel_initializer: Any = None
    ) -> None:
        super().__init__(
            num_units,
            reuse=reuse,
            kernel_initializer=kernel_initializer,
            name="cudnn_compatible_gru_cell",
        )
        self._weights_by_name: dict[str, Any] = {}

    def _add(self, name: str, size: list[int], start: float, *kinds: str) -> None:
        for kind in kinds or ("kernel", "bias"):
            bias = kind == "bias"
            self._weights_by_name[f"{name}/{kind}"] = self.add_weight(
                f"{name}/{kind}",
                size[1:] if bias else size,
                initializer=tf.constant_initializer(start)
                if bias
                else self._kernel_initializer,
            )

    def build(self, inputs_shape: Any) -> None:
        """Makes the weights of gates and of both projections."""
        depth, units = tf.dimension_value(inputs_shape[-1]), self._num_units
        inner = "candidate/input_projection", "candidate/hidden_projection"
        sizes = [depth + units, 2 * units], [depth, units], [units, units]
        self._add("gates", sizes[0], 1.0)
        for kind in ("kernel", "bias"):  # the order in which TF 1.x made them
            for name, size in zip(inner, sizes[1:], strict=True):
                self._add(name, size, 0.0, kind)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""

        weights = self._weights_by_name

        def project(values: Any, name: str) -> Any:
            return tf.nn.bias_add(
                tf.matmul(values, weights[f"{name}/kernel"]), weights[f"{name}/bias"]
            )

        gates = tf.sigmoid(project(tf.concat([inputs, state], 1), "gates"))
        reset, update = tf.split(gates, 2, 1)
        forgotten = reset * project(state, "candidate/hidden_projection")
        candidate = self._activation(
            project(inputs, "candidate/input_projection") + forgotten
        )
        state = (1 - update) * candidate + update * state
        return state, state


class _CudnnRNN:
    """Layers of recurrent cells, over sequences whose first axis is time."""

    rnn_mode = ""
    _default_name = ""
    _gates = 1

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        if direction not in ("unidirectional", "bidirectional"):
            raise ValueError(
                f"Invalid direction: {direction}, expecting unidirectional or "
                "bidirectional"
            )
        if input_mode not in ("linear_input", "auto_select"):
            raise ValueError(
                f"Invalid input_mode: {input_mode}, expect one of (linear_input, "
                "skip_input, auto_select)"
                if input_mode != "skip_input"
                else "input_mode='skip_input' is not available; use 'linear_input'."
            )
        if tf.as_dtype(dtype) not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(
                f"Only support float16, float32, float64, provided "
                f"<dtype: {tf.as_dtype(dtype).name!r}>"
            )
        self.num_layers, self.num_units = num_layers, num_units
        self.input_mode, self.direction = input_mode, direction
        self.num_dirs = 1 if direction == "unidirectional" else 2
        self.dtype = tf.as_dtype(dtype)
        self.input_size: int | None = None
        self.built = False
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or tf.glorot_uniform_initializer()
        self._bias_initializer = bias_initializer or tf.zeros_initializer()
        with tf.variable_scope(name, default_name=self._default_name) as scope:
            self._scope = scope
        self.name: str = scope.name
        self._cells = [
            [self._cell() for _ in range(num_layers)] for _ in range(self.num_dirs)
        ]

    def _cell(self) -> Any:
        raise NotImplementedError

    @property
    def variables(self) -> list[Any]:
        """All weights, in the order they were made."""
        cells = [cell for side in self._cells for cell in side]
        return [variable for cell in cells for variable in cell.variables]

    trainable_variables = weights = trainable_weights = variables

    def _layer_inputs(self) -> list[int]:
        assert self.input_size is not None, "The layer is not built yet."
        later = [self.num_units * self.num_dirs] * (self.num_layers - 1)
        return [self.input_size, *later]

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """Shapes of the matrices of all gates, first those from the inputs."""
        units = self.num_units
        return [
            (units, columns)
            for size in self._layer_inputs()
            for _ in range(self.num_dirs)
            for columns in (size, units)
            for _ in range(self._gates)
        ]

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """Shapes of the biases, two for each gate."""
        return [[self.num_units]] * len(self.canonical_weight_shapes)

    def state_shape(self, batch_size: int) -> Any:
        """The shapes of a state."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],)

    def build(self, input_shape: Any) -> None:
        """Takes the size of inputs; the weights are made by the first call."""
        self.input_size = tf.dimension_value(tf.TensorShape(input_shape)[-1])
        if self.input_size is None:
            raise ValueError("The last dimension of the inputs should be defined.")
        self.built = True

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        inputs = tf.convert_to_tensor(inputs, self.dtype)
        if not self.built:
            self.build(inputs.shape)
        with tf.variable_scope(
            self._scope,
            auxiliary_name_scope=False,
            initializer=self._initial_kernel,
            reuse=tf.AUTO_REUSE,
        ):
            return self.call(inputs, *args, **kwargs)

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Any, Any]:
        """Outputs of the last layer, and the final state of all of them."""
        batch = tf.shape(inputs)[1 if time_major else 0]
        sides = [[*side] for side in self._cells]
        if training and self._dropout:
            for side in sides:
                side[1:] = [
                    rnn_cell.DropoutWrapper(
                        cell, input_keep_prob=1.0 - self._dropout, seed=self._seed
                    )
                    for cell in side[1:]
                ]
        states = self._unpacked(initial_state, batch)
        if self.num_dirs == 1:
            outputs, final = tf.nn.dynamic_rnn(
                rnn_cell.MultiRNNCell(sides[0]),
                inputs,
                sequence_lengths,
                tuple(states[0]),
                time_major=time_major,
            )
            final = [final]
        else:
            outputs, *final = stack_bidirectional_dynamic_rnn(
                sides[0],
                sides[1],
                inputs,
                states[0],
                states[1],
                dtype=self.dtype,
                sequence_length=sequence_lengths,
                time_major=time_major,
            )
        return outputs, self._packed(final)

    def _unpacked(self, state: Any, batch: Any) -> list[list[Any]]:
        """The state of each cell, by direction, of one tensor for all layers."""
        if state is None:
            zeros = [batch, self.num_units]
            parts = tuple(
                tf.zeros([self.num_layers * self.num_dirs, *zeros], self.dtype)
                for _ in self.state_shape(0)
            )
        else:
            parts = tuple(state) if isinstance(state, list | tuple) else (state,)
        found: list[list[Any]] = [[] for _ in range(self.num_dirs)]
        for place in range(self.num_layers * self.num_dirs):
            of_cell = [part[place] for part in parts]
            found[place % self.num_dirs].append(
                rnn_cell.LSTMStateTuple(*of_cell[::-1])
                if len(of_cell) == 2
                else of_cell[0]
            )
        return found

    def _packed(self, final: list[Any]) -> tuple[Any, ...]:
        in_order = [side[layer] for layer in range(self.num_layers) for side in final]
        if isinstance(in_order[0], rnn_cell.LSTMStateTuple):
            return (
                tf.stack([state.h for state in in_order]),
                tf.stack([state.c for state in in_order]),
            )
        return (tf.stack(in_order),)

    def _initial_kernel(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Any:
        """Each gate's matrices, for inputs and for the state, drawn by themselves."""
        del partition_info
        shape, dtype, units = list(shape), dtype or self.dtype, self.num_units
        if len(shape) == 1:
            draw = self._bias_initializer
            return draw(shape, dtype=dtype) + draw(shape, dtype=dtype)
        gates = shape[1] // units
        rows = [shape[0]] if shape[0] <= units else [shape[0] - units, units]
        return tf.concat(
            [
                tf.concat(
                    [self._kernel_initializer([size, units], dtype) for size in rows], 0
                )
                for _ in range(gates)
            ],
            1,
        )


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTMs; their state is ``(h, c)``."""

    rnn_mode = "lstm"
    _default_name = "cudnn_lstm"
    _gates = 4

    def _cell(self) -> Any:
        return CudnnCompatibleLSTMCell(self.num_units)

    def state_shape(self, batch_size: int) -> Any:
        """The shapes of a state: outputs and memories."""
        return super().state_shape(batch_size) * 2


class CudnnGRU(_CudnnRNN):
    """Layers of GRUs."""

    rnn_mode = "gru"
    _default_name = "cudnn_gru"
    _gates = 3

    def _cell(self) -> Any:
        return CudnnCompatibleGRUCell(self.num_units)


class CudnnRNNTanh(_CudnnRNN):
    """Layers of plain cells with a tanh."""

    rnn_mode = "rnn_tanh"
    _default_name = "cudnn_rnn_tanh"

    def _cell(self) -> Any:
        return rnn_cell.BasicRNNCell(self.num_units, tf.tanh, name="basic_rnn_cell")


class CudnnRNNRelu(_CudnnRNN):
    """Layers of plain cells with a relu."""

    rnn_mode = "rnn_relu"
    _default_name = "cudnn_rnn_relu"

    def _cell(self) -> Any:
        return rnn_cell.BasicRNNCell(self.num_units, tf.nn.relu, name="basic_rnn_cell")
