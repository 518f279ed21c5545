"""What a Task is called: after its model function, or what stands around it."""

from __future__ import annotations

import re

import libcst as cst

from ...code.tree import Tree

# Words that say nothing of what is learnt.
_WORDS = """
build create custom default estimator fn for function get impl infer init local main
make model models module my net network new program run script task test tf the this
train trainer training
"""
_PLAIN = frozenset(_WORDS.split())


def task_name(tree: Tree, defined: cst.FunctionDef, stem: str, taken: set[str]) -> str:
    """A name for the Task of a model function that nothing in the file has yet."""
    own = defined.name.value
    sources = [] if own == "__call__" else [own]
    for one in tree.ancestors(defined):
        if isinstance(one, (cst.FunctionDef, cst.ClassDef)):
            sources.append(one.name.value)
    sources.append(stem)
    words: list[str] = []
    for source in sources:
        words = [word for word in _words(source) if word.lower() not in _PLAIN]
        while words and words[0].isdigit():  # no name begins so
            del words[0]
        if words:
            break
    name = "".join(_title(word) for word in words) or "Model"
    found = f"{name}Task"
    number = 2
    while found in taken:
        found = f"{name}Task{number}"
        number += 1
    taken.add(found)
    return found


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


def _title(word: str) -> str:
    short = {"cnn", "dnn", "rnn", "lstm", "gan", "vae", "mlp", "fm"}
    return word.upper() if word.lower() in short else word[:1].upper() + word[1:]
