"""What code asks of the names of variables is asked as Keras names them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from ...names.ast_nodes import tree_of
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
    parsed: ParsedModule, facts: ProjectFacts, before: str, classes: Collection[str]
) -> ParsedModule:
    """The file, whose loops over variables ask for names that these have now.

    ``before`` is the program with its old layers, ``classes`` are those that it has
    now, after which Keras names layers. Raises Refused where what is asked for is a
    scope, a part of such a name, or a name of layers of both kinds.
    """
    if "trainable_variables" not in parsed.source.text:
        return parsed
    text = Text(parsed.source.text)
    tests = [*_tests(text)]
    if not tests:
        return parsed
    contrib, plain = _CONTRIB.search(before), " ".join(_PLAIN.findall(before))
    gone = [*re.findall(r"_scope\(([^()]*)", before), *_told_scopes(before)]
    own = [one.lower() for one in classes]
    for test, asked in tests:
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
            if any(part in each for each in own for part in plainly):
                if not _names_a_layer(before, name, own):
                    raise Refused(shown)
                today = f"{name}/"
            text.put(one, text.of(one).replace(f"{name}/", name).replace(name, today))
    return facts.module_of(parsed.source.with_text(text.done()))


def _names_a_layer(before: str, name: str, classes: Sequence[str]) -> bool:
    """A text is the whole name of some layers, and of no other a part.

    Then they alone have it before a slash, whatever Keras calls others.
    """
    told = [
        str(one.value)
        for call in walk_ast(tree_of(before), ast.Call)
        for one in walk_ast(call, ast.Constant)
    ]
    last = name.replace("_", "")
    return f"name={name!r}" in before.replace('"', "'") and not any(
        [one.endswith(last) for one in classes] + [name in one != name for one in told]
    )


def _told_scopes(before: str) -> Iterator[str]:
    """What functions that open scopes are told, of which they may name these."""
    tree = tree_of(before)
    opening = {
        one.name
        for one in walk_ast(tree, ast.FunctionDef)
        if "_scope(" in ast.unparse(one)
    }
    for call in walk_ast(tree, ast.Call):
        if dotted(call.func).rpartition(".")[2] in opening:
            for given in (*call.args, *(one.value for one in call.keywords)):
                for one in walk_ast(given, ast.Constant):
                    yield str(one.value)


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
