"""Programs that only ask which trial of a search they are do not train in a cluster."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tfmigrate.native.program import _in_cluster
from tfmigrate.project.facts import ProjectFacts

TRIAL = """
    import json, os
    # os.environ['TF_CONFIG'] = ''
    config = json.loads(os.environ.get('TF_CONFIG', '{}'))
    trial = config.get('task', {}).get('trial', '')
"""
SHOWN = "import os\nif 'TF_CONFIG' in os.environ:\n    print(os.environ['TF_CONFIG'])\n"
SET = "import os\nos.environ['TF_CONFIG'] = text\n"
ROLE = """
    import json, os
    if json.loads(os.environ['TF_CONFIG'])['task']['type'] == 'chief':
        save()
"""
UPDATED = "import os\nos.environ.update({'TF_CONFIG': text})\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [(TRIAL, False), (SHOWN, False), (SET, True), (ROLE, True), (UPDATED, True)],
)
def test_what_is_read_of_the_cluster(code: str, found: bool) -> None:
    parsed = ProjectFacts().load(Path("train.py"), dedent(code).encode())
    assert _in_cluster(parsed) is found
