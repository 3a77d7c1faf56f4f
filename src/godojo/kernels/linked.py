"""How functions are compiled that only other compiled functions call.

Numba optimizes a function and makes machine code of it, together with all that it calls, and again within each of its
callers. Of functions with `pipeline_class=Linked` that is left to the outermost caller.
"""

# mypy: ignore-errors
# Numba's compiler has no types.

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Codegen:
    """Notes nothing about functions that are never called from Python."""

    def set_env(self, name, env):
        pass


class _Library(JITCodeLibrary):
    """A function as it was lowered, to be linked into others."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):  # noqa: ARG002 - as its base
        return 0

    @property
    def codegen(self):
        return _Codegen()


class Linked(Compiler):
    """Compiles a function into a library that only links."""

    def define_pipelines(self):
        codegen = self.state.targetctx.codegen()
        self.state.library = _Library(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()
