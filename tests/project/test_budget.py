"""A file may take a time and an amount of memory; then it is left, and said so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tfmigrate.project.deep import call_deep
from tfmigrate.project.workers import Limits, _context
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = "import tensorflow as tf\n\nx = tf.log(1)\n"
# LibCST's parser, native code, takes quadratic time for this: half an hour.
CHAIN = "import tensorflow as tf\n\ny = tf.log(1)" + ".add(1)" * 20_000 + "\n"


def chained(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(11):
        (folder / f"m{number:02}.py").write_text(SMALL)
    (folder / "m05_chain.py").write_text(CHAIN)
    return folder


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chain_of_20_000_links_ends_within_the_budget(
    jobs: int, tmp_path: Path, tfmigrate: Runner
) -> None:
    """The file is left with the reason, the others are done, nothing is failed."""
    folder = chained(tmp_path / "src")
    began = time.monotonic()
    done = tfmigrate("scan", folder, "--timeout", "2", "-j", str(jobs))
    assert time.monotonic() - began < 60
    assert done.returncode == 1, done.stderr
    told = f"{folder}/m05_chain.py:1:1 TFM504 the file stays as it is [left: took too"
    assert told in done.stdout
    assert "  TFM201  11 rewritten" in done.stdout
    assert "12 files: 11 would change, 1 unchanged, 0 without" in done.stdout


def test_rewrite_leaves_the_file_and_does_the_rest(
    tmp_path: Path, tfmigrate: Runner
) -> None:
    folder = chained(tmp_path / "src")
    done = tfmigrate("rewrite", "--allow-dirty", folder, "--timeout", "2")
    assert done.returncode == 1
    assert (folder / "m05_chain.py").read_text() == CHAIN
    assert "tf.math.log" in (folder / "m06.py").read_text()


def test_a_filter_gives_the_text_back(tfmigrate: Runner) -> None:
    done = tfmigrate("rewrite", "-", "--timeout", "1", input=CHAIN)
    assert (done.returncode, done.stdout) == (1, CHAIN)
    assert "TFM504" in done.stderr


def test_a_generated_file_of_ten_megabytes_ends_within_the_budget(
    tmp_path: Path, tfmigrate: Runner
) -> None:
    line = "TABLE.append([{n}, {n}.5, 'name{n}', (1, 2, {n})])\n"
    text = "import tensorflow as tf\n\nTABLE = []\n"
    text += "".join(line.format(n=n) for n in range(210_000))
    assert len(text) > 10_000_000
    (tmp_path / "big.py").write_text(text)
    began = time.monotonic()
    done = tfmigrate("scan", tmp_path, "--timeout", "3")
    assert time.monotonic() - began < 60
    assert "TFM504" in done.stdout


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
def test_memory_has_a_budget_too(tmp_path: Path) -> None:
    text = SMALL + "".join(f"t{n} = [{n}, {n}, {n}, {n}]\n" for n in range(20_000))
    files = [tmp_path / "big.py", tmp_path / "small.py"]
    files[0].write_text(text)
    files[1].write_text(SMALL)
    limits = Limits(memory=200 * 1024**2)
    big, small = run_job(files, Job(), limits=limits).results
    assert big.status is FileStatus.UNCHANGED
    assert [f.rule for f in big.findings] == ["TFM504"]
    assert "too much memory: more than 0.195312 GB" in (big.findings[0].reason or "")
    assert small.status is FileStatus.CHANGED


def test_a_crash_of_the_parser_costs_one_file(tmp_path: Path) -> None:
    """Whatever kills the process: the file has failed, the others are done."""
    files = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for file in files:
        file.write_text(SMALL)
    code = (
        "import os, sys, signal\n"
        "from pathlib import Path\n"
        "import tfmigrate.rewrite.pipeline as pipeline\n"
        "from tfmigrate.rewrite import run\n"
        "whole = pipeline.process_source\n"
        "def process(path, raw, job, facts):\n"
        "    if path.name == 'b.py':\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    return whole(path, raw, job, facts)\n"
        "pipeline.process_source = process\n"
        "report = run.run_job([Path(a) for a in sys.argv[1:]], pipeline.Job())\n"
        "print([(r.path.name, r.status.value) for r in report.results])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *files], capture_output=True, text=True
    )
    expected = [("a.py", "changed"), ("b.py", "failed"), ("c.py", "changed")]
    assert done.stdout == f"{expected}\n", done.stderr


def test_a_process_with_threads_is_not_forked(tmp_path: Path) -> None:
    """Its workers come from a server that has none, and do the same."""
    files = [tmp_path / f"m{number}.py" for number in range(3)]
    for file in files:
        file.write_text(SMALL)
    files[1].write_text(CHAIN)
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        assert _context().get_start_method() != "fork"
        results = run_job(files, Job(), limits=Limits(seconds=2)).results
    finally:
        ended.set()
        other.join()
    rules = [[f.rule for f in result.findings] for result in results]
    assert rules == [["TFM201"], ["TFM504"], ["TFM201"]]


def test_no_process_outlives_the_command(tmp_path: Path) -> None:
    """Killed itself, the command leaves no worker that parses for ever."""
    folder = chained(tmp_path / "src")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfmigrate", "scan", folder, "--timeout", "1"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while len(group(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while group(process.pid) and time.monotonic() < deadline + 30:
        time.sleep(0.2)
    assert group(process.pid) == []


def group(leader: int) -> list[int]:
    """The processes of a process group that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == leader and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def test_a_small_run_pays_little(tmp_path: Path, tfmigrate: Runner) -> None:
    """One file still takes one process's imports, not two."""
    (tmp_path / "a.py").write_text(SMALL)
    before = os.times()
    assert tfmigrate("scan", tmp_path).returncode == 1
    after = os.times()
    spent = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", "import tfmigrate.rewrite.native.program"], check=True
    )
    after = os.times()
    imports = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    assert spent < 1.7 * imports + 0.3


def test_long_chains_are_resolved_in_linear_time() -> None:
    """Asking about every link of a chain is asked once for each link."""
    import libcst as cst
    from tfmigrate.names.resolver import Resolver

    def seconds(links: int) -> float:
        module = cst.parse_module("import numpy as np\ny = np.x" + ".a(1)" * links)
        resolver = Resolver(module)
        nodes: list[cst.CSTNode] = [use.node for use in resolver.scopes.uses]
        node: cst.CSTNode = module.body[1].body[0].value  # type: ignore[union-attr,index]
        while isinstance(node, cst.Call):
            nodes += [node, node.func]
            node = node.func.value  # type: ignore[attr-defined]
        began = time.process_time()
        for each in nodes:
            resolver.resolve(each)
        return time.process_time() - began

    few, many = (
        min(call_deep(partial(seconds, links)) for _ in range(3)) for links in (60, 240)
    )
    assert many < 8 * few


def test_the_report_of_many_findings_is_linear(tmp_path: Path) -> None:
    """SARIF's fingerprints count what came before, they do not search for it."""
    from tfmigrate.forms.sarif import sarif_report
    from tfmigrate.report.findings import Finding, Outcome
    from tfmigrate.report.model import FileResult, Report

    path = tmp_path / "a.py"
    findings = tuple(
        Finding(path, line, 1, "TFM302", "the same", Outcome.ADVICE)
        for line in range(1, 20_001)
    )
    result = FileResult(path, FileStatus.UNCHANGED, findings=findings)
    began = time.process_time()
    log = json.loads(sarif_report(Report((result,))))
    assert time.process_time() - began < 20
    prints = {
        r["partialFingerprints"]["tfmigrate/v1"] for r in log["runs"][0]["results"]
    }
    assert len(prints) == 20_000
