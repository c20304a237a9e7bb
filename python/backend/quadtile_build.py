"""Build backend that pyproject.toml names (PEP 517): builds the wheel of the package.

CMake builds the modules and installs the component quadtile_python, as for cpack; the backend makes a wheel of the
installed files. It needs only the standard library, so `pip install .` works without the network, also with pip's
isolated builds, and only python/CMakeLists.txt lists the package's files. setuptools would need a second list, and
scikit-build-core is not in Debian 12.

The build folder build/wheel-... stays, so a second build compiles only changes.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _version():
    return re.search(r"project\(quadtile VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def _metadata():
    return f"""Metadata-Version: 2.1
Name: quadtile
Version: {_version()}
Summary: Adaptive tile subdivision on the GPU
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: plot
Requires-Dist: matplotlib; extra == "plot"
Description-Content-Type: text/markdown

""" + (ROOT / "docs/python.md").read_text()


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _install(prefix):
    """Builds the package and installs it into a folder."""
    build = ROOT / "build" / f"wheel-{_tag()}"
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    off = [f"-DQUADTILE_BUILD_{part}=OFF" for part in ("APPS", "TESTS", "BENCH")]
    for command in (
        ["cmake", "-S", ROOT, "-B", build, *ninja, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", *off,
         "-DQUADTILE_BUILD_PYTHON=ON", "-DQUADTILE_PYTHON_DIR=.", f"-DPython3_EXECUTABLE={sys.executable}"],
        ["cmake", "--build", build, "--target", "quadtile_python", "--parallel", str(os.cpu_count())],
        ["cmake", "--install", build, "--component", "quadtile_python", "--prefix", prefix, "--strip"],
    ):
        subprocess.run(command, check=True)


def _info_folder():
    return f"quadtile-{_version()}.dist-info"


def _info():
    """Returns the metadata files of the wheel: name, contents."""
    wheel = f"Wheel-Version: 1.0\nGenerator: quadtile_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return [("METADATA", _metadata().encode()), ("WHEEL", wheel.encode()), ("LICENSE", (ROOT / "LICENSE").read_bytes())]


def _write(folder, files):
    """Writes a wheel of (path, contents) into a folder. Returns its name."""
    name = f"quadtile-{_version()}-{_tag()}.whl"
    info = _info_folder()
    files = [*files, *((f"{info}/{file}", contents) for file, contents in _info())]
    record = ""
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, contents in files:
            archive.writestr(path, contents)
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(contents)}\n"
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        _install(prefix)
        files = [path for path in sorted(prefix.rglob("*")) if path.is_file()]
        return _write(wheel_directory, [(str(path.relative_to(prefix)), path.read_bytes()) for path in files])


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, _info_folder())
    folder.mkdir()
    for file, contents in _info():
        (folder / file).write_bytes(contents)
    return folder.name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source distribution: build a wheel in a checkout of the repository")
