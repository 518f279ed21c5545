"""Batch normalization whose averages a program forgot to update."""

from __future__ import annotations

import ast
import re

from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .code import Refused, dotted
from .text import Text

# Models of Keras that have batch normalization inside.
WITH_AVERAGES = re.compile(
    r"\bapplications\.[\w.]*((?:Res|Dense|NAS|Mobile|Efficient)Net|ception)\w*\("
)


def with_still_averages(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose batch normalization keeps the averages that it began with."""
    text = Text(parsed.source.text)
    whole = WITH_AVERAGES.search(text.code)
    if whole and re.search(r"\(.*\btraining=training\b", text.code):
        raise Refused(f"`tf.keras.{whole[0]}...)` whose averages nothing updates")
    for node in walk_ast(ast.Module(text.body, []), ast.Call):
        name = (dotted(node.func) or "").rpartition(".")[2]
        if name not in ("BatchNormalization", "SampleNormalization"):
            continue
        told = [one for one in node.keywords if one.arg == "momentum"]
        if any(one.arg is None for one in node.keywords) or len(node.args) > 1:
            raise Refused("batch normalization with hidden arguments is never updated")
        if told:
            text.put(told[0].value, "1.0")
        else:
            start, end = text.span(node)
            code = text.code[start : end - 1].rstrip()
            comma = "" if code.endswith(("(", ",")) else ", "
            text.put(node, f"{code}{comma}momentum=1.0)")
    return facts.module_of(parsed.source.with_text(text.done()))
