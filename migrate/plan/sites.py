"""Where a recognised program stands in its syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from .code.tree import Body, Statement
from .program import (
    TF,
    Blocker,
    EstimatorCall,
    ModelFnPlan,
    TrainingPlan,
)

__all__ = [
    "ArrayDataset",
    "Blocked",
    "InputSites",
    "KerasSites",
    "MadeInput",
    "ModelFnSites",
    "ModelRead",
    "Program",
    "StrategySite",
    "TensorTail",
]


class Blocked(Exception):
    """Raised by a recogniser where a program leaves what it understands."""

    def __init__(self, rule: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.blocker = Blocker(rule, line, reason)


@dataclass(frozen=True)
class ModelRead:
    """A model_fn that was taken apart."""

    definition: cst.FunctionDef
    plan: ModelFnPlan
    # Moving averages are there that the model_fn never updated.
    forgets: bool
    # The rate of its optimizer follows the step.
    decays: bool


@dataclass(eq=False)
class TensorTail:
    """The part of an input function from its iterator to its return.

    ``first`` and ``last`` are the places of ``get_next`` and of the return among
    the statements of ``block``; ``drop`` those that only serve the iterator.
    ``parameters`` are those of the function that the Dataset maps, or None when
    the elements are returned as they are.
    """

    block: Body
    dataset: str
    first: int
    last: int
    drop: tuple[int, ...]
    parameters: str | None
    returned: cst.BaseExpression | None


@dataclass(frozen=True)
class ArrayDataset:
    """The Dataset of an array, as source text of its parts.

    ``shuffles`` is True, False, or an expression that tells at run time.
    """

    features: str
    labels: str | None
    shuffles: str
    shuffle: str
    batches: str

    @property
    def rows(self) -> str:
        """The Dataset of single examples."""
        elements = self.features
        if self.labels is not None:
            elements = f"({self.features}, {self.labels})"
        return f"{TF}.data.Dataset.from_tensor_slices({elements})"

    @property
    def methods(self) -> str:
        """What follows the rows when it is known whether they are shuffled."""
        return (self.shuffle if self.shuffles == "True" else "") + self.batches


@dataclass(eq=False)
class MadeInput:
    """``name = numpy_input_fn(...)``, which becomes a function of that name."""

    statement: Statement
    # None where a factory returns what numpy_input_fn makes.
    name: str | None
    dataset: ArrayDataset


@dataclass
class InputSites:
    """What must be edited so that every input function returns a Dataset."""

    tails: list[TensorTail] = field(default_factory=list)
    made: list[MadeInput] = field(default_factory=list)
    _seen: set[cst.CSTNode] = field(default_factory=set)

    def new(self, node: cst.CSTNode) -> bool:
        """True the first time a node is met."""
        if node in self._seen:
            return False
        self._seen.add(node)
        return True


@dataclass
class StrategySite:
    """The call that makes a program's strategy, and its statement if it has a name."""

    call: cst.Call
    statement: Statement | None


@dataclass
class KerasSites:
    """Nodes of a ``model_to_estimator`` program that an emitter edits."""

    body: Body
    model_statements: list[Statement]
    model_ready: Statement
    compile_statement: Statement | None
    estimator_statement: Statement
    drop: list[Statement]
    hoist: list[Statement]
    strategy: StrategySite | None
    calls: list[tuple[EstimatorCall, cst.Call]]
    hook_classes: list[cst.ClassDef]
    inputs: InputSites
    call: cst.Call
    # ``estimator.model_dir`` where the program reads it.
    directories: list[cst.Attribute] = field(default_factory=list)

    @property
    def ready_last(self) -> Statement:
        """The last statement that makes the model."""
        return self.model_statements[-1]


@dataclass
class ModelFnSites:
    """Nodes of an ``Estimator(model_fn)`` program that an emitter edits."""

    body: Body
    model_fn: cst.FunctionDef
    first_call: Statement
    estimator_statement: Statement
    drop: list[Statement]
    hoist: list[Statement]
    strategy: StrategySite | None
    calls: list[tuple[EstimatorCall, cst.Call]]
    hook_classes: list[cst.ClassDef]
    inputs: InputSites
    call: cst.Call
    # ``estimator.model_dir`` where the program reads it.
    directories: list[cst.Attribute] = field(default_factory=list)


@dataclass
class Program:
    """A training program: its plan and its places."""

    plan: TrainingPlan
    sites: KerasSites | ModelFnSites
