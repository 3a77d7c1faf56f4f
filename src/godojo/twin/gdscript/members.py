"""The compiled form of a script's instance: a struct of its members, held by reference."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba import njit, types
from numba.experimental import structref

from godojo.twin.gdscript.runtime.chance import random_type
from godojo.twin.gdscript.runtime.vector_types import VECTOR_TYPES

_TYPES = {
    "bool": types.boolean,
    "int": types.int64,
    "float": types.float64,
    "RandomNumberGenerator": random_type,
    **{cls.__name__: kind for cls, kind in VECTOR_TYPES.items()},
}


def members_type(module: ModuleType) -> Callable[[], Any]:
    """Gives a generated module the type of its instances, and returns the function that makes one."""
    if "new_instance" in vars(module):
        return vars(module)["new_instance"]  # type: ignore[no-any-return]
    members = vars(module)["MEMBERS"]
    fields = [(name, _numba_type(text)) for name, text in members.items()] or [("nothing", types.boolean)]
    # Both classes are attributes of the module, where Numba's cache looks for them.
    kind = type("InstanceType", (types.StructRef,), {"__module__": module.__name__})
    proxy = type("Instance", (structref.StructRefProxy,), {"__module__": module.__name__})
    structref.register(kind)  # type: ignore[no-untyped-call]
    structref.define_boxing(kind, proxy)  # type: ignore[no-untyped-call]
    instance_type, init = kind(fields), vars(module)["_init"]

    @njit
    def new_instance() -> Any:
        made: Any = structref.new(instance_type)  # type: ignore[call-arg]
        init(made)
        return made

    vars(module).update(InstanceType=kind, Instance=proxy, new_instance=new_instance)
    return new_instance  # type: ignore[no-any-return]


def _numba_type(text: str) -> Any:
    if text.startswith("Array["):
        return types.ListType(_numba_type(text[6:-1]))  # type: ignore[no-untyped-call]
    return _TYPES[text]
