"""Which tasks a local cluster has, where they listen, and the TF_CONFIG of each."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

# Tasks that end by themselves when training does; the others serve them, or watch.
TRAINING = ("chief", "worker")


@dataclass(frozen=True)
class Task:
    """One process of a cluster."""

    role: str
    index: int
    cluster: Mapping[str, Sequence[str]]

    @property
    def name(self) -> str:
        """How people call it: ``worker 1``."""
        return f"{self.role} {self.index}"

    @property
    def trains(self) -> bool:
        """Whether the job is done when this task and its like are."""
        return self.role in TRAINING

    @property
    def tf_config(self) -> str:
        """The task's TF_CONFIG."""
        return json.dumps(
            {
                "cluster": {role: list(hosts) for role, hosts in self.cluster.items()},
                "task": {"type": self.role, "index": self.index},
            }
        )


def local_cluster(
    *, workers: int, ps: int = 0, chief: bool = False, evaluator: bool = False
) -> list[Task]:
    """The tasks of a cluster on this machine, servers first.

    The evaluator is in the cluster of its own TF_CONFIG and in no other: TensorFlow's
    MultiWorkerMirroredStrategy looks for its own task there, in TF 1.15 too, and the
    others would wait for one that serves nobody.
    """
    counts = {"chief": int(chief), "worker": workers, "ps": ps}
    ports = iter(free_ports(sum(counts.values()) + int(evaluator)))
    cluster = {
        role: [f"127.0.0.1:{next(ports)}" for _ in range(count)]
        for role, count in counts.items()
        if count
    }
    tasks = [
        Task(role, index, cluster)
        for role in ("ps", "chief", "worker")
        for index in range(len(cluster.get(role, ())))
    ]
    if evaluator:
        whole = {**cluster, "evaluator": [f"127.0.0.1:{next(ports)}"]}
        tasks.append(Task("evaluator", 0, whole))
    return tasks


def free_ports(count: int) -> list[int]:
    """So many ports of this machine that no one listens to, all different."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
