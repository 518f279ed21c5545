"""What programs ask of the loop module, by the words that they say.

Each matter is one of the constants in `migrate/runtime/asked.py`: the code that depends
on it goes along with programs that may ask for it, and with no other.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ..bring import identifiers

__all__ = ["MATTERS", "Matter", "Words", "asked_for"]


@dataclass(frozen=True)
class Words:
    """What some texts say: their words, and calls with arguments by position."""

    said: frozenset[str] = frozenset()
    # How many arguments a name is called with at most, unnamed ones.
    by_position: Mapping[str, float] = field(default_factory=dict)
    # Whether more may be asked for than they tell.
    whole: bool = False

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        """The words of texts."""
        said: set[str] = set()
        calls: dict[str, float] = {}
        for text in texts:
            said |= identifiers(text)
            for name, count in _by_position(text):
                calls[name] = max(count, calls.get(name, 0))
        return cls(frozenset(said), calls)

    def __or__(self, other: Words) -> Words:
        names = {*self.by_position, *other.by_position}
        return Words(
            self.said | other.said,
            {
                name: max(self.by_position.get(name, 0), other.by_position.get(name, 0))
                for name in names
            },
            self.whole or other.whole,
        )


@dataclass(frozen=True)
class Matter:
    """Something that a program may ask for.

    It does where one of its words has ``words`` in it; where it gives a function of
    ``places`` more arguments by position than that; and where it takes something that
    stands in one of ``parts`` of the loop module.
    """

    name: str
    words: str = "(?!)"
    places: Mapping[str, int] = field(default_factory=dict)
    parts: Collection[str] = ()
    # What is asked for with it.
    includes: Collection[str] = ()


MATTERS = (
    Matter(
        "HOOKS",
        r"(?i)hook|scaffold|listener|monitor|sessionrun|host_call",
        places={
            "train": 1,
            "evaluate": 2,
            "predict": 2,
            "EstimatorSpec": 6,
            "TrainSpec": 2,
            "EvalSpec": 3,
        },
        parts=("hooks", "session", "early_stopping", "memory_evaluator", "apart"),
        includes=("LISTENERS",),
    ),
    Matter(
        "EXPORTS",
        r"(?i)export|serving|predictor|saved_?model",
        places={"EstimatorSpec": 5, "EvalSpec": 4},
        parts=("exporting", "exporters", "predictor", "receivers"),
    ),
    Matter("TIMES", r"ProfilerHook|trace_level|RunOptions|run_metadata"),
    Matter("LISTENERS", parts=("train_and_evaluate",)),
    Matter(
        "REPLICAS",
        r"(?i)strateg|distribut|replica",
        parts=("replicas", "strategies", "chosen", "together", "apart"),
    ),
    Matter(
        "CLUSTERS",
        r"(?i)multi_?worker|parameter_?server|collective_?all|central_?storage|tpu_?str",
        parts=("workers", "together", "apart", "servers", "chosen"),
        includes=("REPLICAS", "HOOKS", "LISTENERS", "TASKS", "ORDERED", "ASSIGNED"),
    ),
    Matter(
        "WARM_STARTS",
        r"(?i)warm_?start|vocab_?info",
        places={"Estimator": 4, "__init__": 4},
        parts=("warm_start",),
    ),
    Matter("ITERATORS", r"(?i)iterator|get_next", parts=("iterators",)),
    Matter("QUEUES", parts=("queues",)),
    # A library that is used within a model function may do any of this.
    Matter(
        "ORDERED",
        r"(?i)control_dependenc|assign|scatter|average|state_ops|raw_ops|hub|slim",
        parts=("keras",),
    ),
    Matter("ASSIGNED", r"(?i)assign|scatter|state_ops|raw_ops|hub|slim"),
    Matter(
        "LAYER_UPDATES",
        r"(?i)update_ops|collection|create_train_op|optimize_loss|hub|slim",
    ),
    Matter(
        "GRAPHS",
        r"(?m)^(Graph|as_default|\w*Session|build_graphs_by_hand)$",
        parts=("by_hand",),
    ),
    Matter(
        "OWN_WEIGHTS",
        r"(?m)^(get_variable|new_variable|make_input_layer|keep_weights"
        r"|make_linear_model)$",
    ),
    Matter(
        "TASKS",
        r"(?m)^(is_chief|task_type|task_id|num_worker_replicas|num_ps_replicas"
        r"|cluster_spec|global_id_in_cluster|master)$",
        parts=("train_and_evaluate", "workers"),
    ),
    Matter("RECURRENT", r"(?i)rnn|lstm|gru|recurrent|load_model", parts=("keras",)),
    Matter("CLASS_NAMES", r"\w[A-Z]\d", parts=("class_names",)),
    Matter("RESUMED", r"resume_data"),
    Matter("DISTRIBUTE_CONFIGS", r"experimental_distribute|DistributeConfig"),
    Matter("PARTITIONS", r"(?i)partition", parts=("partitions",)),
    Matter("CHOSEN", parts=("chosen",)),
    Matter("PROFILES", parts=("profiling",)),
    Matter("KERAS_WEIGHTS", parts=("keras",)),
)


def asked_for(words: Words, parts: Collection[str] = ()) -> dict[str, bool]:
    """Each matter, and whether programs with these words may ask for it."""
    text = "\n".join(words.said)
    wanted = {
        matter.name
        for matter in MATTERS
        if words.whole
        or re.search(matter.words, text)
        or any(
            words.by_position.get(n, 0) > count for n, count in matter.places.items()
        )
        or not set(parts).isdisjoint(matter.parts)
    }
    for matter in MATTERS:
        if matter.name in wanted:
            wanted.update(matter.includes)
    return {matter.name: matter.name in wanted for matter in MATTERS}


def _by_position(text: str) -> list[tuple[str, float]]:
    """Calls of a text, by last name, with how many arguments they give unnamed."""
    found = []
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            starred = any(isinstance(arg, ast.Starred) for arg in node.args)
            starred |= any(keyword.arg is None for keyword in node.keywords)
            if name is not None:
                found.append((name, math.inf if starred else len(node.args)))
    return found


def _parsed(text: str) -> ast.AST:
    """The syntax of a text; that of a notebook, cell by cell, as far as it has one."""
    try:
        cells = [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, TypeError, KeyError):
        cells = [text]
    nodes: list[ast.stmt] = []
    for cell in cells:
        lines = [line for line in cell.split("\n") if not line.startswith(("%", "!"))]
        try:
            nodes += ast.parse("\n".join(lines)).body
        except (SyntaxError, ValueError):
            # It cannot be told: it may call anything with anything.
            nodes += ast.parse(_ANYTHING).body
    return ast.Module(nodes, [])


_ANYTHING = "\n".join(
    f"{name}(*arguments)" for name in sorted({n for one in MATTERS for n in one.places})
)
