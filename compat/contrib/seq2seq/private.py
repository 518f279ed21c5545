"""Names of private modules of ``tf.contrib.seq2seq`` that published decoders need."""

from __future__ import annotations

from .base_decoder import BaseDecoder

__all__ = ["BaseDecoder"]
