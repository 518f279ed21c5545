"""What the loop module, tf.contrib's copies and installed packages really have."""

from __future__ import annotations

from functools import lru_cache

from ..symbols.table import Move, lookup, needs_nothing
from .keras_v1 import of_keras_1
from .vocabulary import (
    STRATEGIES,
    Brought,
    Home,
    Installed,
    Loop,
    Stays,
    Today,
    is_estimator_word,
)
from .vocabulary import home as word

__all__ = ["COPIED", "Home", "Known"]

# Words of Estimators that are copied like the rest of tf.contrib.
_LIKE_CONTRIB = ("tf.contrib.estimator.", "tf.contrib.learn.")
# Words by which a text tells that it may need what is no longer in TensorFlow.
COPIED = ("contrib", "tutorials")
_ELSEWHERE = ("tf.contrib", "tf.examples.tutorials")
# TensorFlow has it still, but refuses it in a program that is eager around its graphs.
_COPIES = ("tf.feature_column.shared_embedding_columns",)


class Known:
    """Answers where a symbol of TF 1 lives, once it leaves its Estimator.

    ``canned_2`` says that the program's canned Estimators are those of TF 2,
    ``chosen`` that another strategy than the program's own was asked for.
    """

    def __init__(
        self,
        loop_names: frozenset[str],
        *,
        canned_2: bool = False,
        chosen: bool = False,
    ) -> None:
        self.loop_names = loop_names
        self.canned_2 = canned_2
        self.chosen = chosen

    def home(self, symbol: str, *, for_tf2: bool, keras_1: bool = False) -> Home | None:
        """The home of a canonical symbol; None leaves it to the symbol rules.

        ``keras_1`` says that ``tf.keras`` is TF 1's.
        """
        if self.chosen and symbol in STRATEGIES:
            return Loop("chosen_strategy")
        found = word(symbol)
        if keras_1 and (old := of_keras_1(symbol)) is not None:
            return Installed(*old)
        if isinstance(found, Loop):
            if found.name and found.name not in self.loop_names:
                if not is_estimator_word(symbol):
                    return None
                return Stays("has no counterpart in the loop module")
            return found
        if isinstance(found, Today):
            return None if for_tf2 and symbol == "tf.Variable" else found
        if is_estimator_word(symbol) and not isinstance(found, (Loop, Installed)):
            return self._estimator_word(symbol, found)
        if found is not None:
            return found
        if symbol in _COPIES:
            return _placed(symbol)
        if not any(symbol == r or symbol.startswith(r + ".") for r in _ELSEWHERE):
            return None
        move = lookup(symbol)
        if move is not None and move.old is None:
            return Today(move.to) if _is_plain(move) else None
        return _placed(symbol)

    def _estimator_word(self, symbol: str, found: Home | None) -> Home | None:
        """The home of a word of Estimators that the loop module does not have."""
        if f"{symbol}.".startswith(_LIKE_CONTRIB):
            return _placed(symbol)
        if not symbol.startswith("tf.estimator."):
            return found
        asked = symbol
        if self.canned_2:  # classes of the same names with other losses
            asked = f"tf.compat.v2.{symbol.removeprefix('tf.')}"
        brought = _placed(asked)
        return brought if isinstance(brought, Brought) else found

    def is_package(self, symbol: str) -> bool:
        """Whether a symbol of tf.contrib names a package."""
        return is_package(symbol)

    def brought_name(self, symbol: str) -> str:
        """What a symbol of tf.contrib is called in the project's copy."""
        return symbol.rpartition(".")[2]


def _is_plain(move: Move) -> bool:
    """Nothing but the name of a symbol has changed."""
    changed = (move.new, move.keyword_only, move.keywords, move.differ, move.otherwise)
    return bool(move.to) and not any(changed)


@lru_cache(maxsize=4096)
def _placed(symbol: str) -> Home | None:
    from ..bring import contrib

    place = contrib.place(symbol)
    if isinstance(place, contrib.Brought):
        return None if place.below else Brought(place.symbol)
    if isinstance(place, contrib.Elsewhere):
        if place.module in ("tensorflow", "tensorflow.compat.v1"):
            root = "tf" if place.module == "tensorflow" else "tf.compat.v1"
            return Today(f"{root}.{place.name}")
        return Installed(place.module, place.name)
    if needs_nothing(symbol) or lookup(symbol) is not None:
        return None
    return Stays(place.why)


@lru_cache(maxsize=4096)
def is_package(symbol: str) -> bool:
    """Whether a canonical name is a package that the project's copies stand for."""
    from ..bring import contrib

    if symbol == "tf.contrib":
        return True
    if not symbol.startswith(tuple(f"{root}." for root in _ELSEWHERE)):
        return False
    if symbol.startswith("tf.contrib.") and symbol.count(".") == 2:
        return symbol.rpartition(".")[2].islower()
    place = contrib.place(symbol)
    return isinstance(place, contrib.Brought) and place.is_namespace
