# What src/images.cpp defines.

import os
from typing import Union

import numpy

def load_map(path: "Union[str, os.PathLike[str]]", channel: str) -> numpy.ndarray: ...
def load_image(path: "Union[str, os.PathLike[str]]") -> numpy.ndarray: ...
def end_calls() -> None: ...
