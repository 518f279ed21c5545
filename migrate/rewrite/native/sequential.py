"""A plain chain of layers as `tf_keras.Sequential`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ...names.ast_nodes import expression_of, tree_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule
from .code import dotted, literal, symbol_of
from .text import (
    Text,
    attribute_of_self,
    defaults_of,
    fitted,
    on_one_line,
    parameters_of,
)

_LAYERS = "tf_keras.layers."
_ACTIVATIONS = frozenset(
    f"tf.{name}"
    for name in (
        "nn.elu", "nn.relu6", "nn.selu", "nn.sigmoid", "nn.softmax", "nn.softplus",
        "nn.softsign", "nn.swish", "nn.tanh", "nn.leaky_relu", "nn.log_softmax",
        "sigmoid", "tanh", "math.sigmoid", "math.tanh", "math.softplus",
    )
)  # fmt: skip
_OF_PICTURES = re.compile(r"\.(Conv2D|MaxPooling2D|AveragePooling2D|\w*Conv2D\w*)\(")
_OF_SEQUENCES = re.compile(r"\.(Conv1D|Embedding|MaxPooling1D|AveragePooling1D)\(")
# It stands in a list of a constructor.
_WIDTH = 80


def as_sequential(
    parsed: ParsedModule, class_name: str, given: Mapping[str, str]
) -> str | None:
    """Source of a Sequential that is what the class is; None if it is no plain chain.

    `given` are the arguments that the class is made with. Lines after the first are
    indented as if it stood in the first column.
    """
    text = Text(parsed.source.text)
    found = [
        node
        for top in text.body
        for node in walk_ast(top, ast.ClassDef)
        if node.name == class_name
    ]
    if len(found) != 1:
        return None
    return _Chain(parsed, text, found[0], given).read()


def with_several(parsed: ParsedModule) -> Iterator[str]:
    """Names of classes whose call gives a list, a tuple or a dict in plain sight."""
    for node in walk_ast(tree_of(parsed.source.text), ast.ClassDef):
        call = next((f for f in node.body if getattr(f, "name", "") == "call"), None)
        if call is None:
            continue
        made = [one for one in walk_ast(call, ast.Assign) if _is_several(one.value)]
        names = {name for one in made for name in map(dotted, one.targets)}
        if any(
            _is_several(one.value) or dotted(one.value) in names
            for one in walk_ast(call, ast.Return)
            if one.value is not None
        ):
            yield node.name


def _is_several(node: ast.expr) -> bool:
    kinds = (ast.Tuple, ast.List, ast.ListComp, ast.Dict, ast.DictComp)
    return isinstance(node, kinds)


class _No(Exception):
    """The class is no chain."""


class _Chain:
    """Reads the steps of a class's call."""

    def __init__(
        self,
        parsed: ParsedModule,
        text: Text,
        node: ast.ClassDef,
        given: Mapping[str, str],
    ) -> None:
        self.given = given
        self.resolver = parsed.resolver
        self.text = text
        self.node = node
        self.layers: dict[str, str] = {}
        self.used: set[str] = set()
        # Elements of the list, and the comments above and behind them.
        self.steps: list[str] = []
        self.last = ""

    def read(self) -> str | None:
        """The expression, or None."""
        methods = {f.name: f for f in self.node.body if isinstance(f, ast.FunctionDef)}
        if set(methods) != {"__init__", "call"}:
            return None
        try:
            self._constructor(methods["__init__"])
            self._call(methods["call"])
        except _No:
            return None
        if self.used != set(self.layers) or not self.steps:
            return None
        names = [name for one in self.steps for name in self._names(one)]
        if len(names) != len(set(names)):
            return None
        lines = "\n".join(self.steps)
        return f"tf_keras.Sequential([\n{lines}\n])"

    def _names(self, step: str) -> list[str]:
        """Names of layers of a step, also of one that a function of the file makes."""
        makers = [f for f in self.text.body if isinstance(f, ast.FunctionDef)]
        texts = [self.text.of(f) for f in makers if re.search(rf"\b{f.name}\(", step)]
        found = [
            one.group(0)
            for text in (step, *texts)
            for one in re.finditer(r"\bname=(?:'([^'%{]*)'|\"([^\"%{]*)\")", text)
        ]
        return found * (1 + step.lstrip().startswith("*("))

    def _constructor(self, function: ast.FunctionDef) -> None:
        usual = {k: self.text.of(v) for k, v in defaults_of(function).items()}
        self.given = usual | {**self.given}
        for statement in function.body:
            if isinstance(statement, ast.Expr):
                value = statement.value
                if isinstance(value, ast.Constant):
                    continue
                if isinstance(value, ast.Call) and "super" in ast.unparse(value.func):
                    continue
                raise _No
            if not isinstance(statement, ast.Assign):
                raise _No
            name = attribute_of_self(statement.targets[0])
            if name is None or name in self.layers or len(statement.targets) != 1:
                raise _No
            if not isinstance(statement.value, (ast.Call, ast.ListComp)):
                raise _No
            if any(attribute_of_self(one) for one in walk_ast(statement.value)):
                raise _No
            self.layers[name] = self._filled(on_one_line(self.text.of(statement.value)))

    def _filled(self, code: str) -> str:
        """What the constructor says, with its arguments."""
        for name, value in self.given.items():
            code = re.sub(rf"(?<![\w.]){name}\b(?!\s*=[^=])", value, code)
        return code

    def _call(self, function: ast.FunctionDef) -> None:
        names = parameters_of(function)[1:]
        if not names or names[1:] not in ([], ["training"]):
            raise _No
        self.training = names[1:] == ["training"]
        current = names[0]
        for statement in function.body:
            if isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant
            ):
                continue
            before = len(self.steps)
            if isinstance(statement, ast.For):
                self._loop(statement, current)
            elif isinstance(statement, ast.Return):
                if statement.value is None:
                    raise _No
                self._steps(statement.value, current)
                if statement is not function.body[-1]:
                    raise _No
            elif (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
            ):
                self._steps(statement.value, current)
                new = statement.targets[0].id
                if new != current and self._reads_later(function, statement, current):
                    raise _No
                current = new
            else:
                raise _No
            self._comments(statement, before)
        if not isinstance(function.body[-1], ast.Return):
            raise _No

    def _reads_later(
        self, function: ast.FunctionDef, statement: ast.stmt, name: str
    ) -> bool:
        later = function.body[function.body.index(statement) + 1 :]
        return any(
            isinstance(one, ast.Name) and one.id == name
            for part in later
            for one in walk_ast(part)
        )

    def _loop(self, node: ast.For, current: str) -> None:
        """``for dense in self.layers: net = dense(net)``"""
        name = attribute_of_self(node.iter)
        if name is None or len(node.body) != 1 or node.orelse:
            raise _No
        (statement,) = node.body
        if not isinstance(statement, ast.Assign) or not isinstance(
            node.target, ast.Name
        ):
            raise _No
        target, value = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or target.id != current:
            raise _No
        if not isinstance(value, ast.Call) or dotted(value.func) != node.target.id:
            raise _No
        if not self._is_input(value, current):
            raise _No
        code = self._layer(name)
        if not code.startswith("["):
            raise _No
        self._add(f"*({code[1:-1]})")

    def _is_input(self, node: ast.Call, current: str) -> bool:
        """The call gets the current tensor, and perhaps the flag."""
        given = [ast.unparse(one) for one in node.args]
        given += [
            ast.unparse(one.value) for one in node.keywords if one.arg == "training"
        ]
        strange = [one for one in node.keywords if one.arg != "training"]
        return not strange and given in ([current], [current, "training"])

    def _layer(self, name: str) -> str:
        if name not in self.layers or name in self.used:
            raise _No
        self.used.add(name)
        return self.layers[name]

    def _add(self, code: str) -> None:
        inner = (
            expression_of(code) if code.startswith("tf_keras.Sequential([") else None
        )
        if (
            isinstance(inner, ast.Call)
            and len(inner.args) == 1
            and not inner.keywords
            and isinstance(inner.args[0], ast.List)
        ):
            # One flat list; names are looked at in the end.
            for one in inner.args[0].elts:
                self._add(ast.get_source_segment(code, one) or "")
            self.last = code
            return
        self.last = code
        self.steps.append(fitted(f"{code},", " " * 4, _WIDTH))

    def _comments(self, statement: ast.stmt, before: int) -> None:
        """Comments above a statement, and behind it, stay with what it became."""
        code = self.text.code
        start, end = self.text.span(statement)
        line = code.rfind("\n", 0, start) + 1
        above = self.text.comments_above(line, self.text.indent(statement))
        lines = [f"    {one.strip()}" for one in code[above:line].splitlines()]
        behind = code[end : code.find("\n", end)].strip()
        if len(self.steps) == before:
            if lines or behind:
                raise _No
            return
        if behind.startswith("#"):
            self.steps[-1] += f"  {behind}"
        self.steps[before:before] = lines

    def _steps(self, node: ast.expr, current: str) -> None:
        """The steps of nested calls, the innermost first."""
        if isinstance(node, ast.Name) and node.id == current:
            return
        if not isinstance(node, ast.Call) or not (node.args or node.keywords):
            raise _No
        name = attribute_of_self(node.func)
        first = node.args[0] if node.args else None
        if name is not None:
            if first is None:
                raise _No
            inner = ast.Call(
                node.func, [ast.Name(current), *node.args[1:]], node.keywords
            )
            if not self._is_input(inner, current):
                raise _No
            self._steps(first, current)
            code = self._layer(name)
            if code.startswith("["):
                raise _No
            self._add(code)
            return
        symbol = symbol_of(self.resolver, node.func)
        given = {str(place): one for place, one in enumerate(node.args)}
        given |= {str(one.arg): one.value for one in node.keywords if one.arg != "name"}
        inputs = next((given.pop(key) for key in ("0", *_INPUTS) if key in given), None)
        if inputs is None:
            raise _No
        self._steps(inputs, current)
        said = {key: self.text.of(value) for key, value in given.items()}
        code = self._function(symbol or "", said, self.text.of(node.func))
        if code:
            self._add(code)

    def _function(self, symbol: str, given: dict[str, str], function: str) -> str:
        """The layer that does what a function does; nothing if that does nothing."""
        if symbol == "tf.identity":
            return ""
        if symbol == "tf.nn.relu" and not given:
            return f"{_LAYERS}ReLU()"
        if symbol in _ACTIVATIONS and not given:
            return f"{_LAYERS}Activation({function})"
        if symbol == "tf.reshape":
            return self._reshape(given.get("1", given.get("shape", "")))
        if symbol in ("tf.reduce_mean", "tf.reduce_max"):
            axis = literal(given.pop("1", given.pop("axis", "None")))
            kind = "Average" if symbol == "tf.reduce_mean" else "Max"
            if not given and axis in ([1, 2], (1, 2)):
                return f"{_LAYERS}Global{kind}Pooling2D()"
            if not given and axis == 1 and _OF_SEQUENCES.search(self.last):
                return f"{_LAYERS}Global{kind}Pooling1D()"
        raise _No

    def _reshape(self, shape: str) -> str:
        """A shape of which the first dimension is that of the batch."""
        node = expression_of(shape or "0")
        if not isinstance(node, (ast.List, ast.Tuple)) or not node.elts:
            raise _No
        sizes = [literal(ast.unparse(one)) for one in node.elts]
        if sizes[0] != -1 or -1 in sizes[1:]:
            raise _No
        flat = len(sizes) == 2 and _OF_PICTURES.search(self.last) is not None
        if self.steps and not flat:
            # It may take the batch apart.
            raise _No
        rest = [ast.get_source_segment(shape, one) for one in node.elts[1:]]
        return f"{_LAYERS}Reshape([{', '.join(map(str, rest))}])"


_INPUTS = ("features", "x", "input", "tensor", "input_tensor", "logits", "inputs")
