"""The account of a run in all its forms."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.forms.json_report import json_report, schema
from tfmigrate.forms.render import render
from tfmigrate.forms.sarif import sarif_report
from tfmigrate.forms.text import text_report
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.findings import Finding, Outcome, ProgramOutcome
from tfmigrate.report.model import FileResult, FileStatus, Report, merge
from tfmigrate.report.proofs import Proof, ProofOutcome
from tfmigrate.rewrite.pipeline import Job, process_file
from tfmigrate.rewrite.run import run_job

SOURCE = '''import tensorflow as tf


def f(x):
    """A docstring that spans
    two lines, with <tags> & more."""
    y = tf.log(x) + tf.reduce_sum(x, keep_dims=True)
    return tf.contrib.slim.conv2d(y, 1, 1)  # a very long line, so that the page has something to scroll sideways, and no part of it may push the page itself
'''


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A report of each kind of file."""
    folder = tmp_path_factory.mktemp("report")
    files = {
        "changed.py": SOURCE,
        "broken.py": "import tensorflow\nx = (\n",
        "plain.py": "x = 1\n",
        "modern.py": "import tensorflow as tf\nx = tf.nn.relu(1)\n",
        "é ü.py": SOURCE,
        "kept.py": "import tensorflow as tf\nfrom elsewhere import model_fn, data\n"
        "tf.estimator.Estimator(model_fn).train(data)\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    shutil.copy(
        Path(__file__).parents[2]
        / "fixtures/legacy/fashion_mnist_mirrored/train.ipynb",
        folder / "n.ipynb",
    )
    facts = ProjectFacts()
    return merge([process_file(p, Job(), facts) for p in folder.iterdir()])


def test_totals_add_up(report: Report) -> None:
    assert sum(report.files_by_status().values()) == len(report.results) == 7
    assert sum(report.findings_by_outcome().values()) == len(report.findings)
    by_rule = report.findings_by_rule()
    assert sum(sum(o.values()) for o in by_rule.values()) == len(report.findings)


def finding(outcome: Outcome, reason: str | None = None) -> Finding:
    return Finding(Path("x.py"), 1, 1, "TFM201", "m", outcome, reason=reason)


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": FileStatus.CHANGED},
        {"status": FileStatus.UNCHANGED, "new": b"x"},
        {
            "status": FileStatus.CHANGED,
            "old": b"x",
            "new": b"x",
            "findings": (finding(Outcome.REWRITTEN),),
        },
        {"status": FileStatus.CHANGED, "new": b"x"},
        {"status": FileStatus.FAILED},
        {"status": FileStatus.UNCHANGED, "error": "why"},
        {"status": FileStatus.UNCHANGED, "findings": (finding(Outcome.REWRITTEN),)},
        {"status": FileStatus.UNCHANGED, "findings": (finding(Outcome.LEFT),)},
    ],
)
def test_the_model_refuses_accounts_that_do_not_add_up(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        FileResult(Path("x.py"), **wrong)


def test_a_file_is_counted_once() -> None:
    result = FileResult(Path("x.py"), FileStatus.SKIPPED)
    with pytest.raises(ValueError):
        Report((result, result))


def test_text_has_one_line_per_finding(report: Report) -> None:
    text = text_report(report, written=False)
    assert len(
        [
            line
            for line in text.splitlines()
            if " TFM" in line and not line.startswith("  ")
        ]
    ) == len(report.findings)
    assert "broken.py: cannot process: " in text


def test_json_fits_its_schema(report: Report) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = json.loads(json_report(report, written=False))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(data, schema(), cls=jsonschema.Draft202012Validator)
    assert (
        data["summary"]["findings"]["rewritten"]
        == report.findings_by_outcome()[Outcome.REWRITTEN]
    )
    data["files"][0]["more"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema())


# What SARIF 2.1.0 (OASIS, sections 3.13 to 3.57) demands of the parts we write. The
# official schema is in none of the packages that were looked at (sarif-om, sarif-tools,
# sarif-pydantic, node-sarif-builder), so its constraints are written down here.
# sarif-om has classes made from it, which a test below uses.
TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
POSITIVE = {"type": "integer", "minimum": 1}
REGION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "startLine": POSITIVE,
        "startColumn": POSITIVE,
        "endLine": POSITIVE,
        "endColumn": POSITIVE,
    },
}
ARTIFACT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "uri": {"type": "string", "pattern": "^[!-~]+$"},
        "uriBaseId": {"type": "string"},
    },
}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
        "logicalLocations": {"type": "array"},
    },
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {"type": "object"},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "toolExecutionNotifications": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["message"],
                                        "properties": {
                                            "message": TEXT,
                                            "level": LEVEL,
                                            "locations": {
                                                "type": "array",
                                                "items": LOCATION,
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": LEVEL,
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION},
                                "partialFingerprints": {
                                    "type": "object",
                                    "additionalProperties": {"type": "string"},
                                },
                                "properties": {"type": "object"},
                                "fixes": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["artifactChanges"],
                                        "additionalProperties": False,
                                        "properties": {
                                            "description": TEXT,
                                            "artifactChanges": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "required": [
                                                        "artifactLocation",
                                                        "replacements",
                                                    ],
                                                    "additionalProperties": False,
                                                    "properties": {
                                                        "artifactLocation": ARTIFACT,
                                                        "replacements": {
                                                            "type": "array",
                                                            "minItems": 1,
                                                            "items": {
                                                                "type": "object",
                                                                "required": [
                                                                    "deletedRegion"
                                                                ],
                                                                "additionalProperties": False,
                                                                "properties": {
                                                                    "deletedRegion": REGION,
                                                                    "insertedContent": TEXT,
                                                                },
                                                            },
                                                        },
                                                    },
                                                },
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def test_sarif_keeps_the_rules_of_the_standard(report: Report) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    log = json.loads(sarif_report(report))
    jsonschema.validate(log, SARIF)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(report.findings)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [
        (
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            r["partialFingerprints"]["tfmigrate/v1"],
        )
        for r in run["results"]
    ]
    assert len(set(prints)) == len(prints)
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_uses_only_properties_of_the_standard(report: Report) -> None:
    sarif_om = pytest.importorskip("sarif_om", reason="classes made from the schema")
    run = json.loads(sarif_report(report))["runs"][0]

    def names(cls: Any) -> set[str]:
        return {a.metadata["schema_property_name"] for a in cls.__attrs_attrs__}

    def required(cls: Any) -> set[str]:
        return {
            a.metadata["schema_property_name"]
            for a in cls.__attrs_attrs__
            if a.default.__class__.__name__ == "_Nothing"
        }

    def fits(data: dict[str, Any], cls: Any) -> None:
        assert set(data) <= names(cls), cls
        assert required(cls) - {"version"} <= set(data), cls

    fits(run, sarif_om.Run)
    fits(run["tool"]["driver"], sarif_om.ToolComponent)
    for rule in run["tool"]["driver"]["rules"]:
        fits(rule, sarif_om.ReportingDescriptor)
    for result in run["results"]:
        fits(result, sarif_om.Result)
        for fix in result.get("fixes", ()):
            fits(fix, sarif_om.Fix)
            for change in fix["artifactChanges"]:
                fits(change, sarif_om.ArtifactChange)
                for part in change["replacements"]:
                    fits(part, sarif_om.Replacement)


def test_sarif_fixes_give_the_rewritten_file(report: Report) -> None:
    """Applying every fix of a file by its regions is the rewrite itself."""
    log = json.loads(sarif_report(report))
    result = next(r for r in report.results if r.path.name == "changed.py")
    starts = [0]
    text = result.old.decode()
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits = set()
    for found in log["runs"][0]["results"]:
        for fix in found.get("fixes", ()):
            change = fix["artifactChanges"][0]
            if not change["artifactLocation"]["uri"].endswith("/changed.py"):
                continue
            for part in change["replacements"]:
                region = part["deletedRegion"]
                begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
                end = starts[region["endLine"] - 1] + region["endColumn"] - 1
                edits.add((begin, end, part["insertedContent"]["text"]))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    assert result.new is not None
    without_notes = "".join(
        line
        for line in result.new.decode().splitlines(keepends=True)
        if not line.lstrip().startswith("# ") and not line.lstrip().startswith("#   ")
    )
    assert text == without_notes


# -- the page in a browser --------------------------------------------------------

PROBE = """
<script>
window.addEventListener("load", function () {
  var out = {};
  out.width = [document.documentElement.scrollWidth, window.innerWidth];
  function visible() { return document.querySelectorAll("li.finding:not([hidden])").length; }
  out.all = visible();
  function set(id, value) {
    var field = document.getElementById(id);
    field.value = value;
    field.dispatchEvent(new Event("input"));
  }
  set("rule", "TFM201"); out.rule = visible(); out.said = document.getElementById("shown").textContent; set("rule", "");
  set("program", "kept"); out.program = visible(); set("program", "");
  set("outcome", "advice"); out.outcome = visible(); set("outcome", "");
  set("text", "changed.py"); out.path = visible();
  out.files = Array.from(document.querySelectorAll("details.file")).filter(function (d) { return !d.hidden; }).length;
  set("text", ""); out.again = visible();
  document.querySelectorAll("details.diff").forEach(function (d) { d.open = true; });
  out.open = [document.documentElement.scrollWidth, window.innerWidth];
  out.outside = document.querySelectorAll("[src],link").length;
  var node = document.createElement("pre");
  node.id = "probe";
  node.textContent = JSON.stringify(out);
  document.body.appendChild(node);
});
</script>
"""


@pytest.fixture(scope="module")
def browser() -> str:
    """Debian's chromium, or a skip."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no chromium on this machine")
    return found


def chromium(
    browser: str, tmp_path: Path, *args: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path}/profile",
            *args,
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_filters_and_fits(
    report: Report, browser: str, tmp_path: Path, width: int
) -> None:
    page = render(report, "html", written=False).replace("</body>", PROBE + "</body>")
    file = tmp_path / "r.html"
    file.write_text(page, "utf-8")
    dom = chromium(
        browser, tmp_path, f"--window-size={width},900", "--dump-dom", file.as_uri()
    ).stdout
    probe = json.loads(
        dom.split('<pre id="probe">')[1]
        .split("</pre>")[0]
        .replace("&lt;", "<")
        .replace("&amp;", "&")
    )
    findings = report.findings
    assert probe["all"] == probe["again"] == len(findings)
    assert probe["rule"] == sum(f.rule == "TFM201" for f in findings) > 0
    assert probe["said"] == f"{probe['rule']} findings shown"
    assert (
        probe["program"] == sum(f.program is ProgramOutcome.KEPT for f in findings) > 0
    )
    assert probe["outcome"] == sum(f.outcome is Outcome.ADVICE for f in findings) > 0
    assert probe["path"] == sum(f.path.name == "changed.py" for f in findings)
    assert probe["files"] == 1
    for used, available in (probe["width"], probe["open"]):
        assert used <= available, "the page scrolls sideways"
    assert probe["outside"] == 0


def test_the_page_can_be_drawn(report: Report, browser: str, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    file.write_text(render(report, "html", written=False), "utf-8")
    picture = tmp_path / "r.png"
    chromium(
        browser,
        tmp_path,
        "--window-size=1000,1400",
        f"--screenshot={picture}",
        file.as_uri(),
    )
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 20_000


def test_a_program_counts_once_at_the_file_it_begins_in(tmp_path: Path) -> None:
    read = "def read():\n    return tf.Session().run(tf.read_file('a.csv'))\n"
    made = (
        f"import tensorflow as tf\n\n\n{read}\n\ndef make():\n    return tf.estimator."
    )
    texts = {
        "wide.py": made + "LinearClassifier([], what=1).train(read)\n",
        "deep.py": made + "DNNClassifier([1], [], what=1).train(read)\n",
        "train.py": "import wide, deep\n\nfor one in wide, deep:\n    one.make()\n",
        "serve.py": "import wide\n\nif __name__ == '__main__':\n    wide.make()\n",
        "test_wide.py": "import wide\n\n\ndef test():\n    wide.make()\n",
        "lonely.py": made + "LinearRegressor([], what=1).train(read)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    report = run_job(sorted(tmp_path.iterdir()), Job())
    begins = {path.name: program.outcome for path, program in report.programs}
    # What nothing runs is a program by itself; a test is none.
    names = ("train.py", "serve.py", "lonely.py")
    assert begins == dict.fromkeys(names, ProgramOutcome.KEPT)
    told = text_report(report, written=False, quiet=True)
    # First of all each is told, with its place, its reason, and what there is to read.
    assert told.startswith("3 training programs: 3 kept\n")
    serve = (
        rf"  {tmp_path}/serve.py: kept, \d+ lines to review\n    why: \S+/wide.py:9: `"
    )
    assert re.search(serve, told)
    assert "TFM201" not in told.partition(" findings: ")[0]
    page = render(report, "html", written=False)
    assert page.index("what would change it") < page.index("<form")


def test_annotations_of_github(report: Report) -> None:
    """A command for each finding, at lines of files; a notebook's lines are told."""
    told = render(report, "github", written=False).splitlines()
    marks = [line for line in told if line.startswith("::")]
    assert len(marks) == len(report.findings) + len(report.failed)
    assert [m for m in marks if "é ü.py,line=7,col=9,title=TFM201::`tf.log`" in m]
    assert [m for m in marks if "/n.ipynb,title=TFM101::cell " in m]
    assert [m for m in marks if m.startswith("::error") and "broken.py::line 2" in m]


def test_a_page_shows_old_and_new_side_by_side(tmp_path: Path) -> None:
    """Blank lines within a change part nothing; what is added stands alone."""
    text = "import tensorflow as tf\n\na = tf.log(1.0)\n\nb = tf.log(2.0)\nprint(a)\n"
    (tmp_path / "train.py").write_text(text)
    page = render(run_job([tmp_path / "train.py"], Job()), "html", written=False)
    sides = re.sub(r"</?[biu]>", "", page.partition('<div class="sides">')[2])
    assert sides.startswith("<p>line 1</p><pre>import tensorflow as tf\n</pre><pre>imp")
    change = "<del>a = tf.log(1.0)\n\nb = tf.log(2.0)</del>"
    assert f"{change}{change.replace('del', 'ins').replace('tf.', 'tf.math.')}" in sides


def test_added_modules_are_shown_beside_one_another(tmp_path: Path) -> None:
    """What a page has said of one it does not say of the next."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        program = (
            Path(__file__).parents[2] / "fixtures/legacy/iris_numpy_input/train.py"
        )
        shutil.copy(program, tmp_path / name / "train.py")
    report = run_job(sorted(tmp_path.rglob("*.py")), Job())
    assert len(report.added) == 2
    page = render(report, "html", written=False)
    assert page.count("class</b> Trainer") == 1
    assert "a/training.py</summary>" in page


def test_a_file_to_add_is_no_place_for_a_mark(tmp_path: Path) -> None:
    """It is counted apart, and no other tool is pointed to where there is nothing."""
    program = Path(__file__).parents[2] / "fixtures/legacy/iris_numpy_input/train.py"
    shutil.copy(program, tmp_path)
    report = run_job([tmp_path / "train.py"], Job())
    told = text_report(report, written=False)
    assert "1 file: 1 would change, 0 unchanged" in told
    assert "0 failed; 1 to add\n" in told
    assert "training.py:1:1 TFM107" in told
    for form in ("github", "sarif"):
        marks = render(report, form, written=False)
        assert "TFM101" in marks
        assert "TFM107::" not in marks
        assert '"TFM107"' not in marks


def test_what_stopped_a_proof_is_the_next_step(report: Report) -> None:
    open_ = Proof(Path("train.py"), ProofOutcome.OPEN, "it did not run")
    report = replace(report, proofs=(open_,))
    told = text_report(report, written=False, quiet=True)
    assert "next: mend what stopped a proof and prove again" in told
    told = text_report(report, written=True, quiet=True)
    assert "next: `tfmigrate undo`, mend what stopped a proof and prove again" in told
    assert "verify OLD NEW" not in told


def on_a_terminal(*arguments: str | Path, **environment: str) -> str:
    """What the command shows a person at a terminal."""
    main, side = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tfmigrate", *map(str, arguments)],
        stdout=side,
        stderr=subprocess.DEVNULL,
        env={**plain, "TERM": "xterm", **environment},
    )
    os.close(side)
    parts = []
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    os.close(main)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    """And the words are the same in all."""
    (tmp_path / "a.py").write_text(SOURCE)
    piped = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "scan", tmp_path],
        capture_output=True,
        text=True,
    ).stdout
    shown = on_a_terminal("scan", tmp_path)
    assert "\x1b[36mTFM201\x1b[0m" in shown
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == piped
    assert "\x1b" not in piped
    assert on_a_terminal("scan", tmp_path, NO_COLOR="1") == piped
    assert on_a_terminal("scan", tmp_path, TERM="dumb") == piped
    diff = on_a_terminal("rewrite", tmp_path, "--diff")
    assert "\x1b[31m-    y = tf.log(x)" in diff
    assert "\x1b" not in on_a_terminal("scan", tmp_path, "--format", "json")
