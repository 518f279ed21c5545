"""Which TensorFlow a program was written for, as `tfmigrate run` has to know."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from ..project.reading import read_or_nothing

# Words that only TF 1 had under the name that programs give to TensorFlow; they
# save looking at the code, which takes a second. Not those in comments.
_TF1_WORDS = re.compile(
    rb"^[^#\n]*(?:\btensorflow\.contrib\b|\btf\.(?:contrib|Session|placeholder|app|layers"
    rb"|flags|get_variable|gfile|global_variables_initializer|logging|variable_scope"
    rb"|estimator\.inputs|train\.(?:\w+Optimizer|get_global_step|get_or_create_global_step"
    rb"|Saver|SessionRunHook))\b)",
    re.M,
)
# TF 1 under a name of its own, in a line of a script or of a notebook's cell.
_LINE = rb"^[ \t\"]*"
_TF1_BESIDE = re.compile(
    _LINE + rb"(?:import tensorflow\.compat\.v1 as (?!tf\b)"
    rb"|from tensorflow\.compat import v1\b(?! as tf\b)"
    rb"|\w+ *= *tf\.compat\.v1\b(?!\.))",
    re.M,
)
# A program of more files is looked at as far as that.
_MOST = 60
_PLAIN = re.compile(_LINE + rb"import tensorflow(?:\.compat\.v2)? as tf\b", re.M)


def generation_of(path: Path) -> int:
    """1 or 2: by the names of a program's file and of those that it imports.

    A program that says nothing about it is one of TF 1.
    """
    if _says_tf1(read_or_nothing(path)):
        return 1
    # They are slow to import, and most programs of TF 1 need them not.
    from ..project.facts import ProjectFacts
    from ..project.reached import reached
    from ..rules.written_for import era_of

    facts = ProjectFacts()
    eager, asks = False, False

    def imported(file: Path) -> list[Path]:
        return sorted(facts.imported_files(file, read_or_nothing(file)))

    for file in itertools.islice(reached([path], imported), _MOST):
        raw = read_or_nothing(file)
        if _says_tf1(raw):
            return 1
        parsed = facts.parse(file, raw) if b"tensorflow" in raw else None
        if parsed is not None:
            era = era_of(parsed.resolver)
            if era.tf1:
                return 1
            eager = eager or era.tf2 or _has_both(raw)
        # Values out of tensors, in a program that did not ask for eager execution.
        eager = eager or b".numpy()" in raw
        asks = asks or b"enable_eager" in raw or b"enable_v2" in raw
    return 2 if eager and not asks else 1


def _has_both(raw: bytes) -> bool:
    return bool(_TF1_BESIDE.search(raw) and _PLAIN.search(raw))


def _says_tf1(raw: bytes) -> bool:
    return bool(_TF1_WORDS.search(raw)) and not _has_both(raw)
