"""The kernels of embedded games on a GPU: the functions that the CPU runs, compiled for CUDA.

A GPU runs one thread a world. Products and sums are not fused, and roots and quotients are exact, so that a world plays
the same round on both. numba-cuda is an extra (`godojo[cuda]`) and imported when a GPU is asked for.
"""

import contextlib
import dis
import importlib
import os
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.extras import is_installed, missing

THREADS = 64
"""Threads of a block: worlds."""
IS_SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
"""Numba's simulator runs CUDA kernels in Python, on the CPU: for tests."""
OLDEST_CAPABILITY = (7, 0)


def load() -> Any:
    """The module `numba.cuda`, ready for use; GodojoError says what is missing."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda 0.30 still uses it, NumPy 2.5 has none
    if not IS_SIMULATED and not is_installed("cuda"):
        raise missing("cuda")
    cuda: Any = importlib.import_module("numba.cuda")
    if IS_SIMULATED:
        return cuda
    try:
        is_available = cuda.is_available()
    except Exception as error:  # the driver's own errors are of many kinds
        raise GodojoError(f"CUDA does not start: {_line(error)}; update NVIDIA's driver, or use device='cpu'") from None
    if not is_available:
        raise GodojoError("there is no GPU of NVIDIA, or no driver for it (`nvidia-smi` shows both); use device='cpu'")
    capability = cuda.get_current_device().compute_capability
    if tuple(capability) < OLDEST_CAPABILITY:
        wanted = ".".join(map(str, OLDEST_CAPABILITY))
        raise GodojoError(f"the GPU is too old: compute capability {capability[0]}.{capability[1]}, not {wanted}")
    return cuda


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class Compiler:
    """Compiles kernels for the GPU: each function once, with everything that it calls."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._made: dict[Any, Any] = {}

    def device_function(self, function: Any) -> Any:
        """The GPU's version of a `device_kernel`."""
        plain = getattr(function, "py_func", function)
        if plain not in self._made:
            self._made[plain] = self._cuda.jit(device=True, fastmath=False)(self._relinked(plain))
        return self._made[plain]

    def kernel(self, function: Callable[..., None]) -> Any:
        """A kernel of a plain function, whose first argument is the number of the thread, the world's number."""
        cuda, body = self._cuda, self.device_function(function)
        return _launched(cuda, body, function.__code__.co_argcount - 1)

    def _relinked(self, function: Any) -> Any:
        """A copy of the function that calls the GPU's versions."""
        names = {**function.__globals__}
        for name in {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}:
            if hasattr(names.get(name), "py_func"):
                names[name] = self.device_function(names[name])
        copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
        return copy


def _launched(cuda: Any, body: Any, count: int) -> Any:
    """The entry of a kernel. Numba takes no variable number of arguments there, so it is written for their number."""
    given = ", ".join(f"a{number}" for number in range(count))
    source = (
        f"def entry(worlds, {given}):\n    index = cuda.grid(1)\n    if index < worlds:\n        body(index, {given})\n"
    )
    names: dict[str, Any] = {"cuda": cuda, "body": body}
    exec(source, names)  # noqa: S102  # a fixed text but for the number of arguments
    return cuda.jit(fastmath=False)(names["entry"])


@contextlib.contextmanager
def without_fma(cuda: Any) -> Iterator[None]:
    """Compiles without fused multiply-add, for which Numba has no option."""
    if IS_SIMULATED:
        yield
        return
    nvvm = cuda.cudadrv.nvvm
    usual = nvvm.compile_ir

    def compile_ir(llvmir: Any, **options: Any) -> Any:
        return usual(llvmir, **{"fma": False, **options})

    nvvm.compile_ir = compile_ir
    try:
        yield
    finally:
        nvvm.compile_ir = usual


class Launcher:
    """Runs a kernel over all worlds; the first launch compiles it."""

    def __init__(self, cuda: Any, compiler: Compiler, function: Callable[..., None]) -> None:
        self._cuda, self._kernel, self._is_new = cuda, compiler.kernel(function), True

    def __call__(self, worlds: int, arrays: Sequence[Any]) -> None:
        launch = self._kernel[-(-worlds // THREADS), THREADS]
        if not self._is_new:
            launch(worlds, *arrays)
            return
        with without_fma(self._cuda):
            launch(worlds, *arrays)
        self._is_new = False
