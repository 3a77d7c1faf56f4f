class_name CrowdRoom
extends Node3D
## A room with several walkers, who are rewarded for being close or punished for collisions.
##
## Cooperative: each tick gives 0.1 / max(d, 1), averaged over the nearest three others at d metres.
## Adversarial: each tick in contact with another walker costs 1.

## Walkers start within this much of the middle, and this far apart.
const START_WITHIN_M := 5.0
const START_APART_M := 1.2
const TRIES := 200
## Middles of walkers that touch are this close.
const CONTACT_M := 0.65
## Two who touched touch anew only after they were this far apart.
const APART_M := 1.0

var agents: Array[CrowdAgent] = []
var walkers: Array[VrWalker] = []

# Of each pair of walkers, whether they touched and have not been apart since.
var _touched: PackedByteArray = []


func _ready() -> void:
	# After all have moved.
	process_physics_priority = 1
	for agent: CrowdAgent in find_children("*", "CrowdAgent"):
		agents.append(agent)
		walkers.append(agent.walker)
	_touched.resize(agents.size() * agents.size())


## [DojoSceneWorlds] calls it when a round begins.
func reset_world(chance: RandomNumberGenerator) -> void:
	var taken := PackedVector3Array()
	for walker in walkers:
		walker.place(_free_place(chance, taken), 0.0)
		taken.append(walker.position)
	_touched.fill(0)


## From this agent to all others, the nearest first.
func ways_to_others(agent: CrowdAgent) -> Array[Vector3]:
	var ways: Array[Vector3] = []
	for walker in walkers:
		if walker != agent.walker:
			ways.append(walker.position - agent.walker.position)
	ways.sort_custom(
		func(one: Vector3, two: Vector3) -> bool: return one.length_squared() < two.length_squared()
	)
	return ways


func _physics_process(_delta: float) -> void:
	for index in agents.size():
		var agent: CrowdAgent = agents[index]
		var distances_m: PackedFloat32Array = _distances_m(index)
		var contacts: int = _count_contacts(index, distances_m)
		distances_m.sort()
		if agent.is_over() or distances_m.is_empty():
			continue
		agent.ticks += 1
		agent.nearest_sum_m += distances_m[0]
		if agent.reward == "adversarial":
			agent.add_reward(-1.0 if contacts > 0 else 0.0, "collision")
		else:
			agent.add_reward(_proximity(distances_m), "proximity")


## To every other walker, in their order.
func _distances_m(index: int) -> PackedFloat32Array:
	var found := PackedFloat32Array()
	var here: Vector3 = walkers[index].position
	for other in walkers.size():
		if other != index:
			found.append(here.distance_to(walkers[other].position))
	return found


func _count_contacts(index: int, distances_m: PackedFloat32Array) -> int:
	var contacts: int = 0
	for other in distances_m.size():
		var pair: int = index * agents.size() + other
		var touches: bool = distances_m[other] < CONTACT_M
		contacts += int(touches)
		agents[index].collisions += int(touches and _touched[pair] == 0)
		_touched[pair] = int(touches or (_touched[pair] == 1 and distances_m[other] < APART_M))
	return contacts


static func _proximity(nearest_m: PackedFloat32Array) -> float:
	var seen: int = mini(CrowdAgent.SEEN, nearest_m.size())
	var sum: float = 0.0
	for other in seen:
		sum += 0.1 / maxf(nearest_m[other], 1.0)
	return sum / seen


static func _free_place(chance: RandomNumberGenerator, taken: PackedVector3Array) -> Vector3:
	var place := Vector3.ZERO
	for _try in TRIES:
		var x: float = chance.randf_range(-START_WITHIN_M, START_WITHIN_M)
		place = Vector3(x, 0.0, chance.randf_range(-START_WITHIN_M, START_WITHIN_M))
		var is_free: bool = true
		for other in taken:
			is_free = is_free and place.distance_to(other) >= START_APART_M
		if is_free:
			break
	return place
