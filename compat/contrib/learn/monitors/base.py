"""What a monitor is told: the start, each step, the end."""

from __future__ import annotations

from typing import Any

__all__ = ["BaseMonitor", "EveryN", "name_of"]


class BaseMonitor:
    """Is told when training begins, at each step, and when it ends."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether workers that are not the chief call it too."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """The estimator that is trained; called before `begin`."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: Any = None) -> None:
        """Training has ended."""
        del session
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Data are read from the start."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """All data have been read."""
        if self._current_epoch != epoch:
            raise ValueError(
                f"epoch_end expected {self._current_epoch} but got {epoch}."
            )
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Gives tensors, or their names, that are wanted of this step."""
        if step < 0:
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Any) -> bool:
        """Gets what it asked for; true asks training to stop."""
        del output
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """The step is over and the session is free."""
        del step, session


class EveryN(BaseMonitor):
    """Does something at the first steps, every n steps, and at the last."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Gives tensors that are wanted of this step."""
        del step
        return []

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Gets what it asked for; true asks training to stop."""
        del step, outputs
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """Such a step is over."""

    def step_begin(self, step: int) -> list[Any]:
        """Whether the step is one of those."""
        super().step_begin(step)
        if (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        ):
            self._every_n_step_begin_called = True
            return self.every_n_step_begin(step)
        self._every_n_step_begin_called = False
        return []

    def step_end(self, step: int, output: Any) -> bool:
        """Hands on the outputs of such a step."""
        super().step_end(step, output)
        if self._every_n_step_begin_called:
            return self.every_n_step_end(step, output)
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Says that such a step is over."""
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """Makes sure that the last step was one of those."""
        super().end(session=session)
        step = self._last_successful_step
        if step is not None and step != self._last_active_step:
            self.every_n_post_step(step, session)


def name_of(wanted: Any) -> str:
    """The name under which a monitor finds what it asked for."""
    return wanted if isinstance(wanted, str) else str(wanted.name)
