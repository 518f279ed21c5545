"""What a RunConfig says of the cluster."""

from __future__ import annotations

import dataclasses

from . import cluster


@dataclasses.dataclass(frozen=True)
class RunConfig(cluster.RunConfig):
    """Settings, and the task that this process is in its cluster."""

    @property
    def is_chief(self) -> bool:
        return self.task_type in ("chief", "master") or not self.cluster_spec

    @property
    def num_ps_replicas(self) -> int:
        evaluates = self.task_type == "evaluator"
        return 0 if evaluates else len(self.cluster_spec.as_dict().get("ps", ()))

    @property
    def num_worker_replicas(self) -> int:
        jobs = self.cluster_spec.as_dict()
        count = sum(len(jobs.get(job, ())) for job in ("chief", "master", "worker"))
        return 0 if self.task_type == "evaluator" else count or 1
