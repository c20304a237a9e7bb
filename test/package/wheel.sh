#!/usr/bin/env bash
# Makes the wheel, checks its size, installs it into an environment of its own and runs the tests of the package there:
# wheel.sh PYTHON SOURCE_DIR DIR. As docs/python.md says; without the network.
set -euo pipefail

python=$1
source=$2
directory=$3

"$python" -c "import pip, venv" || { echo "SKIPPED: pip or venv is missing (Debian: python3-pip, python3-venv)"; exit 0; }
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
"$python" -m pip wheel --no-index --no-deps --wheel-dir "$directory" "$source"
size_bytes=$(stat --format=%s quadtile-*.whl)
echo "$size_bytes bytes: $(echo quadtile-*.whl)"
((size_bytes < 20000000)) || { echo "the wheel is larger than 20 MB"; exit 1; }
"$python" -m venv --system-site-packages environment
environment/bin/python -m pip install --no-index quadtile-*.whl
environment/bin/python -c 'import quadtile; assert "environment" in quadtile.__file__, quadtile.__file__'
PYTHONPATH= environment/bin/python "$source/test/python/run.py" "$source/test/python" \
    --ignore="$source/test/python/test_memory.py"
