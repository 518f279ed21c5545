"""What is wrong with a TF_CONFIG, before TensorFlow finds out by waiting for ever."""

from __future__ import annotations

import enum
import json
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import did_you_mean

ROLES = ("chief", "master", "worker", "ps", "evaluator")
_KEYS = ("cluster", "task", "environment", "job", "rpc_layer", "session_master")
_KEYS_OF_OTHERS = frozenset({"eval_session_master", "service", "model_dir"})
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]", "0.0.0.0"})


class Level(enum.Enum):
    """How much a remark matters."""

    FINE = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Remark:
    """One line of a check."""

    level: Level
    text: str


def problem(text: str) -> Remark:
    """What has to be mended."""
    return Remark(Level.PROBLEM, text)


def warning(text: str) -> Remark:
    """What may be meant otherwise."""
    return Remark(Level.WARNING, text)


def check_tf_config(text: str | None, *, listen: bool = True) -> list[Remark]:
    """All there is to say about a TF_CONFIG; ``listen``: try the task's own port."""
    if text is None or not text.strip():
        return [Remark(Level.FINE, "TF_CONFIG is not set: one process, no cluster")]
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = " (JSON wants double quotes)" if "'" in text else ""
        return [problem(f"TF_CONFIG is not JSON{hint}: {error}")]
    if not isinstance(config, dict):
        return [problem("TF_CONFIG is no JSON object")]
    remarks = list(_unknown_keys(config))
    cluster = config.get("cluster")
    if cluster is None or cluster == {}:
        task = config.get("task")
        alone = not isinstance(task, dict) or task.get("type") in (None, "worker")
        words = "TF_CONFIG names no cluster: one process"
        level = Level.FINE if alone else Level.WARNING
        return [*remarks, Remark(level, words)]
    if not isinstance(cluster, dict):
        return [
            *remarks,
            problem("cluster is no object of lists, such as {'worker': [...]}"),
        ]
    addresses: dict[tuple[str, int], str] = {}
    for role, hosts in cluster.items():
        remarks += _role(role, hosts, addresses)
    remarks += _duplicates(addresses)
    remarks += _mixture(addresses)
    remarks += _roles_together(cluster, addresses)
    remarks += _task(config.get("task"), cluster, addresses, listen=listen)
    if not remarks:
        count = len(addresses)
        remarks.append(Remark(Level.FINE, f"TF_CONFIG describes a cluster of {count}"))
    return remarks


def _unknown_keys(config: Mapping[str, Any]) -> Iterator[Remark]:
    for key in config:
        if key not in _KEYS and key not in _KEYS_OF_OTHERS:
            yield warning(
                f"TF_CONFIG has {key!r}, which nothing reads.{did_you_mean(key, _KEYS)}"
            )


def _role(
    role: str, hosts: object, addresses: dict[tuple[str, int], str]
) -> Iterator[Remark]:
    if role not in ROLES:
        near = did_you_mean(role, ROLES)
        yield problem(
            f"cluster has the role {role!r}, which TensorFlow does not know.{near}"
        )
    if isinstance(hosts, dict):
        # Sparse clusters name the tasks they know by index.
        pairs = [(str(index), host) for index, host in hosts.items()]
        if not all(index.isdigit() for index, _ in pairs):
            yield problem(f"cluster[{role!r}]: the keys must be indices")
            return
        listed = [(int(index), host) for index, host in pairs]
    elif isinstance(hosts, list):
        listed = list(enumerate(hosts))
    else:
        yield problem(f"cluster[{role!r}] must be a list of host:port")
        return
    if not listed:
        yield warning(f"cluster[{role!r}] is empty")
    for index, host in listed:
        match = _ADDRESS.fullmatch(host) if isinstance(host, str) else None
        if match is None:
            advice = ""
            if isinstance(host, str) and "://" in host:
                advice = " (without a scheme)"
            elif isinstance(host, str) and ":" not in host:
                advice = " (the port is missing)"
            yield problem(f"{role} {index}: {host!r} is not host:port{advice}")
            continue
        port = int(match["port"])
        if not 0 < port < 65536:
            yield problem(f"{role} {index}: {port} is no port")
        addresses[role, index] = host


def _duplicates(addresses: Mapping[tuple[str, int], str]) -> Iterator[Remark]:
    by_address: dict[str, list[str]] = {}
    for (role, index), host in addresses.items():
        by_address.setdefault(_same(host), []).append(f"{role} {index}")
    for host, names in by_address.items():
        if len(names) > 1:
            yield problem(f"{' and '.join(names)} have the same address {host}")


def _same(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"localhost:{port}" if host in _LOCAL else f"{host.lower()}:{port}"


def _mixture(addresses: Mapping[tuple[str, int], str]) -> Iterator[Remark]:
    local = {a for a in addresses.values() if a.rpartition(":")[0] in _LOCAL}
    if local and len(local) < len(set(addresses.values())):
        yield warning(
            f"{sorted(local)[0]} is another machine for each task: other tasks cannot "
            "reach it"
        )


def _roles_together(
    cluster: Mapping[str, Any], addresses: Mapping[tuple[str, int], str]
) -> Iterator[Remark]:
    present = {role for role, hosts in cluster.items() if hosts}
    if {"chief", "master"} <= present:
        yield problem("the cluster has a chief and a master: one of them")
    for role in ("chief", "master"):
        if sum(1 for known, _ in addresses if known == role) > 1:
            yield problem(f"the cluster has more than one {role}")
    if "ps" in present:
        if not present & {"chief", "master"}:
            yield problem("the cluster has ps but no coordinator: add a chief")
        if "worker" not in present:
            yield warning("the cluster has ps but no worker: the chief trains alone")
    if present and not present & {"chief", "master", "worker"}:
        yield problem("no task of the cluster trains: add a chief or a worker")


def _task(
    task: object,
    cluster: Mapping[str, Any],
    addresses: Mapping[tuple[str, int], str],
    *,
    listen: bool,
) -> Iterator[Remark]:
    if not isinstance(task, dict) or "type" not in task:
        yield problem(
            "TF_CONFIG names no task: each process needs its own, such as "
            '"task": {"type": "worker", "index": 0}'
        )
        return
    role, index = task["type"], task.get("index")
    if not isinstance(role, str):
        yield problem(f"the task's type {role!r} is no text")
        return
    if isinstance(index, str) and index.isdigit():
        yield warning(f'the task\'s index is the text "{index}": write {index}')
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        yield problem(f"the task's index {index!r} is no number from 0 on")
        return
    if role == "evaluator":
        if index:
            yield problem(f"there is one evaluator, index 0, not {index}")
        elif not cluster.get("evaluator"):
            yield warning(
                "the evaluator is not in the cluster of its own TF_CONFIG: "
                "MultiWorkerMirroredStrategy does not start without it there"
            )
        return
    if cluster.get("evaluator"):
        yield warning(
            f"the evaluator stands inside the cluster of {role} {index}: it takes no "
            "part there; name it in its own TF_CONFIG only"
        )
    if role not in cluster:
        near = did_you_mean(role, cluster)
        yield problem(f"the task is a {role!r}, which the cluster does not have.{near}")
        return
    if not any(known == (role, index) for known in addresses):
        count = len(cluster[role]) if isinstance(cluster[role], list | dict) else 0
        if index >= count:
            yield problem(
                f"the task is {role} {index}, but the cluster has {count}: "
                "indices begin with 0"
            )
        return
    if listen:
        yield from _listening(addresses[role, index])


def _listening(address: str) -> Iterator[Remark]:
    """Whether another process has the port, where the host is surely this machine."""
    host, _, port = address.rpartition(":")
    if host not in _LOCAL:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(port)))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield warning(f"the task cannot listen on {address} now: {why}")
