"""The code that docs/python.md and README.md print, run in its order: a page that promises what is not so."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_printed_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert blocks
    names = {}
    for block in blocks:
        # Line numbers of failures are the page's.
        line = text.count("\n", 0, block.start()) + 1
        exec(compile("\n" * line + block[1], page, "exec"), names)
