"""The page about versions that exist already says what `verify` says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from runner import verify


@pytest.mark.slow
def test_the_page_has_the_verdicts(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs/already.md").read_text("utf-8")
    (program,) = re.findall(r"(?ms)^```python\n(.*?)^```", page)
    legacy = repository / "fixtures/legacy/digits_model_fn"
    shutil.copy(legacy / "digits.npz", tmp_path)
    told = [
        line for line in page.splitlines() if re.match(r"(No p|P)arity: |  - ", line)
    ]
    mistake = "momentum=0.9"
    for text, status in ((program, 1), (program.replace(mistake, ""), 0)):
        (tmp_path / "train.py").write_text(text)
        result = verify(legacy / "train.py", tmp_path / "train.py")
        assert result.returncode == status, result.stdout + result.stderr
        shown = re.sub(r"[\d.]+", "#", result.stdout)
        expected = told[:-1] if status else told[-1:]
        for line in expected:
            # Of the figures the last digits are rounding.
            assert re.sub(r"[\d.]+", "#", line) in shown
