"""What reads the losses that layers leave."""

from __future__ import annotations

from pathlib import Path

from ..evaluating import body, made, reasons


def test_other_losses_read_nothing(tmp_path: Path) -> None:
    found = body(tmp_path, "loss = tf.losses.mean_squared_error(labels, features)")
    assert not found.notes.collecting
    assert not reasons(found)


def test_collections_are_noted(tmp_path: Path) -> None:
    code = (
        "loss = tf.losses.get_regularization_loss()\nmore = tf.get_collection('losses')"
    )
    found = body(tmp_path, code)
    assert len(found.notes.collecting) == 2
    assert not made(found)
    assert not reasons(found)
