"""Runs pytest, or says why it does not."""

import sys

try:
    import numpy  # noqa: F401
    import pytest
except ImportError as error:
    print(f"SKIPPED: {error}, for {sys.executable} (Debian: python3-numpy, python3-pytest)")
    sys.exit(0)
# Python's handler of SIGSEGV is not wanted: the lane gate has its own.
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--durations=8", *sys.argv[1:]]))
