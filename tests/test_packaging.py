"""The distribution holds every package folder, and every module imports."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Not ours to import: scripts for foreign interpreters or for a process that they
# change.
FOREIGN = {"instruments", "children"}
# The parts of training.py, which are TensorFlow code by nature.
PARTS = "tfmigrate.training"


def package_folders(repository: Path) -> dict[str, Path]:
    """Import name -> folder, for every folder that holds Python modules."""
    found = {}
    for top, name in (("migrate", "tfmigrate"), ("compat", "tfmigrate.compat")):
        for folder in sorted(
            {path.parent for path in (repository / top).rglob("*.py")}
        ):
            dotted = ".".join((name, *folder.relative_to(repository / top).parts))
            found[dotted] = folder
    # Only the folder itself: the programs below it are exhibits, not modules.
    found["tfmigrate._fixtures"] = repository / "fixtures"
    found["tfmigrate.rules.pages"] = repository / "docs" / "rules"
    return found


def test_every_package_folder_is_listed(repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text())
    listed = settings["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(package_folders(repository))
    assert len(listed) == len(set(listed))


def test_every_package_folder_has_an_init(repository: Path) -> None:
    bare = [
        str(folder)
        for folder in package_folders(repository).values()
        if not (folder / "__init__.py").is_file()
    ]
    assert not bare, "namespace packages by accident"


def test_every_module_asks_for_future_annotations(repository: Path) -> None:
    old = [
        str(path)
        for top in ("migrate", "compat")
        for path in sorted((repository / top).rglob("*.py"))
        # Instruments also run on the Pythons of TF 1.x (3.6, 3.7).
        if not FOREIGN & set(path.parts)
        and "from __future__ import annotations" not in path.read_text(encoding="utf-8")
    ]
    assert not old


@pytest.fixture(scope="module")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with tfmigrate installed from a wheel.

    The environment borrows the dependencies of the running one: what is under
    test is our wheel, not the package index.
    """
    base = tmp_path_factory.mktemp("wheel")
    source = base / "source"
    source.mkdir()
    # A copy, so that the build leaves no trace in the tree.
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, source)
    for name in ("migrate", "compat", "fixtures", "docs/rules"):
        shutil.copytree(
            repository / name,
            source / name,
            ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
        )
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", base, source]
    subprocess.run([*pip, "wheel", *options], check=True, stdin=subprocess.DEVNULL)
    (wheel,) = base.glob("tfmigrate-*.whl")
    environment = base / "environment"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True
    )
    python = environment / "bin" / "python"
    target = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    options = ["--no-deps", "--target", target, wheel]
    subprocess.run([*pip, "install", *options], check=True, stdin=subprocess.DEVNULL)
    # Dependencies only: an editable tfmigrate there must not be seen, so its
    # .pth files are not processed but other plain paths are handed on.
    own = Path(sysconfig.get_path("purelib"))
    paths = [str(own)]
    for pth in sorted(own.glob("*.pth")):
        for line in pth.read_text().splitlines():
            if line.startswith("/") and "site-packages" in line:
                paths.append(line)
    (Path(target) / "borrowed.pth").write_text("\n".join(paths) + "\n")
    return python


def test_every_module_imports_from_the_wheel(repository: Path, installed: Path) -> None:
    modules = []
    for dotted, folder in package_folders(repository).items():
        if dotted == PARTS or FOREIGN & set(dotted.split(".")):
            continue
        for path in sorted(folder.glob("*.py")):
            if path.stem == "__main__":
                continue
            modules.append(
                dotted if path.stem == "__init__" else f"{dotted}.{path.stem}"
            )
    code = (
        "import importlib, sys, tfmigrate\n"
        f"assert tfmigrate.__file__.startswith({str(installed.parent.parent)!r})\n"
        f"names = {modules!r}\n"
        "tool = [n for n in names if not n.startswith('tfmigrate.compat')]\n"
        "for name in tool: importlib.import_module(name)\n"
        "assert 'tensorflow' not in sys.modules, 'the tool imports tensorflow'\n"
        "for name in names: importlib.import_module(name)\n"
        "print(len(names))\n"
    )
    result = subprocess.run(
        [str(installed), "-c", code],
        capture_output=True,
        text=True,
        cwd=installed.parent,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split()[-1] == str(len(modules))


def test_the_wheel_holds_types_and_scripts(repository: Path, installed: Path) -> None:
    site = next((installed.parent.parent / "lib").glob("python*/site-packages"))
    for marker in ("tfmigrate/py.typed", "tfmigrate/compat/py.typed"):
        assert (site / marker).is_file()
    shipped = {path.relative_to(site) for path in site.rglob("*.py")}
    for dotted, folder in package_folders(repository).items():
        for path in folder.glob("*.py"):
            assert Path(*dotted.split("."), path.name) in shipped


def test_the_wheel_finds_its_data_sample(installed: Path) -> None:
    code = (
        "from tfmigrate.datasets import bundled\n"
        "print(bundled('data/train-images-idx3-ubyte.gz'))\n"
        "print(bundled('data/LICENSE.fashion-mnist'))\n"
        "print(bundled('legacy/fashion_mnist_mirrored/train.py'))\n"
    )
    result = subprocess.run(
        [str(installed), "-c", code],
        capture_output=True,
        text=True,
        cwd=installed.parent,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    for line in result.stdout.splitlines():
        assert Path(line).is_relative_to(installed.parent.parent)
