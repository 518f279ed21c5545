"""A text that is parsed beside an earlier one gives what a parse of all of it gives."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.names.nodes import everything
from tfmigrate.project.parsing import parse
from tfmigrate.project.reparsing import parse_again

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
TEXT = '''# License

"""What it is."""
import os  # first

# A heading.


def f(x):
    return x

    # belongs to f
# above g
def g(x):
    "What it does."
    if x: return 1
    x += 1
    return 2


y = 1; z = 2
y = 1; z = 2
try:
    f(y)
except  ValueError :
    pass
'''
# Put between lines of programs: each is read otherwise by one rule of the grammar.
LINES = (
    "# c\n",
    "\n",
    "    # indented\n",
    "  \n",
    "x = 1; y = 2\n",
    "if x: pass\n",
    "if x:\n  y = 1\nelif z:\n  q\nelse: r\n",
    "def f(a):\n    return a\n\n    # foot\n",
    "def g(a):\n        return a\n",
    "try:\n   a\nexcept  E :\n   b\n",
    "@d\n# c\n@e\nclass K:\n    a = 1\n",
    's = """\nabc\n  d\n"""\n',
    "x = \\\n  3\n",
    "import (\n",
    "z = (1,\n  # c\n  2)  # t\n",
    "\tq\n",
)


def is_as_ever(new: str, old: str) -> cst.Module:
    """The module of a text, which has been compared with that of a plain parse."""
    made = parse_again(new, old, parse(old))
    assert made.code == new
    assert made.deep_equals(parse(new))
    assert len({*everything(made)}) == len(everything(made))
    return made


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x\n\n", "return x + 1\n\n"),
        ("import os", "import os, sys"),
        ("# A heading.", "# Another."),
        ("    # belongs to f\n", ""),
        ("# above g", "    # belongs to f as well"),
        ("# License\n\n", ""),
        ("    pass\n", "    pass\n\n# end\n"),
        ("    pass\n", "    pass\n    # end\n"),
        ("    pass\n", "    pass"),
        ("y = 1; z = 2\ny", "y"),
        ("def f(x):\n    return x\n", "def f(x):\n  return x\n"),
        ("\n", "\r\n"),
    ],
)
def test_a_change_gives_the_same_module(old: str, new: str) -> None:
    """Wherever comments and blank lines are attached."""
    assert old in TEXT
    is_as_ever(TEXT.replace(old, new), TEXT)


def test_statements_that_stay_keep_their_nodes() -> None:
    """The others are new."""
    old = parse(TEXT)
    made = parse_again(TEXT.replace("f(y)", "g(y)"), TEXT, old)
    assert made.body[4] is old.body[4]
    assert made.body[-1] is not old.body[-1]
    made = parse_again(TEXT.replace("x += 1", "x += 2"), TEXT, old)
    was, now = old.body[3].body.body, made.body[3].body.body
    assert [one in was for one in now] == [True, True, False, True]


def test_what_does_not_parse_is_told_with_its_place() -> None:
    """By the line of the whole text."""
    with pytest.raises(cst.ParserSyntaxError) as told:
        parse_again(TEXT.replace("f(y)", "f(y"), TEXT, parse(TEXT))
    with pytest.raises(cst.ParserSyntaxError) as known:
        parse(TEXT.replace("f(y)", "f(y"))
    assert str(told.value) == str(known.value)


def test_programs_with_lines_put_in_taken_out_and_repeated() -> None:
    """Whatever they become."""
    choice = random.Random(1)
    programs = [path.read_text() for path in sorted(FIXTURES.glob("*/*.py"))]
    compared = 0
    for _ in range(120):
        old = choice.choice(programs)
        lines = old.splitlines(keepends=True)
        for _ in range(choice.randrange(1, 4)):
            start = choice.randrange(len(lines) + 1)
            some = lines[start : start + choice.randrange(12)]
            if choice.random() < 0.5:
                # Also inside of functions and classes.
                indent = " " * choice.choice((0, *map(_indent, some)))
                lines[start:start] = [textwrap.indent(choice.choice(LINES), indent)]
            elif choice.random() < 0.5:
                del lines[start : start + len(some)]
            else:
                place = choice.randrange(len(lines) + 1)
                lines[place:place] = some
        new = "".join(lines)
        try:
            parse(new)
        except cst.ParserSyntaxError:
            continue
        is_as_ever(new, old)
        compared += 1
    assert compared > 20
