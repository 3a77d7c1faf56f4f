class_name DojoObservationLayout
extends RefCounted
## What observations and actions are made of, in the words of the wire.
##
## An observation part is [code]{"name", "shape", "kind", "low", "high"}[/code], an action part
## [code]{"name", "kind", "size"}[/code]; a role lists its parts in order.


## Some numbers of an observation that belong together, each from [param low] to [param high].
static func numbers(name: String, count: int, low: float = -1.0, high: float = 1.0) -> Dictionary:
	return {"name": name, "shape": [count], "kind": "box", "low": low, "high": high}


## Numbers with more than one dimension, the last one changing fastest.
static func grid(
	name: String, shape: Array[int], low: float = 0.0, high: float = 1.0
) -> Dictionary:
	return {"name": name, "shape": shape, "kind": "box", "low": low, "high": high}


## A picture: rows, columns, channels, each number from 0 to 1.
static func picture(name: String, rows: int, columns: int, channels: int) -> Dictionary:
	var shape: Array[int] = [rows, columns, channels]
	return {"name": name, "shape": shape, "kind": "image", "low": 0.0, "high": 1.0}


## Numbers from -1 to 1 that an agent does something with, such as a direction. At [param rest]
## nothing is done with them: that is where an untrained policy begins.
static func move(name: String, count: int, rest: float = 0.0) -> Dictionary:
	var part: Dictionary = {"name": name, "kind": "continuous", "size": count}
	if rest != 0.0:
		part["rest"] = rest
	return part


## One of several choices; it arrives as its index, from 0 to [param count] - 1.
static func choice(name: String, count: int) -> Dictionary:
	return {"name": name, "kind": "discrete", "size": count}


## Gives parts with the same name names of their own, such as Eyes and Eyes_2.
static func tell_apart(parts: Array[Dictionary]) -> void:
	var seen: Dictionary[String, int] = {}
	for part in parts:
		var name: String = part["name"]
		seen[name] = seen.get(name, 0) + 1
		if seen[name] > 1:
			part["name"] = "%s_%d" % [name.left(58), seen[name]]


## How many numbers these observation parts have together.
static func observation_size(parts: Array) -> int:
	var size: int = 0
	for part: Dictionary in parts:
		var product: int = 1
		for extent: int in part["shape"]:
			product *= extent
		size += product
	return size


## How many numbers an action of these parts has: a choice is one.
static func action_size(parts: Array) -> int:
	var size: int = 0
	for part: Dictionary in parts:
		size += int(part["size"]) if part["kind"] == "continuous" else 1
	return size
