"""A chief that coordinates workers and parameter servers, each a process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster"
RECORDED, OF_THREE = (
    json.loads((ORACLE / f"{name}.json").read_text("utf-8"))
    for name in ("apart", "apart_three")
)
CHILD = Path(__file__).with_name("apart_child.py")
TASKS = ["chief0", "worker0", "worker1", "ps0"]


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What starts the tasks of a cluster, here as for the recordings."""
    monkeypatch.syspath_prepend(str(ORACLE))
    import processes

    return processes


def rewritten(folder: Path) -> Path:
    program = folder / "apart.py"
    shutil.copy(ORACLE / "apart.py", program)
    command = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
    command += ["--strategy", "parameter_server", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program


def check_end(
    recorded: dict[str, Any], found: dict[str, Any], of_chief: dict[str, Any]
) -> None:
    """As in TensorFlow 1.15.5, but that no step is taken beyond the last."""
    expected = recorded["places"]
    places = {
        name: place.replace("/replica:0", "").partition("/device")[0]
        for name, place in of_chief["places"].items()
    }
    assert places == expected
    step, weights = found["evaluations"][-1]
    assert step == 300
    low, high = recorded["final weights"]
    for weight, least, most in zip(weights, low, high, strict=True):
        # How workers take turns differs from run to run, more so than in the recording.
        assert least - 0.05 <= weight <= most + 0.05
    assert of_chief["losses"][-1] <= 1e-4


@pytest.mark.parametrize("workers", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_launched_program_ends_where_that_of_tf_1_15_ended(
    workers: int, tmp_path: Path
) -> None:
    recorded = {2: RECORDED, 3: OF_THREE}[workers]
    program = rewritten(tmp_path)
    text = program.read_text("utf-8")
    # Who serves comes to no end of the program: the others write each their own.
    role = 'json.loads(os.environ["TF_CONFIG"])["task"]["type"]'
    text = text.replace("open(RESULT,", f"open(RESULT + {role},")
    program.write_text(f"import os\n{text}")
    assert "tfmigrate" not in text
    launch = [sys.executable, "-m", "tfmigrate", "launch", "--workers", str(workers)]
    launch += ["--ps", "1", "--evaluator", "--time-limit", "200"]
    launch += ["--logs", str(tmp_path / "logs"), str(program)]
    done = subprocess.run(
        [*launch, str(tmp_path / "model"), str(tmp_path / "of ")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for task in ("chief 0", *(f"worker {index}" for index in range(workers))):
        assert f"{task} ended after" in done.stderr
    chief = json.loads((tmp_path / "of chief").read_text("utf-8"))
    evaluator = json.loads((tmp_path / "of evaluator").read_text("utf-8"))
    assert chief["losses"][0] == pytest.approx(RECORDED["first loss"], rel=1e-5)
    assert chief["steps"][-1] == 300
    check_end(recorded, evaluator, chief)


@pytest.mark.slow
def test_servers_share_variables_and_a_worker_may_be_lost(
    tmp_path: Path, processes: Any
) -> None:
    model, result = tmp_path / "model", tmp_path / "result.json"
    model.mkdir()

    def command(task: str) -> list[str]:
        return [sys.executable, str(CHILD), str(model), str(result)]

    with processes.Cluster([*TASKS, "ps1"], command, str(tmp_path)) as cluster:
        saved = model / "killed" / "model.ckpt-60.index"
        cluster.wait_for(
            lambda: saved.exists() or cluster.processes["chief0"].poll() is not None,
            150,
        )
        cluster.kill("worker1")
        cluster.start("worker1")
        ended = cluster.wait(200, list(cluster.processes))
        assert set(ended.values()) == {0}, cluster.said("chief0")[-3000:]
    told = json.loads(result.read_text("utf-8"))
    # Parts are on both servers, slots beside them; what is saved is whole.
    parts = {told["places"][f"rows/part_{n}"] for n in (0, 1)}
    assert len(parts) == 2
    for n in (0, 1):
        slot = told["places"][f"rows/part_{n}/Momentum"]
        assert slot == told["places"][f"rows/part_{n}"]
    assert told["shapes"]["rows"] == [6, 2]
    assert told["shapes"]["rows/Momentum"] == [6, 2]
    learned = [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1], [0, 0]]
    assert told["words"]["step"] == 150
    for rows, learns in zip(told["words"]["rows"], learned, strict=True):
        assert rows == pytest.approx(learns, abs=1e-3)
    assert told["loss"] < 1e-5
    # Two workers, nine steps, of which a hook sees one in each round.
    assert len(told["hook saw"]) == 5
    assert told["hook saw"][-1] == 159
    # All that the workers have, one more than the other.
    assert told["share"] == 8
    assert told["share with a hook"] == 8
    # What a lost worker had begun may be done twice.
    assert 600 <= told["killed"]["step"] <= 600 + 60


@pytest.mark.slow
def test_chief_and_server_that_are_lost_go_on_from_the_checkpoint(
    tmp_path: Path, processes: Any
) -> None:
    program, model = rewritten(tmp_path), tmp_path / "model"

    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        return [sys.executable, str(program), str(model), result, "0.05"]

    def saved(step: int) -> Any:
        return (model / f"model.ckpt-{step}.index").exists

    with processes.Cluster(TASKS, command, str(tmp_path)) as cluster:
        cluster.wait_for(saved(50), 150)
        cluster.kill("ps0")
        assert cluster.wait(100, ["chief0"]) == {"chief0": 1}
        assert "Lost ps 0 (localhost:" in cluster.said("chief0")
        cluster.start("ps0")
        cluster.start("chief0")
        cluster.wait_for(saved(150), 100)
        cluster.kill("chief0")
        cluster.start("chief0")
        # The workers are still those of the beginning.
        ended = cluster.wait(150, list(cluster.processes))
        assert set(ended.values()) == {0}, cluster.said("chief0")[-3000:]
    state = (model / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-300"' in state
