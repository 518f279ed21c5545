"""What code asks of the names of variables is asked as Keras names them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .code import Refused, dotted
from .text import Text

# What names of tf.contrib have in them, and what those of Keras have instead.
_TODAY = {
    "BatchNorm": "normalization",
    **dict.fromkeys(("weights", "weight"), "kernel"),
    **dict.fromkeys(("biases", "bias"), "bias"),
    "depthwise_weights": "depthwise_kernel",
    "pointwise_weights": "pointwise_kernel",
    **{name: name for name in ("beta", "gamma")},
}
_CONTRIB = re.compile(
    r"\b(slim|contrib\.layers|contrib_layers)\.(?!l[12]_|xavier|variance|optimize)"
)
_PLAIN = re.compile(r"\b(?:tf|keras)\.layers\.((?!Layer\b|[Dd]ropout|[Ff]lat)\w+)")


def with_names_of_keras(
    parsed: ParsedModule, facts: ProjectFacts, before: str
) -> ParsedModule:
    """The file, whose loops over variables ask for names that these have now.

    ``before`` is the program with its old layers. Raises Refused where what is asked
    for is a scope, or a name of layers of both kinds.
    """
    if "trainable_variables" not in parsed.source.text:
        return parsed
    text = Text(parsed.source.text)
    contrib, plain = _CONTRIB.search(before), " ".join(_PLAIN.findall(before))
    gone = re.findall(r"_scope\(([^()]*)", before)
    gone += [one.lower() for one in re.findall(r"(?m)^class (\w+)", text.code)]
    for test, asked in _tests(text):
        shown = f"`{text.of(test)}` is about names that Keras does not give"
        if contrib and not asked:
            raise Refused(shown)
        for one in asked:
            name = str(one.value).strip("/").removesuffix(":0")
            today = _TODAY.get(name) if contrib else name
            both = "ormalization" in plain if name == "BatchNorm" else plain
            plainly = {name, name.replace("_", "")}
            if (
                today is None
                or (today != name and both)
                or any(part in each for each in gone for part in plainly)
            ):
                raise Refused(shown)
            text.put(one, text.of(one).replace(name, today))
    return facts.module_of(parsed.source.with_text(text.done()))


def _tests(text: Text) -> Iterator[tuple[ast.expr, list[ast.Constant]]]:
    """Tests of names in loops over variables, and the texts that are looked for."""
    every = [one for top in text.body for one in walk_ast(top)]
    held = {
        dotted(one.targets[0])
        for one in every
        if isinstance(one, ast.Assign) and "trainable_variables" in text.of(one.value)
    }
    for loop in every:
        if not isinstance(loop, (ast.For, ast.comprehension)):
            continue
        over = text.of(loop.iter)
        if "trainable_variables" not in over and over not in held:
            continue
        tests = loop.ifs if isinstance(loop, ast.comprehension) else []
        for one in walk_ast(loop):
            tests += [one.test] if isinstance(one, (ast.If, ast.IfExp)) else []
        for test in tests:
            parts = [*walk_ast(test)]
            if any(
                isinstance(one, ast.Attribute) and one.attr == "name" for one in parts
            ):
                yield (
                    test,
                    [
                        one
                        for one in parts
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    ],
                )
