"""Training, evaluation and prediction."""

from __future__ import annotations

import numpy as np
import pytest
from programs import checkpoints, linear, recorded, rows, training

PLAIN = training("predict")
HOOKED = training("predict", "hooks")


def check_trains_and_evaluates_as_recorded(folder: str) -> None:
    figures = recorded("lifecycle", "train_and_evaluate_order")["results"][0][0]
    for module in PLAIN, HOOKED:
        config = module.RunConfig(save_checkpoints_steps=3)
        trainer = module.Trainer(linear(module), f"{folder}/{module is PLAIN}", config)
        assert trainer.train(rows(), max_steps=7) is trainer
        results = trainer.evaluate(rows(repeat=1))
        assert list(results) == ["mean_output", "loss", "global_step"]
        for name, (_, value) in figures.items():
            assert results[name] == pytest.approx(value, rel=1e-5), name
        assert checkpoints(trainer.model_dir) == [
            f"model.ckpt-{n}" for n in (0, 3, 6, 7)
        ]
        predicted = list(trainer.predict(rows(repeat=1), ["output"]))
        assert len(predicted) == 4
        assert set(predicted[0]) == {"output"}
        assert np.mean([row["output"] for row in predicted]) == pytest.approx(
            figures["mean_output"][1], rel=1e-5
        )
