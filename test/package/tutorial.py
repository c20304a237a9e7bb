"""Follows docs/tutorial_renderer.md in a folder with the sources, an installed quadtile and the built example:

    tutorial.py SOURCES PREFIX RENDERER_BUILD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sources, prefix, renderer = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
page = (sources / "docs/tutorial_renderer.md").read_text(encoding="utf-8")
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # the page's python3
for name, target in {"apps": sources / "apps", "build/quadtile": prefix, "build/renderer": renderer}.items():
    pathlib.Path(name).parent.mkdir(exist_ok=True)
    pathlib.Path(name).symlink_to(target)


# The code that the page shows stands in the example.
def without_indent(text):
    return "\n".join(line.strip() for line in text.splitlines())


files = [without_indent(file.read_text(encoding="utf-8")) for file in (sources / "examples/renderer").rglob("*.*")]
shown = re.findall(r"```(?:cpp|glsl)\n(.*?)```", page, re.DOTALL)
assert shown
for code in shown:
    if not any(without_indent(code) in file for file in files):
        sys.exit("the example does not have this code of the page:\n" + code)

# The commands after step 1, which builds. No window opens.
pathlib.Path("tiles.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
counts = []
steps = re.sub(r"```.*?```", "", page[page.index("## 2.") :], flags=re.DOTALL)
for command in re.findall(r"^    (.*)$", steps, re.MULTILINE):
    print("$", command, flush=True)
    command += " --screenshot window.png" if "quadtile-viewer" in command else ""
    said = subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    print(said, end="", flush=True)
    counts += re.findall(r"([1-9][0-9]* tiles, [1-9][0-9]* rays)", said)
# The list on the GPU is that of the map that was written.
assert len(counts) >= 3 and len(set(counts)) == 1, counts
