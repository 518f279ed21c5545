"""Points at requirements that install an old TensorFlow."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

# Works on lines that are not Python; see rewrite/pins.py.
PINNED = Rule(
    id="TFM503",
    name="pinned-tensorflow",
    summary="A requirement that installs an old TensorFlow is pointed out.",
    why=(
        "`!pip install tensorflow-gpu==1.12` in a notebook, or a pin in "
        "requirements.txt, setup.py, setup.cfg, pyproject.toml, environment.yml or a "
        "Dockerfile, would put the old version back under the rewritten code. The "
        "report says what takes its place; `rewrite --requirements` writes that, but "
        "for notebooks, and leaves what it cannot edit for sure. What else needs that "
        "version cannot be seen from here: install the result once. The packages "
        "tensorflow-gpu and tensorflow-estimator have no current release at all. As "
        "long as the pin is there the migration is not finished: it counts as "
        "something left, and the exit status stays 1."
    ),
    safety=Safety.NEEDS_REVIEW,
    advice_only=True,  # but with --requirements
)
