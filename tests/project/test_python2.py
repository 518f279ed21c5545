"""Python 2 trees: how to use --py2, how far it goes, and what it leaves to a person."""

from __future__ import annotations

import json
from pathlib import Path

from tfmigrate.forms.text import summary_lines
from tfmigrate.report.findings import Outcome
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

OLD = """\
import tensorflow as tf
import beside


def sizes(table, n, rate=0.5):
\tfor key, value in table.iteritems():
\t\tprint key, value / n, value / 2.0, rate / float(n)
        print unicode(key), tf.log(3.0) / n, map(len, table)
\treturn sorted(table, cmp=lambda a, b: cmp(a, b))
"""
NEW = """\
import tensorflow as tf
import beside


def sizes(table, n, rate=0.5):
        for key, value in table.items():
                print(key, value / n, value / 2.0, rate / float(n))
        print(str(key), tf.math.log(3.0) / n, list(map(len, table)))
        return sorted(table, cmp=lambda a, b: cmp(a, b))
"""


def write(folder: Path, **files: str) -> list[Path]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return sorted(folder.iterdir())


def test_a_scan_says_once_how_to_go_on(tmp_path: Path) -> None:
    report = run_job(write(tmp_path, a=OLD, b=OLD, c="x = 1\n"), Job())
    lines = [line for line in summary_lines(report, written=False) if "--py2" in line]
    assert len(lines) == 1
    assert lines[0].startswith("next: 2 files of Python 2: --py2 converts them")


def test_every_file_is_converted_and_what_is_left_is_told(tmp_path: Path) -> None:
    files = write(tmp_path, old=OLD, beside="print 'no TensorFlow here'\n")
    report = run_job(files, Job(py2=True))
    beside, old = report.results
    assert beside.new == b"print('no TensorFlow here')\n"
    assert (old.new or b"").decode() == NEW
    told = [(f.line, f.message) for f in old.findings if f.outcome is Outcome.ADVICE]
    assert told == [
        (7, "`value / n` dropped the fraction if both are integers: then use `//`"),
        (9, "`cmp=` of a sort: use functools.cmp_to_key"),
        (9, "`cmp` is a name of Python 2"),
    ]


def test_no_division_is_told_of_where_it_kept_the_fraction(tmp_path: Path) -> None:
    text = "from __future__ import division\nimport tensorflow as tf\n\nprint 3 / x\n"
    (result,) = run_job(write(tmp_path, a=text), Job(py2=True)).results
    assert not [f for f in result.findings if f.outcome is Outcome.ADVICE]


def test_a_notebook_is_converted_cell_by_cell(tmp_path: Path) -> None:
    cells = ["%matplotlib inline\nimport tensorflow as tf\n", "print tf.log(x)\n"]
    data = {
        "cells": [{"cell_type": "code", "source": text} for text in cells],
        "nbformat": 4,
        "nbformat_minor": 2,
        "metadata": {},
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(data))
    (result,) = run_job([path], Job(py2=True)).results
    after = [cell["source"] for cell in json.loads(result.new or b"")["cells"]]
    assert after == [cells[0], "print(tf.math.log(x))\n"]


def test_a_broken_cell_stays_and_the_others_go_on(tmp_path: Path) -> None:
    cells = [
        "import tensorflow as tf\n",
        "with opened as file:\n# to do\n",
        "print tf.log(x)\n",
    ]
    data = {
        "cells": [{"cell_type": "code", "source": text} for text in cells],
        "nbformat": 4,
        "nbformat_minor": 2,
        "metadata": {},
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(data))
    (result,) = run_job([path], Job(py2=True)).results
    after = [cell["source"] for cell in json.loads(result.new or b"")["cells"]]
    assert after == [*cells[:2], "print(tf.math.log(x))\n"]


def test_tabs_that_no_converter_reads(tmp_path: Path) -> None:
    text = "import tensorflow as tf\nif x:\n        y = 1\n\tprint tf.log(y)\n"
    (result,) = run_job(write(tmp_path, a=text), Job(py2=True)).results
    assert b"\n        print(tf.math.log(y))\n" in (result.new or b"")


def test_a_kept_program_of_python_2_is_converted_and_no_more(tmp_path: Path) -> None:
    kept = (
        "import tensorflow as tf\n\nprint tf.log\n\n\n"
        "def read():\n    return tf.Session().run(tf.read_file('a.csv'))\n\n\n"
        "tf.estimator.LinearClassifier([], no_such_argument=1).train(read)\n"
    )
    (result,) = run_job(write(tmp_path, a=kept), Job(py2=True)).results
    text = (result.new or b"").decode()
    assert "tfmigrate.compat.install()" in text
    assert "print(tf.log)\n" in text


def test_what_is_no_python_stays_what_it_is(tmp_path: Path) -> None:
    files = write(tmp_path, a="this is no program\n", b="import tensorflow\nx = (\n")
    results = run_job(files, Job(py2=True)).results
    assert [r.status for r in results] == [FileStatus.SKIPPED, FileStatus.FAILED]
