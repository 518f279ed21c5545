"""Helpers: what a decoder reads at each step, and when a sequence ends."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "CustomHelper",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
]

nest = tf.nest


class Helper(abc.ABC):
    """Samples from outputs and gives the next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """Number of sequences, a scalar tensor."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """Shape of what is sampled, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """Type of what is sampled."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)."""

    @abc.abstractmethod
    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """What is taken from the outputs."""

    @abc.abstractmethod
    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """(finished, next inputs, next state)."""


class _Ids(Helper):
    """Samples one number for each sequence."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """A number each."""
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """Ids are int32."""
        return tf.int32


class CustomHelper(Helper):
    """Made of three functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._shape = tf.TensorShape(sample_ids_shape or [])
        self._dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        """Known after `initialize`."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """As given."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """As given."""
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        """Calls ``initialize_fn()``."""
        with tf.name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Calls ``sample_fn(time=, outputs=, state=)``."""
        with tf.name_scope(name, "CustomHelperSample", [time]):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """Calls ``next_inputs_fn(time=, outputs=, state=, sample_ids=)``."""
        with tf.name_scope(name, "CustomHelperNextInputs", [time]):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


def _unstack(tensor: Any) -> Any:
    array = tf.TensorArray(
        tensor.dtype, size=tf.shape(tensor)[0], element_shape=tensor.get_shape()[1:]
    )
    return array.unstack(tensor)


def _time_major(tensor: Any) -> Any:
    return tf.transpose(tensor, [1, 0, *range(2, tensor.get_shape().ndims)])


class TrainingHelper(_Ids):
    """Reads the given inputs, whatever the decoder puts out."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "TrainingHelper", [sequence_length]):
            inputs = nest.map_structure(tf.convert_to_tensor, inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(_time_major, inputs)
            self._arrays = nest.map_structure(_unstack, inputs)
            self._sequence_length = tf.convert_to_tensor(
                sequence_length, name="sequence_length"
            )
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError("Expected sequence_length to be a vector")
            self._zero_inputs = nest.map_structure(
                lambda one: tf.zeros_like(one[0, :]), inputs
            )
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The given inputs."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The given lengths."""
        return self._sequence_length

    def _read(self, finished: Any, time: Any) -> Any:
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._arrays),
        )

    def initialize(self, name: str | None = None) -> Any:
        """The inputs of step 0."""
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(finished, 0)

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The likeliest id, which has no influence here."""
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The inputs of the step after."""
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            finished = time + 1 >= self._sequence_length
            return finished, self._read(finished, time + 1), state


def _embedding(embedding: Any) -> Callable[[Any], Any]:
    if callable(embedding):
        made: Callable[[Any], Any] = embedding
        return made
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


def _bernoulli(probability: Any, shape: Any, seed: int | None) -> Any:
    return tf.random_uniform(shape, seed=seed) < probability


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads, by chance, its own last sample instead of the given input."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._embedding_fn = _embedding(embedding)
        self._probability = sampling_probability
        self._seed = seed
        self._scheduling_seed = scheduling_seed
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """A sampled id, or -1 where the given input is read."""
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time]):
            chosen = _bernoulli(
                self._probability, [self.batch_size], self._scheduling_seed
            )
            ids = tf.multinomial(outputs, 1, self._seed, output_dtype=tf.int32)[:, 0]
            return tf.where(chosen, ids, tf.fill([self.batch_size], -1))

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """Embedded samples where there are any."""
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        own = self._embedding_fn(tf.maximum(sample_ids, 0))
        return finished, tf.where(sample_ids > -1, own, given), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads, by chance, its own last output instead of the given input."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        self._probability = sampling_probability
        self._seed = seed
        self._next_inputs_fn = next_inputs_fn
        self._auxiliary: Any = None
        if auxiliary_inputs is not None:
            inputs, extra = tf.convert_to_tensor(inputs), auxiliary_inputs
            extra = tf.convert_to_tensor(extra)
            self._auxiliary = _unstack(extra if time_major else _time_major(extra))
            inputs = tf.concat([inputs, extra], -1)
        super().__init__(inputs, sequence_length, time_major, name)

    @property
    def sample_ids_dtype(self) -> Any:
        """Whether a sequence reads its own output."""
        return tf.bool

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Whose own output is read next."""
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", [time]):
            return _bernoulli(self._probability, [self.batch_size], self._seed)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """Own outputs where they were chosen."""
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        own = self._next_inputs_fn(outputs) if self._next_inputs_fn else outputs
        if self._auxiliary is not None:
            # Behind the last step the value is never used.
            last = self._auxiliary.size() - 1
            extra = self._auxiliary.read(tf.minimum(time + 1, last))
            own = tf.concat([own, extra], -1)
        return finished, tf.where(sample_ids, own, given), state


class GreedyEmbeddingHelper(_Ids):
    """Reads the embedding of the likeliest id until the end token."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = _embedding(embedding)
        start = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(
            end_token, dtype=tf.int32, name="end_token"
        )
        if start.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start)
        self._start_inputs = self._embedding_fn(start)

    def initialize(self, name: str | None = None) -> Any:
        """The embedded start tokens."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The likeliest id."""
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The sampled ids, embedded."""
        finished = tf.equal(sample_ids, self._end_token)
        inputs = tf.cond(
            tf.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads the embedding of an id drawn from the outputs as logits."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature = softmax_temperature
        self._seed = seed

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """A drawn id."""
        if self._temperature is not None:
            outputs = outputs / self._temperature
        return tf.multinomial(outputs, 1, self._seed, output_dtype=tf.int32)[:, 0]


class InferenceHelper(Helper):
    """Feeds back what ``sample_fn`` makes of the outputs."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._next_inputs_fn = next_inputs_fn
        self._shape = tf.TensorShape(sample_shape)
        self._dtype = sample_dtype
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> Any:
        """Number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """As given."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """As given."""
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        """The given start."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Calls ``sample_fn(outputs)``."""
        return self._sample_fn(outputs)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The sample, or what ``next_inputs_fn`` makes of it."""
        make = self._next_inputs_fn
        inputs = sample_ids if make is None else make(sample_ids)
        return self._end_fn(sample_ids), inputs, state
