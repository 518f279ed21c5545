"""Finding, checking and placing Fashion-MNIST."""

from __future__ import annotations

import functools
import gzip
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tfmigrate.cli.data import data as data_command
from tfmigrate.datasets import bundled, fashion_mnist, make_keras_home
from tfmigrate.errors import UserError

FULL = fashion_mnist.DEBIAN_FOLDER
needs_full_data = pytest.mark.skipif(
    not FULL.is_dir(), reason="needs the Debian package dataset-fashion-mnist"
)


@pytest.fixture(autouse=True)
def lonely_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without data, and none of the variables that name another place."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("KERAS_HOME", raising=False)
    monkeypatch.delenv("TFMIGRATE_DATA", raising=False)
    return home


@pytest.fixture
def no_debian_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fashion_mnist, "DEBIAN_FOLDER", tmp_path / "absent")


# --- refused: nothing may be placed ---


@pytest.mark.usefixtures("no_debian_package")
def test_one_error_names_all_four_ways(lonely_home: Path) -> None:
    with pytest.raises(UserError) as caught:
        fashion_mnist.find(download=False)
    advice = str(caught.value.hint)
    for way in (
        "--data-dir",
        "TFMIGRATE_DATA",
        ".keras/datasets/fashion-mnist",
        "dataset-fashion-mnist",
        "downloads through Keras",
    ):
        assert way in advice
    assert list(lonely_home.iterdir()) == []


def test_a_named_folder_is_refused_rather_than_skipped(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--data-dir.*has no train-images"):
        fashion_mnist.find(tmp_path)


def test_the_sample_is_not_taken_for_the_full_data() -> None:
    with pytest.raises(UserError, match=r"2352016 bytes .* instead of 47040016"):
        fashion_mnist.find(bundled("data"))


def test_the_sample_is_put_where_programs_look(lonely_home: Path) -> None:
    result = CliRunner().invoke(data_command, ["fashion-mnist", "--sample"])
    assert result.exit_code == 0, result.output
    placed = lonely_home / ".keras/datasets/fashion-mnist" / fashion_mnist.TRAIN_LABELS
    assert len(gzip.decompress(placed.read_bytes())) == 8 + 3000


@needs_full_data
def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    for name in fashion_mnist.FILES:
        shutil.copyfile(FULL / name, tmp_path / name)
    spoilt = tmp_path / fashion_mnist.TEST_LABELS
    labels = bytearray(gzip.decompress(spoilt.read_bytes()))
    labels[-1] ^= 1
    spoilt.write_bytes(gzip.compress(bytes(labels)))
    with pytest.raises(UserError, match=r"t10k-labels.*another checksum"):
        fashion_mnist.find(tmp_path)


@needs_full_data
def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    for name in fashion_mnist.FILES:
        shutil.copyfile(FULL / name, tmp_path / name)
    spoilt = tmp_path / fashion_mnist.TRAIN_LABELS
    spoilt.write_bytes(spoilt.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"train-labels.*cannot be decompressed"):
        fashion_mnist.find(tmp_path)


@pytest.mark.tensorflow
@pytest.mark.usefixtures("no_debian_package")
def test_a_failed_download_is_told_with_the_four_ways(lonely_home: Path) -> None:
    # Port 9 of this machine refuses; no real network is touched.
    with pytest.raises(UserError, match="the download failed") as caught:
        fashion_mnist.find(origin="http://127.0.0.1:9/")
    assert "apt-get install" in str(caught.value.hint)
    assert not (lonely_home / ".keras/datasets").exists()


# --- found ---


@needs_full_data
def test_places_where_both_keras_generations_look(
    lonely_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keras_home = tmp_path / "keras-home"
    monkeypatch.setenv("KERAS_HOME", str(keras_home))
    result = CliRunner().invoke(data_command, ["fashion-mnist", "--no-download"])
    assert result.exit_code == 0, result.output
    expected = [
        keras_home / "datasets/fashion-mnist",
        lonely_home / ".keras/datasets/fashion-mnist",
    ]
    assert result.stdout.split() == [str(folder) for folder in expected]
    for folder in expected:
        assert fashion_mnist.problem_with(folder) is None
        assert sorted(p.name for p in folder.iterdir()) == sorted(fashion_mnist.FILES)
    # Found in the cache now, so a second call neither needs the package nor copies.
    before = [p.stat().st_mtime_ns for p in sorted(expected[0].iterdir())]
    monkeypatch.setattr(fashion_mnist, "DEBIAN_FOLDER", tmp_path / "absent")
    located = fashion_mnist.find(download=False)
    assert located.origin == "the Keras cache"
    fashion_mnist.place(located)
    assert before == [p.stat().st_mtime_ns for p in sorted(expected[0].iterdir())]


@needs_full_data
def test_a_broken_cache_is_mended_from_the_next_place(lonely_home: Path) -> None:
    cache = lonely_home / ".keras/datasets/fashion-mnist"
    cache.mkdir(parents=True)
    for name in fashion_mnist.FILES:
        (cache / name).write_bytes(b"half a download")
    located = fashion_mnist.find(download=False)
    assert located.folder == FULL
    fashion_mnist.place(located)
    assert fashion_mnist.problem_with(cache) is None


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def local_server() -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(FULL))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.tensorflow
@needs_full_data
@pytest.mark.usefixtures("no_debian_package")
def test_downloads_through_keras(local_server: str, lonely_home: Path) -> None:
    located = fashion_mnist.find(origin=local_server)
    assert located.folder == lonely_home / ".keras/datasets/fashion-mnist"
    assert fashion_mnist.problem_with(located.folder) is None


# --- the sample and the noise ---


def to_array(file: Path) -> np.ndarray:
    """What an idx file of images or of labels holds."""
    data = gzip.decompress(file.read_bytes())
    shape = np.frombuffer(data, ">u4", data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def load(folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Images and labels, of the training and of the test."""
    names = ("TRAIN_IMAGES", "TRAIN_LABELS", "TEST_IMAGES", "TEST_LABELS")
    files = [folder / getattr(fashion_mnist, name) for name in names]
    arrays = [to_array(file) for file in files]
    return [(arrays[0], arrays[1]), (arrays[2], arrays[3])]


def test_the_sample_holds_real_examples_of_every_class() -> None:
    (train_x, train_y), (test_x, test_y) = load(bundled("data"))
    assert train_x.shape == (3000, 28, 28)
    assert test_x.shape == (1000, 28, 28)
    for labels in (train_y, test_y):
        assert np.bincount(labels, minlength=10).min() > len(labels) / 10 * 0.8


@needs_full_data
def test_the_sample_is_the_head_of_the_full_data() -> None:
    sample, full = load(bundled("data")), load(FULL)
    for small_part, whole_part in zip(sample, full, strict=True):
        for small, whole in zip(small_part, whole_part, strict=True):
            np.testing.assert_array_equal(small, whole[: len(small)])


LOADERS = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf, tf_keras
for keras in (tf.keras, tf_keras):
    (x, y), (tx, ty) = keras.datasets.fashion_mnist.load_data()
    print(x.shape, tx.shape, int(x.sum()), int(ty.sum()), float((x == 0).mean()) < .05)
"""


def test_unedited_programs_load_the_noised_sample(tmp_path: Path) -> None:
    variables = make_keras_home(tmp_path / "k", sample=True, noise=True)
    plain, _ = load(bundled("data"))
    run = subprocess.run(
        [sys.executable, "-c", LOADERS],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    keras3, legacy = run.stdout.splitlines()
    assert keras3 == legacy
    # The sum is committed: the recordings were made on exactly these images.
    assert keras3 == "(3000, 28, 28) (1000, 28, 28) 186289528 4363 True"
    assert (plain[0] == 0).mean() > 0.4


@needs_full_data
def test_noise_of_the_sample_equals_noise_of_the_full_data(tmp_path: Path) -> None:
    images = []
    for sample in (True, False):
        home = tmp_path / str(sample)
        make_keras_home(home, sample=sample, noise=True, data_dir=FULL)
        path = home / ".keras" / fashion_mnist.SUBFOLDER / fashion_mnist.TRAIN_IMAGES
        images.append(to_array(path))
    np.testing.assert_array_equal(images[0], images[1][:3000])
