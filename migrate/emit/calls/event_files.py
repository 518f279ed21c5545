"""Event files: what an Estimator wrote for TensorBoard by itself.

Emitted where the program said how often (``save_summary_steps``): the loss and the
steps per second of training, and the figures of each evaluation. In the form that
Estimators wrote, which TensorFlow can write without TensorBoard beside it.
"""

from __future__ import annotations

from ...plan.program import RunConfigPlan

__all__ = ["MEMBERS", "writes_events"]

# Names of the writers, and of what they write with.
MEMBERS = ("train_writer", "test_writer", "write_events")


def writes_events(config: RunConfigPlan) -> bool:
    """The program asked for summaries every so many steps."""
    return config.writes_events
