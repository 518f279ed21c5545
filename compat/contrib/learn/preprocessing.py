"""``tf.contrib.learn.preprocessing``: words to numbers."""

from __future__ import annotations

import collections
import math
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "CategoricalProcessor",
    "CategoricalVocabulary",
    "VocabularyProcessor",
    "tokenizer",
]

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for value in iterator:
        yield _WORD.findall(value)


class CategoricalVocabulary:
    """Numbers for words; 0 is for everything unknown."""

    def __init__(
        self, unknown_token: str = "<UNK>", support_reverse: bool = True
    ) -> None:
        self._unknown = unknown_token
        self._mapping: dict[str, int] = {unknown_token: 0}
        self._freq: collections.Counter[str] = collections.Counter()
        self._frozen = False
        self._reverse = [unknown_token] if support_reverse else None

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From here on unknown words become 0."""
        self._frozen = freeze

    def get(self, category: str) -> int:
        """The number of a word, a new one unless frozen."""
        if category not in self._mapping:
            if self._frozen:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._reverse is not None:
                self._reverse.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Count a word."""
        if self.get(category) <= 0:
            return
        self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep words of a frequency; they are renumbered by frequency."""
        ordered = sorted(sorted(self._freq.items()), key=lambda item: -item[1])
        kept = [
            (word, count)
            for word, count in ordered
            if count > min_frequency and (max_frequency < 0 or count < max_frequency)
        ]
        self._mapping = {self._unknown: 0}
        self._mapping.update({word: i + 1 for i, (word, _) in enumerate(kept)})
        self._freq = collections.Counter(dict(kept))
        if self._reverse is not None:
            self._reverse = [self._unknown, *[word for word, _ in kept]]

    def reverse(self, class_id: int) -> str:
        """The word of a number."""
        if self._reverse is None:
            raise ValueError("this vocabulary was made without reverse look-up")
        return self._reverse[class_id]


class CategoricalProcessor:
    """Rows of categories to rows of numbers, one vocabulary for each column."""

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: list[CategoricalVocabulary] | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> CategoricalProcessor:
        """Learn the categories; a missing one (NaN) is none."""
        for row in _rows(x):
            if self.vocabularies_ is None:
                own = range(1 if self.share else len(row))
                learnt = [CategoricalVocabulary() for _ in own]
                self.vocabularies_ = learnt * len(row) if self.share else learnt
            for vocabulary, value in zip(self.vocabularies_, row, strict=False):
                if not _is_missing(value):
                    vocabulary.add(value)
        for vocabulary in self.vocabularies_ or []:
            if self.min_frequency > 0:
                vocabulary.trim(self.min_frequency)
            vocabulary.freeze()
        return self

    def fit_transform(self, x: Iterable[Any], unused_y: Any = None) -> Iterator[Any]:
        """Learn the categories, then give the rows."""
        return self.fit(x).transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """One row of numbers per row."""
        self.vocabularies_ = self.vocabularies_ or []
        for row in _rows(x):
            numbers = [
                0 if _is_missing(value) else vocabulary.get(value)
                for vocabulary, value in zip(self.vocabularies_, row, strict=True)
            ]
            yield np.array(numbers, np.int64)


def _rows(x: Any) -> Any:
    """The rows of a table; one of pandas gives the names of its columns by itself."""
    return x.to_numpy() if hasattr(x, "to_numpy") else x


def _is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


class VocabularyProcessor:
    """Texts to rows of word numbers, padded with 0 to one length."""

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> VocabularyProcessor:
        """Learn the words."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[Any]:
        """Learn the words, then give the rows."""
        documents = list(raw_documents)
        return self.fit(documents).transform(documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """One row of numbers per text."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, token in enumerate(tokens[: self.max_document_length]):
                row[place] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """Texts from rows of numbers."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(int(number)) for number in row)

    def save(self, filename: str) -> None:
        """Write to a file."""
        with tf.gfile.Open(filename, "wb") as stream:
            stream.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Read back what `save` wrote."""
        with tf.gfile.Open(filename, "rb") as stream:
            found = pickle.loads(stream.read())
        assert isinstance(found, cls)
        return found
