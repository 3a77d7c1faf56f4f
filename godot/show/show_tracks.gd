class_name ShowTracks
extends RefCounted
## Numbers in the course of a round, from its start to its end: where an agent was, and whatever
## else its game records, by name.

## Moments of the round that the numbers are of.
var seconds := PackedFloat32Array()

var _numbers: Dictionary[String, PackedFloat32Array] = {}


## Reads lists of numbers by name, among them [code]seconds[/code], as src/godojo/show/shots.py
## writes them.
func _init(fields: Dictionary) -> void:
	for name: String in fields:
		_numbers[name] = PackedFloat32Array(fields[name] as Array)
	seconds = _numbers.get("seconds", seconds)


## Index of the last moment up to [param second]; -1 where there is none.
func until(second: float) -> int:
	return seconds.bsearch(second, false) - 1


## A number at a moment, by its index; 0 where it was not recorded.
func number(name: String, index: int) -> float:
	var numbers: PackedFloat32Array = _numbers.get(name, PackedFloat32Array())
	return numbers[clampi(index, 0, numbers.size() - 1)] if not numbers.is_empty() else 0.0


## A number between two moments.
func between(name: String, second: float) -> float:
	var before: int = clampi(until(second), 0, maxi(seconds.size() - 2, 0))
	if seconds.size() < 2:
		return number(name, 0)
	var share: float = inverse_lerp(seconds[before], seconds[before + 1], second)
	return lerpf(number(name, before), number(name, before + 1), clampf(share, 0.0, 1.0))


## Where the agent was at a moment: the middle of its collider.
func place(index: int) -> Vector3:
	return Vector3(number("x", index), number("y", index), number("z", index))
