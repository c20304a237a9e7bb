"""Recipe of Conan 2 for the libraries without image files: conan create . (not tested)

glslc and spirv-val must be on PATH.
"""

import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Quadtile(ConanFile):
    name = "quadtile"
    description = "Adaptive tile subdivision on the GPU"
    settings = "os", "compiler", "build_type", "arch"
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "kernels/*", "lib/*"
    requires = "vulkan-headers/1.3.239.0"

    def set_version(self):
        text = pathlib.Path(self.recipe_folder, "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(quadtile VERSION (\S+)", text)[1]

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_APPS", "BUILD_IMAGES", "BUILD_PYTHON", "BUILD_TESTS", "BUILD_BENCH", "RUNTIME_GLSL"):
            toolchain.cache_variables["QUADTILE_" + part] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/quadtile"]
