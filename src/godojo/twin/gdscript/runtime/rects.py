"""`Rect2`: a corner and a size, of 32-bit floats."""

from godojo.twin.gdscript.runtime.vector2 import Vector2


class Rect2:
    """An axis-aligned rectangle."""

    __slots__ = ("_position", "_size")

    def __init__(self, position=Vector2(), size=Vector2()):  # noqa: B008 - values
        self._position, self._size = position, size

    @property
    def position(self):
        return self._position

    @property
    def size(self):
        return self._size

    @property
    def end(self):
        return self._position + self._size

    def __eq__(self, other):
        return self._position == other._position and self._size == other._size

    def __ne__(self, other):
        return not (self._position == other._position and self._size == other._size)

    __hash__ = None  # type: ignore[assignment]

    def with_position(self, v):
        return Rect2(v, self._size)

    def with_size(self, v):
        return Rect2(self._position, v)

    def with_end(self, v):
        return Rect2(self._position, v - self._position)

    def get_center(self):
        return self._position + self._size * 0.5

    def get_area(self):
        return self._size.x * self._size.y

    def has_area(self):
        return self._size._x > 0.0 and self._size._y > 0.0

    def has_point(self, point):
        start = self._position
        if point._x < start._x or point._y < start._y:
            return False
        return point._x < start._x + self._size._x and point._y < start._y + self._size._y

    def intersects(self, other):
        start, size, there, extent = self._position, self._size, other._position, other._size
        if start._x >= there._x + extent._x or start._x + size._x <= there._x:
            return False
        return not (start._y >= there._y + extent._y or start._y + size._y <= there._y)

    def encloses(self, other):
        start, there = self._position, other._position
        end, other_end = self.end, other.end
        if there._x < start._x or there._y < start._y:
            return False
        return other_end._x <= end._x and other_end._y <= end._y

    def grow(self, by):
        way = Vector2(by, by)
        return Rect2(self._position - way, self._size + way * 2.0)

    def abs(self):
        return Rect2(self._position + self._size.min(Vector2(0.0, 0.0)), self._size.abs())
