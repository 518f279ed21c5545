"""Values of one checkpoint in the form of another.

The target's form comes from a template: a checkpoint that the target program
wrote (before training, for instance). Every key and the object graph stay as
they are there; only values are replaced, so the program restores the result as
one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import UserError
from .contents import OBJECT_GRAPH_KEY, Checkpoint, Entry


@dataclass
class Conversion:
    """What was done with each key of the template."""

    replaced: list[tuple[Entry, Entry]] = field(default_factory=list)
    computed: list[Entry] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    unused: list[Entry] = field(default_factory=list)


def match_weights(
    source: Checkpoint, template: Checkpoint, renames: Mapping[str, str]
) -> dict[str, Entry]:
    """For each weight of the template, the source's weight it stands for.

    By ``renames`` (template name -> source name), by equal names, then by the
    longest common end of the path among weights of the same shape. A weight that
    two could stand for is nobody's: guessing would swap layers in silence.
    """
    ours = {e.name: e for e in source.entries if e.role == "weight"}
    theirs = [e for e in template.entries if e.role == "weight"]
    known = {e.name for e in theirs}
    for new, old in renames.items():
        if new not in known:
            raise UserError(f"--map: the template has no weight {new!r}")
        if old not in ours:
            raise UserError(f"--map: the source has no weight {old!r}")
    matched: dict[str, Entry] = {}
    for entry in theirs:
        old = renames.get(entry.name, entry.name)
        if old in ours and ours[old].shape == entry.shape:
            matched[entry.name] = ours[old]
    while True:
        taken = {e.name for e in matched.values()}
        free = [e for e in ours.values() if e.name not in taken]
        open_ = [e for e in theirs if e.name not in matched]
        pairs = _unambiguous(open_, free)
        if not pairs:
            return matched
        matched.update(pairs)


def _common_end(a: str, b: str) -> int:
    count = 0
    for x, y in zip(reversed(a.split("/")), reversed(b.split("/")), strict=False):
        if x != y:
            break
        count += 1
    return count


def _unambiguous(open_: list[Entry], free: list[Entry]) -> dict[str, Entry]:
    """Pairs in which each is the only best partner of the other."""

    def best(entry: Entry, others: list[Entry]) -> Entry | None:
        scored = [
            (_common_end(entry.name, o.name), o)
            for o in others
            if o.shape == entry.shape
        ]
        top = max((score for score, _ in scored), default=0)
        candidates = [o for score, o in scored if score == top]
        # The last part alone ("kernel") says nothing about the layer.
        return candidates[0] if top >= 2 and len(candidates) == 1 else None

    pairs = {}
    for entry in open_:
        partner = best(entry, free)
        if partner is not None and best(partner, open_) == entry:
            pairs[entry.name] = partner
    return pairs


def convert(
    source: Checkpoint,
    template: Checkpoint,
    output: str | os.PathLike[str],
    *,
    renames: Mapping[str, str] | None = None,
    force: bool = False,
) -> Conversion:
    """Writes ``source``'s values in ``template``'s form to the prefix ``output``.

    Nothing is written unless every weight of the template has a value, and never
    over the source or the template; over another checkpoint only with ``force``.
    """
    weights = match_weights(source, template, renames or {})
    missing = [
        e.name for e in template.entries if e.role == "weight" and e.name not in weights
    ]
    if missing:
        names = sorted(e.name for e in source.entries if e.role == "weight")
        raise UserError(
            "no value found for: " + ", ".join(sorted(missing)),
            hint="Say which with --map NEW=OLD. The source has: " + ", ".join(names),
        )
    _require_free(os.fspath(output), source, template, force=force)
    conversion = Conversion()
    values: dict[str, Any] = {}
    slots = {(e.weight, e.slot): e for e in source.entries if e.role == "slot"}
    powers = {e.name.rpartition("/")[2]: e for e in source.entries if e.role == "power"}
    for entry in template.entries:
        origin: Entry | None = None
        scale = 1.0
        if entry.role == "weight":
            origin = weights[entry.name]
        elif entry.role == "slot" and entry.weight in weights:
            weight = weights[entry.weight].name
            origin = slots.get((weight, entry.slot))
            if origin is None:
                kind, scale = _other_momentum(entry, source, template)
                origin = slots.get((weight, kind))
        elif entry.role == "power":
            origin = powers.get(entry.name.rpartition("/")[2])
        value = template.value(entry)
        if origin is not None and origin.shape == entry.shape:
            found = source.value(origin)
            value = (found if scale == 1.0 else found * scale).astype(value.dtype)
            conversion.replaced.append((entry, origin))
        elif entry.role == "step" and source.step is not None:
            value = value.dtype.type(source.step)
            conversion.computed.append(entry)
        elif entry.role == "power" and source.step is not None:
            # beta ** (steps + 1): the template's own value gives beta.
            beta = float(value) ** (1.0 / ((template.step or 0) + 1))
            value = value.dtype.type(beta ** (source.step + 1))
            conversion.computed.append(entry)
        else:
            conversion.kept.append(entry)
        values[entry.key] = value
    used = {origin.key for _, origin in conversion.replaced}
    conversion.unused = [
        e for e in source.entries if e.key not in used and e.role in ("weight", "slot")
    ]
    _write(os.fspath(output), values, template)
    return conversion


def _require_free(
    prefix: str, source: Checkpoint, template: Checkpoint, *, force: bool
) -> None:
    place = os.path.realpath(prefix)
    for role, used in (("source", source), ("template", template)):
        if place == os.path.realpath(used.path):
            raise UserError(
                f"{prefix} is the {role} itself", hint="name another place to write to"
            )
    if os.path.isdir(prefix):
        raise UserError(
            f"{prefix} is a folder", hint=f"name a prefix, such as {prefix}/model.ckpt"
        )
    if os.path.exists(prefix + ".index") and not force:
        raise UserError(
            f"{prefix}: there is a checkpoint of this name",
            hint="name another place, or pass --force",
        )


def _other_momentum(
    entry: Entry, source: Checkpoint, template: Checkpoint
) -> tuple[str | None, float]:
    """TF1's momentum for Keras' velocity, and back, with its factor.

    TF1 accumulates gradients, Keras SGD accumulates updates: velocity is minus
    the learning rate times momentum. Without a learning rate in the checkpoint
    (a schedule, for instance) there is no exact value.
    """
    if entry.slot == "velocity" and template.learning_rate:
        return "momentum", -template.learning_rate
    if entry.slot == "momentum" and source.learning_rate:
        return "velocity", -1.0 / source.learning_rate
    return None, 1.0


def _write(prefix: str, values: dict[str, Any], template: Checkpoint) -> None:
    import tensorflow as tf

    if template.kind == "object-based":
        values = {
            **values,
            OBJECT_GRAPH_KEY: template.reader.get_tensor(OBJECT_GRAPH_KEY),
        }
    folder = os.path.dirname(prefix)
    name = os.path.basename(prefix)
    keys = sorted(values)
    try:
        if folder:
            os.makedirs(folder, exist_ok=True)
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=keys,
            shape_and_slices=[""] * len(keys),
            tensors=[tf.constant(values[key]) for key in keys],
        )
        # Other checkpoints of the folder stay in its list.
        state = tf.train.get_checkpoint_state(folder or ".")
        listed = state.all_model_checkpoint_paths if state is not None else ()
        top = os.path.abspath(folder)
        others = [
            os.path.relpath(path, top) if os.path.dirname(path) == top else path
            for path in map(os.path.abspath, listed)
            if path != os.path.join(top, name)
        ]
        # Names without a folder are taken for the working directory's, unless this
        # one is absolute.
        tf.compat.v1.train.update_checkpoint_state(top, name, [*others, name])
    except (OSError, tf.errors.OpError) as error:
        why = getattr(error, "strerror", None) or getattr(error, "message", error)
        raise UserError(f"cannot write {prefix}: {why}") from None
