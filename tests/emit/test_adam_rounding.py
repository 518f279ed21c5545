"""What is left between a loop with Adam and its Estimator is Adam's rounding."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import run_batch

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "hparams_factory/train.py"
# The update of Keras' Adam by the kernel of TF1, with its running products.
KERNEL = """
class KernelAdam(tf_keras.optimizers.Adam):
  def build(self, variables):
    super().build(variables)
    self.power_1, self.power_2 = tf.Variable(self.beta_1), tf.Variable(self.beta_2)

  def apply_gradients(self, pairs):
    rate = tf.cast(self._learning_rate(self.iterations), tf.float32)
    for gradient, variable in pairs:
      place = self._index_dict[self._var_key(variable)]
      tf.raw_ops.ResourceApplyAdam(
          var=variable.handle, m=self._momentums[place].handle,
          v=self._velocities[place].handle, beta1_power=self.power_1,
          beta2_power=self.power_2, lr=rate, beta1=self.beta_1, beta2=self.beta_2,
          epsilon=self.epsilon, grad=gradient)
    self.power_1.assign(self.power_1 * self.beta_1)
    self.power_2.assign(self.power_2 * self.beta_2)
    self.iterations.assign_add(1)


HPARAMS = HParams("""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_with_the_kernel_of_tf1_all_losses_are_equal(tmp_path: Path) -> None:
    loop = (ROOT / "fixtures" / "expected" / SCRIPT).read_text()
    changed = loop.replace("HPARAMS = HParams(", KERNEL.lstrip(), 1)
    changed = changed.replace("= tf_keras.optimizers.Adam(", "= KernelAdam(")
    assert "= KernelAdam(" in changed
    (tmp_path / "keras.py").write_text(loop)
    (tmp_path / "kernel.py").write_text(changed)
    common: dict[str, Any] = {"replicas": 1, "seed": 3, "steps": 40}
    legacy = {
        "name": "old",
        "kind": "legacy",
        "script": str(ROOT / "fixtures" / "legacy" / SCRIPT),
        **common,
    }
    new = [
        {
            "name": name,
            "kind": "tf2",
            "script": str(tmp_path / f"{name}.py"),
            "start": "old",
            **common,
        }
        for name in ("keras", "kernel")
    ]
    results = run_batch([legacy, *new], tmp_path)
    losses = {name: result["losses"] for name, result in results.items()}
    assert len(losses["old"]) == 40
    assert losses["kernel"] == losses["old"], "equal to the last bit"
    assert losses["keras"] != losses["old"]
