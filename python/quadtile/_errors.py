"""The exceptions of the package."""


class Error(Exception):
    """What failed, where, and what to do about it, in one sentence.

    Attributes:
        code: the kind of failure: "invalid_argument" (then it is an ArgumentError), "unsupported" (the device or this
            build cannot do it), "no_device", "out_of_memory", "device_lost" (the next call makes the device anew; make
            new Services yourself), "cancelled" (the service or the interpreter was shut down), "deadline_exceeded",
            "vulkan" (another failure of Vulkan).
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
