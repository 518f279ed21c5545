"""Bytes in, bytes out: what is not edited stays as it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tfmigrate.compat.notebooks import Notebook
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.model import FileResult, FileStatus
from tfmigrate.rewrite.pipeline import Job, process_source

HEAD = "import tensorflow as tf\n"


def process(raw: bytes, name: str = "x.py") -> FileResult:
    """The result for a file's content."""
    return process_source(Path(name), raw, Job(), ProjectFacts())


CASES = {
    "lf": (b"import tensorflow as tf\nx = tf.log(1)\n", b"tf.math.log"),
    "crlf": (b"import tensorflow as tf\r\nx = tf.log(1)\r\n", b"tf.math.log"),
    "cr": (b"import tensorflow as tf\rx = tf.log(1)\r\n", b"tf.math.log"),
    "mixed newlines": (
        b"import tensorflow as tf\r\nx = tf.log(1)\ny = 2\r\n",
        b"tf.math.log",
    ),
    "no final newline": (b"import tensorflow as tf\nx = tf.log(1)", b"tf.math.log"),
    "bom": (b"\xef\xbb\xbfimport tensorflow as tf\nx = tf.log(1)\n", b"tf.math.log"),
    "latin-1": (
        b"# -*- coding: latin-1 -*-\nimport tensorflow as tf\ns = '\xe9'; x = tf.log(1)\n",
        b"tf.math.log",
    ),
    "utf-8": (
        "import tensorflow as tf\ns = 'é漢'; x = tf.log(1)  # ü\n".encode(),
        b"tf.math.log",
    ),
    "tabs": (
        b"import tensorflow as tf\nif x:\n\ty = [ tf.log( 1 ) ]\n",
        b"tf.math.log",
    ),
    "two spaces": (
        b"import tensorflow as tf\nif x:\n  y = tf.log(1)\n",
        b"tf.math.log",
    ),
    "trailing spaces": (
        b"import tensorflow as tf   \nx = tf.log(1)  \n   \n\n",
        b"tf.math.log",
    ),
    "form feed": (
        b"import tensorflow as tf\n\x0c\ndef f():\n    return tf.log(1)\n",
        b"tf.math.log",
    ),
    "line continuation": (
        b"import tensorflow as tf\nx = \\\n  tf.log(1) \\\n  + 1\n",
        b"tf.math.log",
    ),
    "backslash chain": (
        b"import tensorflow as tf\nx = tf.log(\n  1)\n",
        b"tf.math.log",
    ),
    "unicode separators": (
        "import tensorflow as tf\ns = 'a\u2028b\x85c'\nx = tf.log(1)\n".encode(),
        b"tf.math.log",
    ),
    "astral": (
        "import tensorflow as tf\ns = '\U0001f600'; x = tf.log(1)\n".encode(),
        b"tf.math.log",
    ),
    "semicolons": (b"import tensorflow as tf; x = tf.log(1); y = 2\n", b"tf.math.log"),
    "shebang": (
        b"#!/usr/bin/env python\n# c\nimport tensorflow as tf\nx = tf.log(1)\n",
        b"tf.math.log",
    ),
    "modern syntax": (
        b"import tensorflow as tf\nmatch x:\n    case [a, *b]:\n        y = tf.log(a)\n",
        b"tf.math.log",
    ),
    "nested f-string": (
        b"import tensorflow as tf\nx = f'{tf.log(1)!r:>{w}}'\n",
        b"tf.math.log",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_the_symbol_changes(case: str) -> None:
    raw, new = CASES[case]
    result = process(raw)
    assert result.error is None
    assert result.new == raw.replace(b"tf.log", new)


SPACED = b"""import tensorflow as tf
try :
    x = tf.log(1)
except E :
    try :
        pass
    except\\
 F \\
 :
        x = 'except E :'
except (E,
        F)\t:  # a comment :
    pass
except   :
    pass
"""


def test_spaces_before_colons_stay() -> None:
    """LibCST drops them in `except` clauses."""
    for raw in (SPACED, SPACED.replace(b"\n", b"\r\n")):
        result = process(raw)
        assert result.error is None
        assert result.new == raw.replace(b"tf.log", b"tf.math.log")
    group = b"import tensorflow as tf\ntry:\n  tf.log(1)\nexcept* E :\n  pass\n"
    assert process(group).new == group.replace(b"tf.log", b"tf.math.log")


def test_a_moved_program_keeps_them_too(repository: Path) -> None:
    old = repository / "fixtures/legacy/fashion_mnist_mirrored/train.py"
    text = old.read_text("utf-8")
    odd = "try:\n    import horovod\nexcept ImportError :\n    horovod = None\n"
    head, found, rest = text.partition("import tensorflow as tf\n")
    assert found
    result = process((head + found + odd + rest).encode())
    assert result.new is not None
    assert "\nexcept ImportError :\n" in result.new.decode()
    assert "strategy.run(" in result.new.decode()


FAILURES = {
    "syntax error": (b"import tensorflow as tf\nx = (\n", "not valid Python"),
    # Valid, and with something that looks like Python 2 to boot.
    "an annotated name in parentheses": (
        b"import tensorflow as tf\nassert 000 == 0\n(x): int\n",
        "LibCST cannot parse this, though Python can",
    ),
    # Nothing here is Python 2: a bracket is missing.
    "numbers and strings that look like Python 2": (
        b"import tensorflow as tf\nrate = 0.05 + 1e-05 + 00\n# print 'x' `y`\n"
        b"s = 'a <> 010L'\nf = lambda: g(h(1), (2, 3))\n"
        b"def k(a, b=(1, 2)): pass\nx = (\n",
        "not valid Python",
    ),
    "a clause after the last one": (
        b"import tensorflow\ntry:\n  pass\nexcept:\n  pass\nexcept E:\n  pass\n",
        "not valid Python: default 'except:' must be last",
    ),
    "a name that became a word of Python": (
        b"import tensorflow as tf\nq = tf.contrib.kfac.optimizer(0.1, async=1)\n",
        "line 2: not valid Python: invalid syntax (`async` may not be a name since",
    ),
    "python 2 octal": (b"import tensorflow as tf\nos.chmod(f, 0755)\n", "an octal"),
    "python 2 tuples": (
        b"import tensorflow as tf\nf = lambda (a, b): a\n",
        "tuple parameters in line 2",
    ),
    "python 2 print": (b"import tensorflow as tf\nprint 'a'\n", "Python 2 only"),
    "python 2 except": (
        b"import tensorflow as tf\ntry:\n  pass\nexcept E, e:\n  pass\n",
        "Python 2 only",
    ),
    "bad encoding": (b"# coding: no-such\nimport tensorflow\n", "unknown encoding"),
    "wrong bytes": (b"import tensorflow\ns = '\xff'\n", "utf-8"),
    "null byte": (b"import tensorflow\n\0\n", "null bytes"),
    "comment lost by the parser": (
        b"import tensorflow\ntensorflow.log(1)\npass\n  # a\n  # b\n",
        "does not reproduce",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_what_cannot_be_read_is_left_alone_and_told(case: str) -> None:
    raw, reason = FAILURES[case]
    result = process(raw)
    assert result.status is FileStatus.FAILED
    assert result.new is None
    assert reason in (result.error or "")
    assert "internal" not in (result.error or "")


def test_python2_is_converted_when_asked(tmp_path: Path) -> None:
    if sys.version_info >= (3, 13):
        pytest.importorskip("fissix")
    raw = b"import tensorflow as tf\nprint tf.log(1)\ntry:\n  pass\nexcept E, e:\n  print e\n"
    result = process_source(tmp_path / "x.py", raw, Job(py2=True), ProjectFacts())
    assert result.new == (
        b"import tensorflow as tf\nprint(tf.math.log(1))\n"
        b"try:\n  pass\nexcept E as e:\n  print(e)\n"
    )
    assert [f.rule for f in result.findings] == ["TFM502", "TFM201"]


def test_files_without_legacy_words_are_not_parsed() -> None:
    assert process(b"this is not python (\n").status is FileStatus.SKIPPED


def test_ignore_comments() -> None:
    code = HEAD + "x = tf.log(1)  # tfmigrate: ignore[TFM201] kept\ny = tf.log(1)\n"
    result = process(code.encode())
    assert result.new == code.replace("y = tf.log", "y = tf.math.log").encode()
    assert len(result.findings) == 1
    everything = HEAD + "x = tf.log(1)  # tfmigrate: ignore\n"
    assert process(everything.encode()).findings == ()
    whole = "# tfmigrate: ignore-file generated\n" + HEAD + "x = tf.log(1)\n"
    assert process(whole.encode()).status is FileStatus.UNCHANGED


def test_a_file_of_a_deep_expression_does_not_stop_the_run() -> None:
    deep = HEAD + "x = " + "(" * 3000 + "1" + ")" * 3000 + "\n"
    assert process(deep.encode()).status is FileStatus.FAILED
    long = HEAD + "x = " + " + ".join(["tf.log(1)"] * 400) + "\n"
    assert process(long.encode()).new == long.replace("tf.log", "tf.math.log").encode()


# -- notebooks ---------------------------------------------------------------


def notebook(*sources: str | list[str], **more: object) -> str:
    """A notebook with odd layout that a plain dump would not reproduce."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {"b": 1, "a": 2},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["é\n"]}],
            "source": source,
        }
        for source in sources
    ]
    cells.insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["# tf.log\n"]})
    whole = {"nbformat_minor": 5, "cells": cells, "nbformat": 4, "metadata": {}, **more}
    return json.dumps(whole, indent=3, ensure_ascii=False).replace('"a": 2', '"a" :2')


def test_only_the_source_of_changed_cells_changes() -> None:
    text = notebook(
        ["import tensorflow as tf\n", "%matplotlib inline"],
        ["!pip list\n", "x = tf.log(1)\n", "files = !ls\n", "y = x"],
        ["%%bash\n", "echo tf.log\n"],
        "z = tf.log(\n    2\n)",
    )
    result = process(text.encode(), "n.ipynb")
    assert result.error is None
    new = (result.new or b"").decode()
    wanted = text.replace("x = tf.log(1)", "x = tf.math.log(1)")
    wanted = wanted.replace("z = tf.log(", "z = tf.math.log(")
    assert new == wanted
    assert [(f.cell, f.line) for f in result.findings] == [(3, 2), (5, 1)]


def test_magics_in_all_places_come_back() -> None:
    source = (
        "import tensorflow as tf\nif x:\n    !ls {d} \\\n      -l\n    %time y = tf.log(1)\n"
        "z = ('%d'\n     % 3)\ntf.log?\ns = '''\n%not magic\n'''\nw = tf.log(1)\n"
    )
    result = process(notebook(source).encode(), "n.ipynb")
    assert result.error is None
    cells = json.loads(result.new or b"")["cells"]
    assert cells[0]["source"] == source.replace("= tf.log", "= tf.math.log")


def test_a_needed_import_lands_in_a_cell() -> None:
    text = notebook("from tensorflow.contrib import data\n", "d.apply(data.unbatch())")
    cells = json.loads(process(text.encode(), "n.ipynb").new or b"")["cells"]
    assert cells[0]["source"] == "import tensorflow as tf\n"
    assert cells[2]["source"] == "d.apply(tf.data.experimental.unbatch())"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"tensorflow"', "not a notebook"),
        ('{"tensorflow": 1, "worksheets": []}', "format 4"),
        (
            notebook("tensorflow", metadata={"kernelspec": {"language": "R"}}),
            "not Python",
        ),
    ],
)
def test_what_is_not_a_python_notebook_is_told(text: str, reason: str) -> None:
    result = process(text.encode(), "n.ipynb")
    assert result.status is FileStatus.FAILED
    assert reason in (result.error or "")


def test_code_behind_a_timing_magic_is_code() -> None:
    """``%time train()`` is a line of the program like any other."""
    cell = (
        "import tensorflow as tf\n%time x = tf.log(1.0)  # note\n"
        "if x:\n    %timeit -n 3 tf.log(2.0)\n%time\n"
    )
    cells = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []}]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    result = process(raw, "n.ipynb")
    assert len(result.findings) == 2
    assert result.new is not None
    assert json.loads(result.new)["cells"][0]["source"] == cell.replace(
        "tf.log", "tf.math.log"
    )


def test_a_timing_magic_goes_with_the_line_it_timed() -> None:
    """Where one line becomes many there is no place for the magic."""
    cell = (
        "import numpy as np\nimport tensorflow as tf\n"
        "x, y = np.zeros((64, 4), np.float32), np.zeros(64, np.int32)\n"
        "columns = [tf.feature_column.numeric_column('x', shape=[4])]\n"
        "model = tf.estimator.DNNClassifier([10], columns, n_classes=3)\n"
        "data = tf.estimator.inputs.numpy_input_fn({'x': x}, y, shuffle=False)\n"
        "%time model.train(data)\n"
    )
    cells = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []}]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    result = process(raw, "n.ipynb")
    assert result.new is not None
    new = json.loads(result.new)["cells"][0]["source"]
    assert "model.train(" not in new
    assert "import tfmigrate" not in new
    assert "%time" not in new


def test_a_notebook_as_plain_python() -> None:
    """Magics go, a continuation line that begins with % stays."""
    sources = [
        "%%time\nx = (7\n % 4)\nif x:\n    !ls\n",
        "files = !ls\n%matplotlib inline\n",
        "%%bash\nls -la\n",
        "print(x)",
    ]
    cells = [
        {"cell_type": "code", "source": s, "metadata": {}, "outputs": []}
        for s in sources
    ]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    assert Notebook.parse(raw).plain_python() == (
        "pass\nx = (7\n % 4)\nif x:\n    pass\nfiles = None\npass\nprint(x)\n"
    )
