"""What the modules of a source tree of tensorflow_estimator make public.

Read from the source, never imported: the export decorators say under which public
names a module's classes and functions were found, for TF 1 and for TF 2.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

__all__ = ["PACKAGE", "SUMMED", "Module", "Tree"]

PACKAGE = "tensorflow_estimator"

# Modules that tests share, and tables of names: they are run as they are.
_HELPERS = re.compile(
    r"testing_utils|_test_|_test$|test_fc_v2|metric_keys$|prediction_keys$"
    r"|feature_keys$|fake_summary_writer$|head\.head_utils$"
)

# Public, but exported by another repository than the one that has the code.
_ELSEWHERE = {
    ("keras", "model_to_estimator"): "keras.estimator.model_to_estimator",
    ("keras_lib", "model_to_estimator"): "keras.estimator.model_to_estimator",
}


# Private functions that differ from public ones in one default only: the losses of
# canned models are summed. Values: names in tf.contrib.estimator.
_ALMOST = {
    ("canned.head", "_regression_head"): "regression_head",
    (
        "canned.head",
        "_multi_class_head_with_softmax_cross_entropy_loss",
    ): "multi_class_head",
    (
        "canned.head",
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss",
    ): "binary_classification_head",
}
SUMMED = frozenset(_ALMOST.values())


@dataclasses.dataclass(frozen=True)
class Exported:
    """Public names below ``tf.``; None where a generation has none."""

    v1: str | None
    v2: str | None


@dataclasses.dataclass
class Module:
    """One module of the tree: names with public forms, and names from imports."""

    name: str
    path: Path
    is_package: bool
    exported: dict[str, Exported] = dataclasses.field(default_factory=dict)
    # name -> (module, name in it or None for the module itself)
    imported: dict[str, tuple[str, str | None]] = dataclasses.field(
        default_factory=dict
    )
    stars: list[str] = dataclasses.field(default_factory=list)
    # Names of metrics, keys and the like: facts, whoever writes them down.
    constants: dict[str, object] = dataclasses.field(default_factory=dict)

    @property
    def is_helper(self) -> bool:
        """Whether tests share its code, rather than test it."""
        return bool(_HELPERS.search(self.name))


class Tree:
    """All modules below ``ROOT/tensorflow_estimator``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}
        self._contrib = self._contrib_names()

    def module(self, name: str) -> Module | None:
        """The module of that dotted name, read at the first question."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> Module | None:
        base = self.root.joinpath(*name.split("."))
        file = base.with_suffix(".py")
        if base.is_dir():
            return Module(name, base / "__init__.py", True)
        if not file.is_file():
            return None
        module = Module(name, file, False)
        tree = ast.parse(file.read_text())
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                table = _table(node)
                if table:
                    module.constants[node.name] = table
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                for decorator in node.decorator_list:
                    found = _exported(decorator)
                    if found is not None:
                        module.exported[node.name] = found
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                found = _exported(node.value.func)
                if found is not None and isinstance(node.value.args[0], ast.Name):
                    module.exported[node.value.args[0].id] = found
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        module.constants[target.id] = node.value.value
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if alias.name == "*":
                        module.stars.append(node.module)
                    else:
                        known = alias.asname or alias.name
                        module.imported[known] = (node.module, alias.name)
        self._add_elsewhere(module)
        return module

    def _add_elsewhere(self, module: Module) -> None:
        last = module.name.rpartition(".")[2]
        for (where, name), public in _ELSEWHERE.items():
            if where == last:
                module.exported[name] = Exported(public, public)
        for (where, name), public in _ALMOST.items():
            if module.name.endswith(where) and ".contrib." not in module.name:
                module.exported[name] = Exported(public, public)
        if ".contrib." in module.name or last in ("saved_model_estimator", "export"):
            for name in self._contrib:
                if name in module.exported:
                    continue
                if re.search(rf"^(class|def) {name}\b", module.path.read_text(), re.M):
                    module.exported[name] = Exported(f"contrib.estimator.{name}", None)

    def _contrib_names(self) -> list[str]:
        file = self.root / PACKAGE / "contrib" / "estimator" / "__init__.py"
        if not file.is_file():
            return []
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.Assign):
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id == "_allowed_symbols":
                    return list(ast.literal_eval(node.value))
        return []


def _table(node: ast.ClassDef) -> dict[str, object]:
    """The constants of a class that has nothing else."""
    found: dict[str, object] = {}
    for part in node.body:
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = part.value.value
        elif not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)):
            return {}
    return found


def _exported(node: ast.expr) -> Exported | None:
    """What ``estimator_export(...)`` says, where the node is a call of it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id != "estimator_export":
        return None
    names = [ast.literal_eval(argument) for argument in node.args]
    v2 = names[0] if names else None
    v1 = v2
    for keyword in node.keywords:
        if keyword.arg == "v1":
            listed = ast.literal_eval(keyword.value)
            v1 = listed[0] if listed else None
    return Exported(v1, v2)
