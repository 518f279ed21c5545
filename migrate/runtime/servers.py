"""Tasks of a cluster that serve: workers and parameter servers of a coordinator."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

import tensorflow as tf

from .together import answers, waiting_for
from .vocabulary import logger, v1

# A server looks this often whether it is still needed.
SECONDS_BETWEEN_LOOKS_AT_CHIEF = 1.0
SECONDS_TO_BE_TOLD = 60.0


def address_book(resolver: Any) -> dict[str, str]:
    """The address of each task, the chief's first."""
    jobs = resolver.cluster_spec().as_dict()
    return {
        f"{job} {index}": address
        for job in ("chief", "worker", "ps")
        for index, address in enumerate(jobs.get(job, ()))
    }


def over_queue(task: str, **settings: Any) -> tuple[Any, Any]:
    """The queue by which a server hears that all is done, and how to get to it."""
    job, index = task.split()
    place = f"/job:{job}/task:{index}"
    with tf.device(f"{place}/cpu:0"):
        queue = v1.FIFOQueue(1, [tf.bool], [[]], shared_name="over", name="over")
    # A session waits for all of the cluster, but for those that it must not see.
    return queue, v1.ConfigProto(device_filters=[place], **settings)


def serve(resolver: Any, tasks: dict[str, str], patience: float) -> None:
    """Does what the chief asks for, until it says that all is done."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"
    task = f"{resolver.task_type} {resolver.task_id}"
    if task not in tasks:
        raise ValueError(f"{task} is none of {', '.join(tasks)}.")
    # Waiting for others takes threads, which a machine of few cores has too few of.
    threads = max(len(tasks) + 1, os.cpu_count() or 1)
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
        config=v1.ConfigProto(inter_op_parallelism_threads=threads),
    )
    logger.info("%s serves %s.", task, tasks["chief 0"])
    with tf.Graph().as_default(), waiting_for({"chief 0": tasks["chief 0"]}):
        queue, settings = over_queue(task)
        told = queue.size()
        with v1.Session(server.target, config=settings) as session:
            seen = time.time()
            while not session.run(told):
                time.sleep(SECONDS_BETWEEN_LOOKS_AT_CHIEF)
                if answers(tasks["chief 0"]):
                    seen = time.time()
                elif time.time() > seen + patience:
                    raise RuntimeError(
                        f"Lost chief 0 ({tasks['chief 0']}): it was not there for "
                        f"{patience:g} s (RunConfig.session_creation_timeout_secs)."
                    )
    logger.info("The chief has ended, and so does %s.", task)


def tell_over(tasks: dict[str, str]) -> None:
    """Lets all servers end."""
    ends = time.time() + SECONDS_TO_BE_TOLD
    for task, address in tasks.items():
        if task.startswith("chief"):
            continue
        while not answers(address) and time.time() < ends:
            time.sleep(0.2)
        # One that is not there need not be told; it would be waited for.
        if answers(address):
            with contextlib.suppress(tf.errors.OpError), tf.Graph().as_default():
                queue, settings = over_queue(task, operation_timeout_in_ms=30_000)
                done = queue.enqueue(True)
                with v1.Session(f"grpc://{address}", config=settings) as session:
                    session.run(done)
