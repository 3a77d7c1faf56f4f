class_name TagLook
extends RoundLook
## What is seen of a [TagWorld]. It reads the world and never changes it.

## How much an agent glows that can neither tag nor be tagged, and how much more when it pulses.
const IMMUNE_GLOW := Vector2(0.35, 0.3)

var _world: TagWorld
var _clock_s: float = 0.0


## Shows [param world], which must have been configured and be in the tree.
func show_world(world: TagWorld) -> void:
	_world = world
	world.tagged.connect(_on_tagged)
	world.arena_changed.connect(_show_arena)
	world.round_started.connect(cut)
	_show_arena()


## Positions of the hero's opponents.
func opponents() -> PackedVector3Array:
	var places: PackedVector3Array = []
	for agent in _world.agents:
		if agent.active and agent.is_seeker_like != _world.agents[hero].is_seeker_like:
			places.append(bodies[agent.index].middle)
	return places


func _process(delta: float) -> void:
	if _world == null:
		return
	_clock_s += delta
	is_over = _world.round_over
	for agent in _world.agents:
		_stand(bodies[agent.index], agent)
	super(delta)


func _show_arena() -> void:
	var layout := ShowLayout.new()
	layout.size_m = _world.arena.size_m
	layout.wall_height_m = _world.settings.arena.wall_height_m
	layout.body_m = _world.settings.body.size_m
	for box in _world.arena.boxes:
		layout.add_box(box.position, box.size, box.kind)
	bodies.clear()
	for agent in _world.agents:
		var body := ShowBody.new()
		body.index = agent.index
		bodies.append(body)
		_stand(body, agent)
		if not agent.respawned.is_connected(_on_respawned.bind(agent)):
			agent.jumped.connect(show_jump.bind(agent.index))
			agent.landed.connect(_on_landed.bind(agent.index))
			agent.respawned.connect(_on_respawned.bind(agent))
	show_round(layout)


func _stand(body: ShowBody, agent: TagAgent) -> void:
	# Where nothing is interpolated, the interpolated place is that of the last frame.
	body.middle = agent.global_position
	if agent.is_physics_interpolated_and_enabled():
		body.middle = agent.get_global_transform_interpolated().origin
	body.velocity = agent.velocity
	body.heading_rad = agent.heading_rad
	body.grounded = agent.grounded
	body.active = agent.active
	body.color = TagStyle.agent_color(agent.is_seeker_like)
	var pulse: float = IMMUNE_GLOW.x + IMMUNE_GLOW.y * sin(_clock_s * 22.0)
	body.glow = pulse if agent.immune else ShowBody.GLOW


func _on_landed(speed_mps: float, index: int) -> void:
	show_landing(index, speed_mps)


func _on_respawned(agent: TagAgent) -> void:
	agent.reset_physics_interpolation()
	_stand(bodies[agent.index], agent)
	_looks[agent.index].cut()


func _on_tagged(_seeker: TagAgent, hider: TagAgent) -> void:
	show_catch(hider.index, TagStyle.SEEKER)
