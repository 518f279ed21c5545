"""What a rule is, and what rules may ask about the module they look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..names.names import Door
from ..names.scopes import Scope, Use
from ..names.table import Move
from ..project.text import Edit
from ..report.findings import Outcome, Safety


@dataclass(frozen=True)
class Rule:
    """A rule's public face: what its page says.

    Pairs of ``examples`` and ``noops`` are whole modules.
    """

    id: str
    name: str
    summary: str
    why: str
    safety: Safety = Safety.EXACT
    examples: Sequence[tuple[str, str]] = ()
    noops: Sequence[str] = ()
    advice_only: bool = False


@dataclass(frozen=True, eq=False)
class SymbolUse:
    """A place where a module uses a TensorFlow symbol.

    ``node`` is the expression that names exactly the symbol; ``call`` is set
    when it is called there. ``spelled`` is the dotted path as imported.
    """

    use: Use
    node: cst.Name | cst.Attribute
    symbol: str
    spelled: str
    door: Door
    move: Move | None
    call: cst.Call | None

    @property
    def scope(self) -> Scope:
        """The scope the use stands in."""
        return self.use.scope


@dataclass(frozen=True)
class Diagnosis:
    """What a rule says about one place.

    A rewrite has ``edits`` or a ``target``; anything else is advice or left. A note
    is put above the statement when ``note`` is set.
    """

    rule: str
    message: str
    edits: tuple[Edit, ...] = ()
    outcome: Outcome = Outcome.REWRITTEN
    safety: Safety = Safety.EXACT
    reason: str | None = None
    note: str | None = None
    symbol: str | None = None
    # The TF2 name that takes the symbol's place; the engine spells it.
    target: str | None = None


def advised(
    rule: str, message: str, *, symbol: str | None = None, note: str | None = None
) -> Diagnosis:
    """What a rule says where a person has to choose what to do."""
    return Diagnosis(
        rule,
        message,
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
        symbol=symbol,
        note=note,
    )
