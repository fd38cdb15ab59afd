"""Every output of every command is checked before the inputs are read: an invalid one costs no work."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prnet_core.cli.main import app

MISSING = "no_such_input"
# (command with inputs that are not there, its output option, kind of the output)
OUTPUTS = [
    (("evaluate", "--data", MISSING), "--json", "file"),
    (("figure", "keypoints", "--data", MISSING), "--out", "picture"),
    (("fine-tune", MISSING), "--out", "file"),
    (("map", MISSING, "--out", "{folder}/map"), "--picture", "picture"),
    (("map", MISSING), "--out", "map"),
    (("merge", MISSING, MISSING), "--out", "map"),
    (("odometry", MISSING), "--out", "file"),
    (("odometry", MISSING), "--picture", "picture"),
    (("register", MISSING, MISSING), "--save", "cloud"),
    (("register", MISSING, MISSING), "--view", "picture"),
    (("reproduce", "hard", "--data", MISSING), "--out", "folder"),
    (("train", "--config", MISSING), "--out", "folder"),
]
SUFFIX = {"file": ".tum", "picture": ".png", "cloud": ".ply", "map": "", "folder": ""}
IDS = [f"{arguments[0]}{option}" for arguments, option, _ in OUTPUTS]


def refused(arguments, option, target, folder):
    """What the command says on stderr; it must end with code 2 and one line."""
    words = [word.format(folder=folder) for word in arguments]
    result = CliRunner().invoke(app, [*words, option, str(target)])
    assert result.exit_code == 2, result.output
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    return result.stderr


def test_the_table_covers_every_output():
    named = {(arguments[0], option) for arguments, option, _ in OUTPUTS}
    for name, command in get_command(app).commands.items():
        for parameter in command.params:
            words = str(getattr(parameter, "help", "")).lower()
            is_path = parameter.name in ("out", "picture", "save", "view") or (
                parameter.name == "json" and not parameter.is_flag
            )
            assert not is_path or (name, parameter.opts[0]) in named, f"{name} {parameter.opts[0]}: {words}"


@pytest.mark.parametrize("arguments, option, kind", OUTPUTS, ids=IDS)
def test_a_file_in_the_way_of_the_folder(arguments, option, kind, tmp_path):
    (tmp_path / "file").write_text("kept")
    target = tmp_path / "file" / f"a{SUFFIX[kind]}"
    assert str(target) in refused(arguments, option, target, tmp_path)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("arguments, option, kind", OUTPUTS, ids=IDS)
def test_something_else_in_the_way(arguments, option, kind, tmp_path):
    target = tmp_path / f"a{SUFFIX[kind]}"
    if kind in ("folder", "map"):
        target.write_text("kept")
    else:
        target.mkdir()
    assert str(target) in refused(arguments, option, target, tmp_path)


@pytest.mark.parametrize("arguments, option, kind", OUTPUTS, ids=IDS)
def test_a_missing_parent(arguments, option, kind, tmp_path):
    """A file is not written into a folder that may be misspelt; folders of results are made."""
    target = tmp_path / "missing" / f"a{SUFFIX[kind]}"
    text = refused(arguments, option, target, tmp_path)
    assert (MISSING if kind == "folder" else str(target)) in text
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("arguments, option, kind", OUTPUTS, ids=IDS)
def test_links_in_a_circle(arguments, option, kind, tmp_path):
    target = tmp_path / f"a{SUFFIX[kind]}"
    target.symlink_to(target)
    assert str(target) in refused(arguments, option, target, tmp_path)
    assert target.is_symlink()


def test_a_disk_on_which_nothing_can_be_written(tmp_path):
    """A limit on the size of files stands for a full disk: a file can be made, and nothing written into it."""
    calls = [
        [*(word.format(folder=tmp_path) for word in arguments), option, str(tmp_path / f"a{SUFFIX[kind]}")]
        for arguments, option, kind in OUTPUTS
    ]
    code = (
        "import json, sys; from typer.testing import CliRunner; from prnet_core.cli.main import app\n"
        "results = [CliRunner().invoke(app, call) for call in json.loads(sys.argv[1])]\n"
        "print(json.dumps([(result.exit_code, result.stderr) for result in results]))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, json.dumps(calls)], preexec_fn=no_file_grows, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for call, (exit_code, text) in zip(calls, json.loads(done.stdout), strict=True):
        assert exit_code == 2 and str(tmp_path) in text and len(text.strip().splitlines()) == 1, (call, text)
    assert not list(tmp_path.iterdir())


def no_file_grows():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("arguments, option, kind", OUTPUTS, ids=IDS)
def test_a_folder_without_permission(arguments, option, kind, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    target = tmp_path / "closed" / f"a{SUFFIX[kind]}"
    assert str(target) in refused(arguments, option, target, tmp_path)


def test_pictures_and_clouds_of_an_unknown_kind(tmp_path):
    for arguments, option, kind in OUTPUTS:
        if kind in ("picture", "cloud"):
            target = tmp_path / "a.docx"
            assert str(target) in refused(arguments, option, target, tmp_path)


def test_a_table_and_its_markdown_are_two_files(tmp_path):
    assert "name a .json file" in refused(("evaluate", "--data", MISSING), "--json", tmp_path / "a.md", tmp_path)
