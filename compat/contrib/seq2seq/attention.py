"""Attention mechanisms: scores of a memory for a query."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.legacy_layers import layers
from .functions import monotonic_attention

__all__ = [
    "AttentionMechanism",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "LuongAttention",
    "LuongMonotonicAttention",
]


class AttentionMechanism(abc.ABC):
    """Scores a memory against queries."""

    @property
    @abc.abstractmethod
    def alignments_size(self) -> Any:
        """Number of memory entries."""

    @property
    @abc.abstractmethod
    def state_size(self) -> Any:
        """Size of the state that is handed from step to step."""


def _entries(tensor: Any) -> Any:
    static = tf.dimension_value(tensor.get_shape()[1])
    return tf.shape(tensor)[1] if static is None else static


def _without_padding(memory: Any, lengths: Any) -> Any:
    """The memory with zeros behind the end of each sequence."""
    if lengths is None:
        return memory
    mask = tf.sequence_mask(lengths, tf.shape(memory)[1], dtype=memory.dtype)
    rank = memory.get_shape().ndims
    return memory * tf.reshape(mask, tf.concat([tf.shape(mask), [1] * (rank - 2)], 0))


class _Mechanism(AttentionMechanism):
    """What the mechanisms share: keys, values, and probabilities from scores."""

    _scope: str

    def __init__(
        self,
        *,
        query_layer: Any,
        memory_layer: Any,
        memory: Any,
        memory_sequence_length: Any,
        probability_fn: Callable[[Any, Any], Any],
        score_mask_value: Any,
        custom_key_value_fn: Callable[[Any, Any], Any] | None,
        name: str,
    ) -> None:
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self._lengths = memory_sequence_length
        self._probability_fn = probability_fn
        with tf.name_scope(name, "BaseAttentionMechanismInit"):
            memory = tf.convert_to_tensor(memory, name="memory")
            if score_mask_value is None:
                score_mask_value = -math.inf
            self._mask_value = score_mask_value
            self._values = _without_padding(memory, memory_sequence_length)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            static = tf.dimension_value(self._keys.get_shape()[0])
            self._batch_size = tf.shape(self._keys)[0] if static is None else static

    @property
    def memory_layer(self) -> Any:
        """Makes keys from the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """Makes queries comparable with keys, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """What is averaged."""
        return self._values

    @property
    def keys(self) -> Any:
        """What queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """Number of memory entries."""
        return _entries(self._keys)

    @property
    def state_size(self) -> Any:
        """The state is the last alignments."""
        return self.alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros."""
        return tf.zeros(
            tf.stack([batch_size, self.alignments_size])
            if tf.is_tensor(batch_size) or tf.is_tensor(self.alignments_size)
            else [batch_size, self.alignments_size],
            dtype,
        )

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The initial alignments."""
        return self.initial_alignments(batch_size, dtype)

    @abc.abstractmethod
    def _score(self, query: Any) -> Any:
        """Scores of a query, [batch, entries]."""

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments, next state)."""
        with tf.variable_scope(None, self._scope, [query]):
            score = self._score(query)
        if self._lengths is not None:
            mask = tf.sequence_mask(self._lengths, tf.shape(score)[1])
            score = tf.where(mask, score, self._mask_value * tf.ones_like(score))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def dense_layer(size: int, name: str, dtype: Any) -> Any:
    """A layer without bias, as keys, queries and attentions are made with."""
    return layers.Dense(size, name=name, use_bias=False, dtype=dtype)


def _softmax(probability_fn: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    normalize = probability_fn or tf.nn.softmax
    return lambda score, _state: normalize(score)


class _Bahdanau(_Mechanism):
    """Additive scores."""

    _units: int
    _normalize: bool

    def _score(self, query: Any) -> Any:
        query = tf.expand_dims(
            self._query_layer(query) if self._query_layer else query, 1
        )
        dtype = query.dtype
        v = tf.get_variable("attention_v", [self._units], dtype)
        if not self._normalize:
            return tf.reduce_sum(v * tf.tanh(self._keys + query), [2])
        g = tf.get_variable(
            "attention_g",
            dtype=dtype,
            shape=(),
            initializer=tf.constant_initializer(math.sqrt(1.0 / self._units)),
        )
        b = tf.get_variable(
            "attention_b", [self._units], dtype, initializer=tf.zeros_initializer()
        )
        unit = g * v * tf.rsqrt(tf.reduce_sum(tf.square(v)))
        return tf.reduce_sum(unit * tf.tanh(self._keys + query + b), [2])


class _Luong(_Mechanism):
    """Multiplicative scores."""

    _units: int
    _scale: bool

    def _score(self, query: Any) -> Any:
        depth, units = query.get_shape()[-1], self._keys.get_shape()[-1]
        if not depth.is_compatible_with(units):
            raise ValueError(
                "Incompatible or unknown inner dimensions between query and keys: "
                f"query has {depth} units, keys have {units}. Perhaps num_units of the "
                "attention has to be that of the query."
            )
        score = tf.matmul(tf.expand_dims(query, 1), self._keys, transpose_b=True)
        score = tf.squeeze(score, [1])
        if self._scale:
            score = score * tf.get_variable(
                "attention_g",
                dtype=query.dtype,
                shape=(),
                initializer=tf.ones_initializer(),
            )
        return score


class BahdanauAttention(_Bahdanau):
    """Additive attention, normalised if wanted."""

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        dtype = dtype or tf.float32
        self._units = num_units
        self._normalize = normalize
        super().__init__(
            query_layer=dense_layer(num_units, "query_layer", dtype),
            memory_layer=dense_layer(num_units, "memory_layer", dtype),
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            probability_fn=_softmax(probability_fn),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )


class LuongAttention(_Luong):
    """Multiplicative attention, scaled if wanted."""

    _scope = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        self._units = num_units
        self._scale = scale
        super().__init__(
            query_layer=None,
            memory_layer=dense_layer(num_units, "memory_layer", dtype or tf.float32),
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            probability_fn=_softmax(probability_fn),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )


class _Monotonic(_Mechanism):
    """Attention that only moves forward."""

    _bias: Any

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """All attention on the first entry."""
        return tf.one_hot(
            tf.zeros([batch_size], tf.int32), self.alignments_size, dtype=dtype
        )

    def _score(self, query: Any) -> Any:
        score = super()._score(query)  # type: ignore[safe-super]
        return score + tf.get_variable(
            "attention_score_bias",
            dtype=score.dtype,
            shape=(),
            initializer=tf.constant_initializer(self._bias),
        )


def _monotonic(noise: float, mode: str, seed: int | None) -> Callable[[Any, Any], Any]:
    def probabilities(score: Any, previous: Any) -> Any:
        if noise > 0:
            score = score + noise * tf.random_normal(
                tf.shape(score), dtype=score.dtype, seed=seed
            )
        hard = mode == "hard"
        chosen = tf.cast(score > 0, score.dtype) if hard else tf.sigmoid(score)
        return monotonic_attention(chosen, previous, mode)

    return probabilities


class BahdanauMonotonicAttention(_Monotonic, _Bahdanau):
    """Additive attention that only moves forward."""

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        dtype = dtype or tf.float32
        self._units = num_units
        self._normalize = normalize
        self._bias = score_bias_init
        super().__init__(
            query_layer=dense_layer(num_units, "query_layer", dtype),
            memory_layer=dense_layer(num_units, "memory_layer", dtype),
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            score_mask_value=score_mask_value,
            custom_key_value_fn=None,
            name=name,
        )


class LuongMonotonicAttention(_Monotonic, _Luong):
    """Multiplicative attention that only moves forward."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._units = num_units
        self._scale = scale
        self._bias = score_bias_init
        super().__init__(
            query_layer=None,
            memory_layer=dense_layer(num_units, "memory_layer", dtype or tf.float32),
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            score_mask_value=score_mask_value,
            custom_key_value_fn=None,
            name=name,
        )
