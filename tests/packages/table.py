"""The packages that are tried: name and version on the index, and what they need.

``needs`` are packages without which nothing of it can be imported and that work on
current Python; all others are left out, and modules that ask for them are counted.
"""

from __future__ import annotations

import dataclasses

__all__ = ["PACKAGES", "Package"]


@dataclasses.dataclass(frozen=True)
class Package:
    """One row."""

    name: str
    version: str
    module: str
    needs: tuple[str, ...] = ()
    remark: str = ""
    tf: str = "auto"  # the TensorFlow it was written for: `tfmigrate run --tf`


_PROBABILITY = ("tensorflow-probability==0.25.0", "dm-tree", "decorator")
_HUB = ("tensorflow-hub==0.12.0",)

PACKAGES = (
    Package("tf-slim", "1.1.0", "tf_slim"),
    Package("tensorflow-hub", "0.12.0", "tensorflow_hub"),
    Package("tensorflow-ranking", "0.1.4", "tensorflow_ranking"),
    Package("tensorflow-gan", "1.0.0.dev0", "tensorflow_gan", (*_HUB, *_PROBABILITY)),
    Package("bert-tensorflow", "1.0.4", "bert", _HUB),
    Package("deepctr", "0.9.0", "deepctr"),
    Package("adanet", "0.8.0", "adanet", ("tensorboard",)),
    Package("spleeter", "1.5.4", "spleeter", ("norbert", "ffmpeg-python")),
    Package("dltk", "0.2.1", "dltk"),
    Package(
        "polyaxon-lib",
        "0.0.4",
        "polyaxon_lib",
        remark="asks for polyaxon-schemas 0.0.4, which the index has no more",
    ),
    Package(
        "spotify-tensorflow",
        "0.7.7",
        "spotify_tensorflow",
        remark="builds on TFX and Beam",
    ),
    Package("tensorflow-qnd", "0.1.11", "qnd", ("gargparse",)),
    Package("kfac", "0.2.0", "kfac", _PROBABILITY),
    Package(
        "disentanglement-lib",
        "1.4",
        "disentanglement_lib",
        ("gin-config==0.3.0", "simplejson", *_HUB, *_PROBABILITY),
    ),
    Package("detext", "1.2.2", "detext", ("tensorflow-ranking==0.1.4",)),
    Package("neural-structured-learning", "1.1.0", "neural_structured_learning"),
    Package(
        "magenta",
        "1.3.3",
        "magenta",
        (
            *_PROBABILITY,
            *("pretty_midi", "mido", "mir_eval", "intervaltree"),
            *("importlib_resources", "zipp"),
        ),
    ),
    Package("recommenders", "0.6.0", "reco_utils"),
    Package(
        "tensorflow-lattice",
        "0.9.9",
        "tensorflow_lattice",
        remark="its ops are C++ that has to be built for the TensorFlow in use",
    ),
    Package(
        "smdebug", "0.9.5", "smdebug", ("boto3", "botocore", "jmespath", "s3transfer")
    ),
    Package("estimator", "0.0.10", "estimator"),
    Package("tf-word2vec", "1.0.7", "word2vec", tf="2"),
)
