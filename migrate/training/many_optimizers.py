"""Several optimizers in one task."""

from __future__ import annotations

from typing import Any

from . import core


class Task(core.Task):
    """A task whose variables have different optimizers."""

    def optimizers(self) -> dict[str, Any]:
        """Returns the optimizers by name; that of `optimizer` counts the steps."""
        return {"optimizer": self.optimizer}

    def variables(self) -> dict[str, Any]:
        """Returns what each optimizer trains."""
        return {"optimizer": self.model.trainable_variables}

    def build(self) -> None:
        """Makes the optimizers' variables, when those of the model are there."""
        for name, variables in self.variables().items():
            self.optimizers()[name].build(variables)

    def apply_gradients(self, gradients: Any) -> None:
        """Updates each part of the model by its optimizer."""
        every = zip(gradients, self.model.trainable_variables)
        found = {variable.ref(): gradient for gradient, variable in every}
        for name, variables in self.variables().items():
            pairs = [(found[variable.ref()], variable) for variable in variables]
            self.optimizers()[name].apply_gradients(pairs)


class Trainer(core.Trainer):
    """A trainer that keeps all of them."""

    task: Task

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
    ) -> None:
        super().__init__(make_task, model_dir, config, params)
        for name, optimizer in self.task.optimizers().items():
            setattr(self.checkpoint, name, optimizer)

    def restore(self, path: str) -> None:
        """Sets all variables as a checkpoint has them, but for the learning rates."""
        rates = [one.learning_rate for one in self.task.optimizers().values()]
        values = [rate.numpy() for rate in rates]
        self.checkpoint.restore(path).assert_existing_objects_matched()
        for rate, value in zip(rates, values):
            rate.assign(value)
