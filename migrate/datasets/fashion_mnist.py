"""Fashion-MNIST: one place that finds, checks and places it.

A file counts as Fashion-MNIST when its *decompressed* bytes have the known
size and SHA-256; compressed files differ between distributors.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .bundled import bundled

SUBFOLDER = Path("datasets") / "fashion-mnist"
DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"

TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TRAIN_LABELS = "train-labels-idx1-ubyte.gz"
TEST_IMAGES = "t10k-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"

# file -> (decompressed size, SHA-256 of the decompressed bytes)
FILES: dict[str, tuple[int, str]] = {
    TRAIN_IMAGES: (
        47040016,
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    ),
    TRAIN_LABELS: (
        60008,
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    ),
    TEST_IMAGES: (
        7840016,
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    ),
    TEST_LABELS: (
        10008,
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}

FOUR_WAYS = (
    "any one of these helps: (1) name the folder with the four *-ubyte.gz files: "
    "--data-dir DIR or TFMIGRATE_DATA=DIR; (2) put them into the Keras cache, "
    "~/.keras/datasets/fashion-mnist; (3) on Debian or Ubuntu: apt-get install "
    f"dataset-fashion-mnist, which fills {DEBIAN_FOLDER}; (4) run this command "
    "once with a network and TensorFlow installed, it then downloads through Keras; "
    "or try with 3,000 of the images: --sample"
)

# One seed for all noise: recordings are only comparable on the same images.
_NOISE_SEED = 20181010
_NOISE_LEVELS = 33


@dataclass(frozen=True)
class Located:
    """A folder with verified files, and how it was found."""

    folder: Path
    origin: str


def keras_caches() -> list[Path]:
    """Return the dataset folders that the Keras generations read, no duplicates.

    Keras 3 honours KERAS_HOME; tf_keras and the Keras inside TF1 do not, they
    always use ``~/.keras``.
    """
    homes = [os.environ.get("KERAS_HOME"), "~/.keras"]
    folders = [Path(os.path.expanduser(home)) / SUBFOLDER for home in homes if home]
    return list(dict.fromkeys(folders))


def problem_with(folder: Path) -> str | None:
    """Say in one clause why the folder does not hold the data; None if it does."""
    for name in FILES:
        if not (folder / name).is_file():
            return f"{folder} has no {name}"
    faults = (_fault(folder / name, name) for name in FILES)
    return next((fault for fault in faults if fault), None)


def _fault(path: Path, name: str) -> str | None:
    size, sha256 = FILES[name]
    digest = hashlib.sha256()
    count = 0
    try:
        with gzip.open(path, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                count += len(block)
    except (OSError, EOFError, zlib.error) as error:
        return f"{path} cannot be decompressed ({error})"
    if count != size:
        return f"{path} holds {count} bytes when decompressed instead of {size}"
    if digest.hexdigest() != sha256:
        return f"{path} has another checksum than Fashion-MNIST"
    return None


def find(
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download: bool = True,
    origin: str = ORIGIN,
) -> Located:
    """Find the data: named folder, Keras cache, Debian package, download.

    A folder that the user named is used or refused, never silently skipped.
    """
    named = os.fspath(data_dir) if data_dir else os.environ.get("TFMIGRATE_DATA")
    if named:
        folder = _named_folder(Path(named).expanduser())
        way = "--data-dir" if data_dir else "TFMIGRATE_DATA"
        fault = problem_with(folder)
        if fault:
            raise UserError(f"Fashion-MNIST is not in {way}: {fault}", hint=FOUR_WAYS)
        return Located(folder, way)
    faults = []
    candidates = [(folder, "the Keras cache") for folder in keras_caches()]
    candidates.append((DEBIAN_FOLDER, "the Debian package dataset-fashion-mnist"))
    for folder, way in candidates:
        fault = problem_with(folder)
        if fault is None:
            return Located(folder, way)
        faults.append(fault)
    if download:
        try:
            return _download(keras_caches()[0], origin)
        except Exception as error:
            # Whatever Keras or the network raised, the user needs the same advice.
            told = str(error).strip() or type(error).__name__
            faults.append(f"the download failed ({told.splitlines()[0]})")
    raise UserError("Fashion-MNIST was not found: " + "; ".join(faults), hint=FOUR_WAYS)


def _named_folder(folder: Path) -> Path:
    """Accept the folder itself, or a Keras home or a datasets folder above it."""
    for candidate in (folder, folder / SUBFOLDER, folder / "fashion-mnist"):
        if (candidate / TRAIN_LABELS).is_file():
            return candidate
    return folder


def _download(folder: Path, origin: str) -> Located:
    try:
        from tf_keras.utils import get_file
    except ImportError:
        from keras.utils import get_file

    # Into a scratch folder first: Keras would take a broken file in its cache
    # for the real one for ever after.
    with tempfile.TemporaryDirectory() as scratch:
        for name in FILES:
            get_file(name, origin=origin + name, cache_dir=scratch, cache_subdir=".")
        fault = problem_with(Path(scratch))
        if fault:
            raise UserError(fault)
        _copy_all(Path(scratch), folder)
    return Located(folder, "downloaded through Keras")


def place(located: Located) -> list[Path]:
    """Copy the files to where every Keras generation looks; return the folders."""
    placed = []
    for folder in keras_caches():
        if folder != located.folder and problem_with(folder):
            _copy_all(located.folder, folder)
        placed.append(folder)
    return placed


def _copy_all(source: Path, target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            # Whoever reads meanwhile finds a whole file.
            partial = target / f"{name}.{os.getpid()}.part"
            try:
                shutil.copyfile(source / name, partial)
                os.replace(partial, target / name)
            finally:
                partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write {target}: {error.strerror or error}",
            hint="set HOME or KERAS_HOME to a folder you may write",
        ) from error


def make_keras_home(
    directory: str | os.PathLike[str],
    *,
    sample: bool,
    noise: bool,
    data_dir: str | os.PathLike[str] | None = None,
) -> dict[str, str]:
    """Write a home folder whose Keras cache holds the data; return HOME, KERAS_HOME.

    A program started with the returned variables loads these files with an
    unedited ``load_data()``, under every TF generation.

    ``sample`` takes the shipped 3,000/1,000 examples instead of all. ``noise``
    adds fixed noise to the images. Fashion-MNIST has large areas of exact
    zeros, where a convolution yields exactly its bias and ReLU and max-pooling
    meet ties that last-bit rounding decides: two correct implementations then
    drift apart. With noise they stay together and can be compared step by step.
    """
    home = Path(directory).absolute()
    folder = home / ".keras" / SUBFOLDER
    folder.mkdir(parents=True, exist_ok=True)
    source = bundled("data") if sample else find(data_dir).folder
    for name in FILES:
        if noise and name in (TRAIN_IMAGES, TEST_IMAGES):
            noisy = _with_noise(gzip.decompress((source / name).read_bytes()))
            # The fastest level: the file is read a few times and thrown away.
            (folder / name).write_bytes(gzip.compress(noisy, 1, mtime=0))
        else:
            shutil.copyfile(source / name, folder / name)
    return {"HOME": str(home), "KERAS_HOME": str(home / ".keras")}


def raw_home(
    directory: Path, data_dir: Path | None, *, sample: bool = False
) -> tuple[dict[str, str], int]:
    """A home with real images, and how many: all where they are found, else a sample.

    A folder that the user named has to hold them. Nothing is downloaded.
    """
    if not sample:
        try:
            found: Path | None = find(data_dir, download=False).folder
        except UserError:
            if data_dir is not None:
                raise
            found = None
        if found is not None:
            home = make_keras_home(directory, sample=False, noise=False, data_dir=found)
            return home, 60_000
    return make_keras_home(directory, sample=True, noise=False), 3_000


def _with_noise(data: bytes) -> bytes:
    import numpy as np

    offset = 16  # of three-dimensional idx files: a magic number and three sizes
    pixels = np.frombuffer(data, np.uint8, offset=offset)
    # The legacy generator: its stream is frozen, and drawing fewer numbers
    # yields a prefix, so the sample's images equal the full set's first ones.
    draw = np.random.RandomState(_NOISE_SEED)
    noise = draw.randint(0, _NOISE_LEVELS, pixels.size).astype(np.uint16)
    # Scaled before adding, so that bright areas do not saturate into ties.
    scaled = pixels.astype(np.uint16) * (256 - _NOISE_LEVELS) // 255
    return data[:offset] + (scaled + noise).astype(np.uint8).tobytes()
