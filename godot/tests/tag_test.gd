class_name TagTest
extends EngineTest
## What tests of the game of tag share: worlds, arenas, and measures of their own.

## Eight directions on the ground.
const WAYS: PackedVector2Array = [
	Vector2(1, 0),
	Vector2(-1, 0),
	Vector2(0, 1),
	Vector2(0, -1),
	Vector2(1, 1),
	Vector2(-1, 1),
	Vector2(1, -1),
	Vector2(-1, -1),
]
## A seeker as light on its feet as the hider, and rounds of ten seconds: what is tested here is not
## the game's balance, and does not change with it.
const EVEN: PackedStringArray = [
	"motion.seeker_speed_mps=6.5", "motion.seeker_acceleration_mps2=40", "rules.round_s=10"
]


## The default settings with [constant EVEN] and [param overrides].
func make_settings(overrides: PackedStringArray = []) -> TagSettings:
	var settings: TagSettings = TagSettings.load_defaults()
	for override in EVEN + overrides:
		check_equal(settings.apply_override(override), "", override)
	return settings


## A world with the settings of [method make_settings].
func make_world(
	arena: ArenaData, overrides: PackedStringArray = [], game_seed: int = 1
) -> TagWorld:
	var settings: TagSettings = make_settings(overrides)
	var world := TagWorld.new()
	# Worlds at the same place would bump into each other's walls.
	world.position.x = 100.0 * get_child_count()
	add_child(world)
	check_equal(world.configure(settings, arena, game_seed), "", "configure")
	return world


## Takes a world away at once: worlds at the same place would see each other.
func drop(world: TagWorld) -> void:
	remove_child(world)
	world.queue_free()


## A hand-made arena.
func named(arena_name: String) -> ArenaData:
	var arena: ArenaData = ArenaData.load_named(arena_name)
	check_equal(arena.error, "", arena_name)
	return arena


## The fields of an arena file with nothing inside but [param boxes], each given as
## [code][x, y, z, size x, size y, size z][/code].
func plain_fields(boxes: Array = [], size_m: float = 40.0) -> Dictionary:
	var list: Array[Dictionary] = []
	for box: Array in boxes:
		list.append({"position_m": box.slice(0, 3), "size_m": box.slice(3), "kind": "tall"})
	var corner: float = size_m * 0.5 - 1.0
	return {
		"version": 1,
		"name": "plain",
		"title": "Plain",
		"size_m": [size_m, size_m],
		"boxes": list,
		"spawns":
		[
			{"position_m": [-corner, 0, -corner], "size_m": [0, 0], "roles": ["seeker", "hider"]},
			{"position_m": [corner, 0, corner], "size_m": [0, 0], "roles": ["seeker", "hider"]},
		],
	}


## An arena from [method plain_fields].
func plain_arena(boxes: Array = [], size_m: float = 40.0) -> ArenaData:
	var arena: ArenaData = ArenaData.from_dict(plain_fields(boxes, size_m))
	check_equal(arena.error, "", "arena")
	return arena


## An empty arena with room for eight to start in, far from its middle.
func roomy_arena() -> ArenaData:
	var fields: Dictionary = plain_fields()
	for side: int in 2:
		var corner: float = -15.0 if side == 0 else 15.0
		fields["spawns"][side]["position_m"] = [corner, 0, corner]
		fields["spawns"][side]["size_m"] = [8, 8]
	var arena: ArenaData = ArenaData.from_dict(fields)
	check_equal(arena.error, "", "arena")
	return arena


## Puts an agent onto the ground at [param ground], at rest and looking along [param heading].
func put(world: TagWorld, index: int, ground: Vector3, heading: float = 0.0) -> TagAgent:
	var agent: TagAgent = world.agents[index]
	world.place(agent, ground, heading)
	return agent


## Advances by [param count] ticks with agent 0 acting as given.
func drive(world: TagWorld, count: int, move: Vector2 = Vector2.ZERO, jump: float = -1.0) -> void:
	check(not world.round_over, "nothing moves once the round is over")
	for _tick in count:
		world.set_action(0, move.x, move.y, jump)
		world.tick()


## How deep [param agent] is inside anything solid, in metres; negative when it is clear of all.
static func depth_m(world: TagWorld, agent: TagAgent) -> float:
	var deepest: float = -INF
	var body := Vector3.ONE * world.settings.body.size_m
	for box in world.solids():
		var overlap: Vector3 = (box.size + body) * 0.5 - (box.position - agent.position).abs()
		deepest = maxf(deepest, minf(overlap.x, minf(overlap.y, overlap.z)))
	return deepest


## Whether the engine finds something solid where [param agent] is, a millimetre left aside.
static func engine_overlaps(world: TagWorld, agent: TagAgent) -> bool:
	var query := PhysicsShapeQueryParameters3D.new()
	var shape := BoxShape3D.new()
	shape.margin = 0.0
	shape.size = Vector3.ONE * (world.settings.body.size_m - 0.002)
	query.shape = shape
	query.collision_mask = Arena.WALL_LAYER
	query.transform = agent.global_transform
	return not world.get_world_3d().direct_space_state.intersect_shape(query, 1).is_empty()


## How far a body can go along an axis, by arithmetic over all boxes, with the engine's binary
## search for where the path is blocked written a second time.
static func closed_form(world: TagWorld, at: Vector3, axis: int, distance: float) -> float:
	var half: float = world.settings.body.size_m * 0.5
	var way: float = signf(distance)
	var reach: float = absf(distance) + world.settings.motion.skin_m
	var nearest: float = INF
	for box in world.solids():
		var gap: Vector3 = (box.position - at).abs() - box.size * 0.5 - Vector3.ONE * half
		gap[axis] = (box.position[axis] - at[axis]) * way - box.size[axis] * 0.5 - half
		if maxf(gap[(axis + 1) % 3], gap[(axis + 2) % 3]) < 0.0 and gap[axis] > -half:
			nearest = minf(nearest, gap[axis])
	if nearest >= reach:
		return distance
	var free: float = search(nearest / reach, reach) * reach - world.settings.motion.skin_m
	return clampf(free, 0.0, absf(distance)) * way


## The share of a path of [param length] metres that the engine takes for free when the way is
## blocked from the share [param blocked_from] on: a binary search that leans to the side where it
## has not yet been wrong.
static func search(blocked_from: float, length: float) -> float:
	var low: float = 0.0
	var high: float = 1.0
	var lean: float = 0.5
	for step in clampi(int(log(1000.0 * length) / log(2.0)), 4, 16):
		var middle: float = low + (high - low) * lean
		if middle > blocked_from:
			high = middle
			lean = 0.5 if step == 0 or low > 0.0 else 0.25
		else:
			low = middle
			lean = 0.5 if step == 0 or high < 1.0 else 0.75
	return low
