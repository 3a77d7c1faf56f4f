"""How the tree of a whole program may change while the game runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.whole_types import WholeTypes

if TYPE_CHECKING:
    from godojo.twin.scene.snapshot import Snapshot


class WholeTree(WholeTypes):
    """Which nodes scripts make, add and free, by class."""

    def __init__(self, snapshot: Snapshot, read_source: Callable[[str], str]) -> None:
        super().__init__(snapshot, read_source)
        self.is_dynamic = snapshot.pools is not None
        """Whether the tree may change; otherwise code that changes it is a stop."""
        self.made: set[str] = set()
        """The names of templates that scripts make nodes of."""
        self.seen: set[str] = set()
        """Those of which nothing is made after all: they are only seen."""
        self.freed: set[LiveClass] = set()
        self.adopted: set[tuple[LiveClass, LiveClass]] = set()
        """Parents, and children that are added to them."""

    def make(self, name: str) -> None:
        self.news |= name not in self.made
        self.made.add(name)

    def free(self, classes: Iterable[LiveClass]) -> None:
        self.news |= not self.freed.issuperset(classes)
        self.freed |= set(classes)

    def adopt(self, parents: list[LiveClass], children: list[LiveClass]) -> None:
        pairs = {(parent, child) for parent in parents for child in children}
        self.news |= not self.adopted.issuperset(pairs)
        self.adopted |= pairs

    def may_go(self, cls: LiveClass) -> bool:
        """Whether nodes of a class may be freed."""
        return cls in self.freed or any(cls is child for _, child in self.adopted)

    def may_move(self, cls: LiveClass) -> bool:
        """Whether a node's parent is not what the snapshot says."""
        return self.is_dynamic and any(one in self.tree.pool_roots for one in cls.nodes)

    def may_change(self, cls: LiveClass) -> bool:
        """Whether a node's children may change."""
        if not self.is_dynamic:
            return False
        if any(parent is cls for parent, _ in self.adopted):
            return True
        below = {self.tree.class_of[child] for node in cls.nodes for child in self.tree.children[node]}
        return not self.freed.isdisjoint(below)

    def parents_of(self, classes: Iterable[LiveClass]) -> list[LiveClass]:
        wanted = set(classes)
        found = {
            self.tree.class_of[self.tree.nodes[node].parent]: None
            for cls in classes
            for node in cls.nodes
            if self.tree.nodes[node].parent >= 0 and node not in self.tree.pool_roots
        }
        found |= dict.fromkeys(parent for parent, child in sorted(self.adopted, key=_names) if child in wanted)
        return list(found)

    def children_of(self, classes: Iterable[LiveClass]) -> list[LiveClass]:
        wanted = set(classes)
        found = {
            self.tree.class_of[child]: None
            for cls in classes
            for node in cls.nodes
            for child in self.tree.children[node]
        }
        found |= dict.fromkeys(child for parent, child in sorted(self.adopted, key=_names) if parent in wanted)
        return list(found)


def _names(pair: tuple[LiveClass, LiveClass]) -> tuple[str, str]:
    return pair[0].name, pair[1].name
