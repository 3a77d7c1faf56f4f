class_name TagSpawns
extends RefCounted
## Chooses where a round begins: bodies apart from each other, opponents far apart and out of sight.

## Places drawn for one body before a placing is given up.
const DRAWS := 32
## Placings drawn before an arena is taken to have no room.
const PLACINGS := 200


## What keeps as many bodies as [param settings] ask for from starting apart in [param arena], or an
## empty text.
static func complaint_about(arena: ArenaData, settings: TagSettings) -> String:
	if not _any_placing(arena, settings).is_empty():
		return ""
	var count: int = settings.agent_count()
	return "%s: spawns: no room for %d bodies to start apart" % [arena.name, count]


## How far apart bodies begin, along one axis at least.
static func apart_m(settings: TagSettings) -> float:
	return settings.body.size_m + settings.rules.touch_reach_m * 2.0


## A place on the ground for each agent of [param world]. Looks at a number of random placings and
## takes the first that is wholly fair, or else the best. Bodies never overlap.
static func choose(world: TagWorld) -> Array[Vector3]:
	var best: Array[Vector3] = []
	var best_worth: float = -INF
	var roles: Array[StringName] = world.rules.roles(world.settings)
	for _try in world.settings.spawns.tries:
		var places: Array[Vector3] = _placing(world.arena, world.settings, roles, world.rng)
		if places.is_empty():
			continue
		var worth: float = _worth(world, places)
		if worth > best_worth:
			best_worth = worth
			best = places
		if worth >= 0.0:
			break
	return best if not best.is_empty() else _any_placing(world.arena, world.settings)


## Some placing with bodies apart, always the same one; empty when there is no room.
static func _any_placing(arena: ArenaData, settings: TagSettings) -> Array[Vector3]:
	var rng := RandomNumberGenerator.new()
	rng.seed = 1
	var roles: Array[StringName] = TagRules.make(settings).roles(settings)
	for _try in PLACINGS:
		var places: Array[Vector3] = _placing(arena, settings, roles, rng)
		if not places.is_empty():
			return places
	return []


## Random places, all apart; empty when one body found none.
static func _placing(
	arena: ArenaData, settings: TagSettings, roles: Array[StringName], rng: RandomNumberGenerator
) -> Array[Vector3]:
	var least_m: float = apart_m(settings)
	var places: Array[Vector3] = []
	for role in roles:
		var place: Vector3 = _free_place(arena, role, rng, places, least_m)
		if not place.is_finite():
			return []
		places.append(place)
	return places


## A random place apart from those in [param taken]; infinite when none was found.
static func _free_place(
	arena: ArenaData,
	role: StringName,
	rng: RandomNumberGenerator,
	taken: Array[Vector3],
	least_m: float
) -> Vector3:
	for _draw in DRAWS:
		var place: Vector3 = _random_place(arena, role, rng)
		if _is_free(place, taken, least_m):
			return place
	return Vector3.INF


static func _is_free(place: Vector3, taken: Array[Vector3], least_m: float) -> bool:
	for other in taken:
		var gap: Vector3 = (place - other).abs()
		if maxf(gap.x, maxf(gap.y, gap.z)) < least_m:
			return false
	return true


## Zero when opponents are apart, not too far, and hidden from each other; less the worse it is.
static func _worth(world: TagWorld, places: Array[Vector3]) -> float:
	var worth: float = 0.0
	var settings: TagSettings = world.settings
	var eye := Vector3.UP * (settings.body.size_m * 0.5 + settings.sight.eye_height_m)
	for one in places.size():
		for other in one:
			if world.agents[one].is_seeker_like == world.agents[other].is_seeker_like:
				continue
			var gap: Vector3 = places[one] - places[other]
			var apart: float = gap.length()
			worth -= maxf(settings.spawns.distance_m - apart, 0.0) * 10.0
			worth -= maxf(apart - settings.spawns.farthest_m, 0.0)
			if not world.arena.blocks_sight(places[one] + eye, places[other] + eye):
				worth -= 10.0
	return worth


static func _random_place(
	arena: ArenaData, role: StringName, rng: RandomNumberGenerator
) -> Vector3:
	var areas: Array[SpawnArea] = []
	var weight: float = 0.0
	for area in arena.spawns:
		if area.admits(role):
			areas.append(area)
			weight += _weight(area)
	var pick: float = rng.randf() * weight
	for area in areas:
		pick -= _weight(area)
		if pick <= 0.0 or area == areas[-1]:
			var x: float = rng.randf_range(-0.5, 0.5) * area.size.x
			var z: float = rng.randf_range(-0.5, 0.5) * area.size.y
			return area.position + Vector3(x, 0.0, z)
	return Vector3.ZERO


## Large areas are chosen more often; a single point still is, now and then.
static func _weight(area: SpawnArea) -> float:
	return area.size.x * area.size.y + 1.0
