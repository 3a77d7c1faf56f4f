class_name TagSpawns
extends RefCounted
## Chooses where a round begins: bodies apart from each other, opponents far apart and out of sight.


## A place on the ground for each agent of [param world]. Looks at a number of random placings and
## takes the first that is wholly fair, or else the best.
static func choose(world: TagWorld) -> Array[Vector3]:
	var best: Array[Vector3] = []
	var best_worth: float = -INF
	for _try in world.settings.spawns.tries:
		var places: Array[Vector3] = []
		for agent in world.agents:
			places.append(_random_place(world, agent.role))
		var worth: float = _worth(world, places)
		if worth > best_worth:
			best_worth = worth
			best = places
		if worth >= 0.0:
			break
	return best


## Zero when bodies are apart and opponents are far apart and hidden from each other; less the worse
## it is.
static func _worth(world: TagWorld, places: Array[Vector3]) -> float:
	var worth: float = 0.0
	var size_m: float = world.settings.body.size_m
	var eye := Vector3.UP * (size_m * 0.5 + world.settings.sight.eye_height_m)
	for one in places.size():
		for other in one:
			var gap: Vector3 = (places[one] - places[other]).abs()
			if maxf(gap.x, maxf(gap.y, gap.z)) < size_m + world.settings.rules.touch_reach_m * 2.0:
				worth -= 1000.0
			if world.agents[one].is_seeker_like == world.agents[other].is_seeker_like:
				continue
			worth -= maxf(world.settings.spawns.distance_m - gap.length(), 0.0) * 10.0
			if not world.arena.blocks_sight(places[one] + eye, places[other] + eye):
				worth -= 10.0
	return worth


static func _random_place(world: TagWorld, role: StringName) -> Vector3:
	var areas: Array[SpawnArea] = []
	var weight: float = 0.0
	for area in world.arena.spawns:
		if area.admits(role):
			areas.append(area)
			weight += _weight(area)
	var pick: float = world.rng.randf() * weight
	for area in areas:
		pick -= _weight(area)
		if pick <= 0.0 or area == areas[-1]:
			var x: float = world.rng.randf_range(-0.5, 0.5) * area.size.x
			var z: float = world.rng.randf_range(-0.5, 0.5) * area.size.y
			return area.position + Vector3(x, 0.0, z)
	return Vector3.ZERO


## Large areas are chosen more often; a single point still is, now and then.
static func _weight(area: SpawnArea) -> float:
	return area.size.x * area.size.y + 1.0
