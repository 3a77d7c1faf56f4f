extends Node
## A world that notes how often its first agent had been reset whenever it was reset itself.

var resets_seen: Array[int] = []


func reset_world(_chance: RandomNumberGenerator) -> void:
	var resets: int = get_child(0).get("resets")
	resets_seen.append(resets)
