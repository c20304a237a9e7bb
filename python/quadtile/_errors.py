"""The exceptions of the package."""


class Error(Exception):
    """A failure: its description, place and remedy in one sentence.

    Attributes:
        code: the kind of failure: "invalid_argument" (an ArgumentError), "unsupported" (by the device or this
            build), "no_device", "out_of_memory", "device_lost" (the next call makes the device anew; make new Services
            yourself), "cancelled" (by the shutdown of the service or the interpreter), "deadline_exceeded", "vulkan"
            (another failure of Vulkan).
        result: the VkResult of the Vulkan call that failed; 0 if none did.
    """

    def __init__(self, message: str, code: str = "vulkan", result: int = 0):
        super().__init__(message)
        self.code = code
        self.result = result

    def __reduce__(self):
        return type(self), (str(self), self.code, self.result)


class ArgumentError(Error, ValueError):
    """An argument that cannot be used: an Error with the code "invalid_argument", and a ValueError."""


Error.__module__ = ArgumentError.__module__ = "quadtile"
