class_name SightMemory
extends RefCounted
## What a scripted opponent knows about the other side: what its rays show, and what they showed
## before.

## Hits within this distance of the nearest one belong to the same body.
const SAME_BODY_M := 1.5

## Whether an opponent is in sight now.
var visible: bool
## Whether one has ever been seen in this round.
var known: bool
## Where the nearest one was seen last: the middle of its body.
var place: Vector3
## How fast it went, along the ground.
var speed: Vector3
## Seconds since then.
var age_s: float


## Forgets everything.
func clear() -> void:
	visible = false
	known = false
	speed = Vector3.ZERO
	age_s = 0.0


## Takes in what [param agent] sees now, [param passed_s] after the last time.
func update(world: TagWorld, agent: TagAgent, passed_s: float) -> void:
	age_s += passed_s
	visible = false
	var sight: TagSight = world.sight_of(agent.index)
	var wanted: int = TagSight.Kind.HIDER if agent.is_seeker_like else TagSight.Kind.SEEKER
	var nearest: int = -1
	for ray in sight.kinds.size():
		if sight.kinds[ray] == wanted:
			if nearest < 0 or sight.distances_m[ray] < sight.distances_m[nearest]:
				nearest = ray
	if nearest < 0:
		return
	var first: Vector3 = sight.end_of(agent, nearest)
	var sum := Vector3.ZERO
	var count: int = 0
	for ray in sight.kinds.size():
		if sight.kinds[ray] == wanted:
			var point: Vector3 = sight.end_of(agent, ray)
			if point.distance_to(first) < SAME_BODY_M:
				sum += point
				count += 1
	var found: Vector3 = sum / count
	var inward := Vector3(found.x - agent.position.x, 0.0, found.z - agent.position.z).normalized()
	found += inward * world.settings.body.size_m * 0.5
	_note(found, world.settings.motion.seeker_speed_mps * 1.5)


## Where it may be by now, if it kept going for [param most_s] at most.
func guess(most_s: float) -> Vector3:
	return place + speed * minf(age_s, most_s)


func _note(found: Vector3, top_mps: float) -> void:
	if known and age_s > 0.0 and age_s < 0.3:
		var measured: Vector3 = (found - place) / age_s
		measured.y = 0.0
		speed = speed.lerp(measured, 0.4).limit_length(top_mps)
	elif age_s > 0.3:
		speed = Vector3.ZERO
	place = found
	known = true
	visible = true
	age_s = 0.0
