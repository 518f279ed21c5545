"""The doctor finds what is wrong with a TF_CONFIG or an environment, and says so."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.launch.cluster import free_ports, local_cluster
from tfmigrate.launch.environment import check_environment
from tfmigrate.launch.tf_config import Level, check_tf_config

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def config(cluster: Any, role: Any = "worker", index: Any = 0) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})


def levels(text: str | None) -> list[Level]:
    return [remark.level for remark in check_tf_config(text, listen=False)]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{}",
        '{"task": {"type": "worker", "index": 0}}',
        config({"worker": ["a:1", "b:1"]}, index=1),
        config({"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}, "ps"),
        config({"master": ["a:1"], "ps": ["c:1"], "worker": ["d:2"]}, "master"),
        config({"chief": ["a:1"], "evaluator": ["b:1"]}, "evaluator"),
        config({"worker": {"3": "[2001:db8::1]:2222", "4": "h:80"}}, index=3),
        *(
            t.tf_config
            for t in local_cluster(workers=2, ps=1, chief=True, evaluator=True)
        ),
    ],
)
def test_good_ones_are_fine(text: str | None) -> None:
    assert levels(text) == [Level.FINE]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{'cluster': 1}", "JSON wants double quotes"),
        ("[" * 99_999, "is not JSON"),
        ("3", "is no JSON object"),
        (config([]), "no object of lists"),
        (config({"worker": "a:1"}), "must be a list"),
        (
            config({"workers": ["a:1"]}),
            "TensorFlow does not know. Did you mean worker?",
        ),
        (
            config({"worker": ["a"]}),
            "worker 0: 'a' is not host:port (the port is missing)",
        ),
        (config({"worker": ["grpc://a:1"]}), "(without a scheme)"),
        (config({"worker": ["a:99999"]}), "99999 is no port"),
        (config({"worker": [3]}), "worker 0: 3 is not host:port"),
        (
            config({"worker": ["a:1", "A:1"]}),
            "worker 0 and worker 1 have the same address",
        ),
        (
            config({"worker": ["localhost:1"], "chief": ["127.0.0.1:1"]}),
            "the same address",
        ),
        (
            config({"chief": ["a:1"], "master": ["b:1"]}, "chief"),
            "a chief and a master",
        ),
        (config({"chief": ["a:1", "b:1"]}, "chief"), "more than one chief"),
        (config({"ps": ["a:1"], "worker": ["b:1"]}), "no coordinator: add a chief"),
        (config({"ps": ["a:1"]}, "ps"), "no task of the cluster trains"),
        (json.dumps({"cluster": {"worker": ["a:1"]}}), "names no task"),
        (
            config({"worker": ["a:1"]}, "wroker"),
            "which the cluster does not have. Did you mean worker?",
        ),
        (config({"worker": ["a:1"]}, index=1), "indices begin with 0"),
        (config({"worker": ["a:1"]}, index=-1), "is no number from 0 on"),
        (config({"worker": ["a:1"]}, index=None), "is no number"),
        (config({"worker": ["a:1"]}, index=True), "is no number"),
        (config({"worker": ["a:1"]}, 3), "is no text"),
        (config({"worker": ["a:1"]}, "evaluator", 1), "there is one evaluator"),
        (config({"worker": {"x": "a:1"}}), "keys must be indices"),
    ],
)
def test_problems_are_found(text: str, told: str) -> None:
    remarks = check_tf_config(text, listen=False)
    assert any(r.level is Level.PROBLEM and told in r.text for r in remarks), remarks


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (config({"worker": ["a:1"]}, index="0"), 'is the text "0": write 0'),
        (config({"chief": ["a:1"], "ps": ["b:1"]}, "chief"), "ps but no worker"),
        (config({"worker": ["localhost:1", "b:1"]}), "cannot reach it"),
        (
            config({"worker": ["a:1"], "evaluator": ["b:1"]}),
            "stands inside the cluster",
        ),
        (config({"worker": ["a:1"]}, "evaluator"), "does not start without it"),
        (json.dumps({"clusters": {}}), "Did you mean cluster?"),
        (config({"worker": ["a:1"], "ps": []}), "cluster['ps'] is empty"),
    ],
)
def test_oddities_are_warnings(text: str, told: str) -> None:
    remarks = check_tf_config(text, listen=False)
    assert any(r.level is Level.WARNING and told in r.text for r in remarks), remarks


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (remark,) = check_tf_config(config({"worker": [f"localhost:{port}"]}))
        assert "cannot listen" in remark.text
    (free,) = free_ports(1)
    (remark,) = check_tf_config(config({"worker": [f"localhost:{free}"]}))
    assert remark.level is Level.FINE


GOOD = {"tensorflow": "2.21.0", "tf_keras": "2.21.0", "keras": "3.15.1"}


@pytest.mark.parametrize(
    ("changed", "variables", "level", "told"),
    [
        ({}, {}, None, ""),
        ({"tensorflow": None}, {}, Level.PROBLEM, "is not installed"),
        ({"tensorflow": "2.12.1"}, {}, Level.PROBLEM, "older than 2.16"),
        ({"tensorflow-gpu": "1.15.0"}, {}, Level.PROBLEM, "over each other"),
        ({"tf_keras": None}, {}, Level.WARNING, "legacy programs need it"),
        (
            {"tf_keras": None},
            {"TF_USE_LEGACY_KERAS": "1"},
            Level.PROBLEM,
            "asks for it",
        ),
        ({"tf_keras": "2.16.0"}, {}, Level.PROBLEM, "belongs to TensorFlow 2.16"),
        ({"keras": "2.12.0"}, {}, Level.PROBLEM, "cannot serve"),
        ({}, {"TF_USE_LEGACY_KERAS": "1"}, Level.WARNING, "do not work in models"),
        ({"tensorflow_estimator": "2.15.0"}, {}, Level.WARNING, "nothing of today"),
    ],
)
def test_environments(
    changed: dict[str, str | None],
    variables: dict[str, str],
    level: Level | None,
    told: str,
) -> None:
    remarks = list(check_environment(variables, {**GOOD, **changed}))
    bad = [r for r in remarks if r.level is not Level.FINE]
    if level is None:
        assert bad == []
    else:
        assert any(r.level is level and told in r.text for r in bad), bad


def test_one_page(tmp_path: Path, tfmigrate: Runner) -> None:
    good = tfmigrate("doctor", "--no-devices")
    assert good.returncode == 0, good.stdout
    assert good.stdout.endswith("0 problems found\n")
    (tmp_path / "c.json").write_text(config({"worker": ["a:1", "a:1"]}))
    bad = tfmigrate("doctor", "--no-devices", "--tf-config", tmp_path / "c.json")
    assert bad.returncode == 1
    assert bad.stdout.count("\n") < 12
    assert bad.stdout.endswith("1 problem found\n")
    absent = tfmigrate("doctor", "--no-devices", "--tf-config", tmp_path / "absent")
    assert (absent.returncode, "cannot read" in absent.stderr) == (2, True)


def test_devices_are_asked_of_tensorflow(tfmigrate: Runner) -> None:
    told = tfmigrate("doctor").stdout
    assert re.search("TensorFlow sees 1 CPU; tf.keras is Keras 3.*, rewrites use", told)
    assert (
        "did not list its devices within 0.01 s"
        in tfmigrate("doctor", "--timeout", "0.01").stdout
    )
