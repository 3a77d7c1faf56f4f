class_name TagEyes
extends Node3D
## A cone of rays that looks for any agent: one is enough for all agents, and for many worlds.
##
## The rays hang on nobody, so that moving a body costs nothing; they go where an agent is when it
## looks. What they meet of the others are stand-ins: still bodies, since a still body's new place
## is seen by rays at once. Rays start inside the looker's own, and never meet what they start in.

## Physics layer of stand-ins.
const AGENT_LAYER := 2
## A body is within a ball of this many halves of its edge; a little more than the root of three.
const BODY_RADIUS := 1.75

var _rays: Array[RayCast3D] = []
var _range_m: float
# Half a turn or less: agents behind cannot be seen.
var _looks_ahead: bool
var _shape := BoxShape3D.new()
var _stand_ins: Array[RID] = []
var _is_in := PackedByteArray()
# Whose agents the stand-ins stand for, and since when.
var _world: TagWorld
var _moment: int


## Makes rays, and stand-ins for the agents of one world.
func _init(settings: TagSettings) -> void:
	top_level = true
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	_range_m = settings.sight.range_m
	_looks_ahead = settings.sight.fov_deg <= 180.0
	for direction in TagSight.ray_directions(settings.sight):
		var ray := RayCast3D.new()
		ray.enabled = false
		ray.collision_mask = Arena.WALL_LAYER | AGENT_LAYER
		ray.target_position = direction * _range_m
		add_child(ray)
		_rays.append(ray)
	_shape.margin = 0.0
	_shape.size = Vector3.ONE * settings.body.size_m
	for _agent in settings.agent_count():
		var body: RID = PhysicsServer3D.body_create()
		PhysicsServer3D.body_set_mode(body, PhysicsServer3D.BODY_MODE_STATIC)
		PhysicsServer3D.body_add_shape(body, _shape.get_rid())
		PhysicsServer3D.body_set_collision_layer(body, 0)
		PhysicsServer3D.body_set_collision_mask(body, 0)
		_stand_ins.append(body)
		_is_in.append(0)


func _notification(what: int) -> void:
	match what:
		NOTIFICATION_ENTER_WORLD:
			_put_stand_ins_into(get_world_3d().space)
		NOTIFICATION_EXIT_WORLD:
			_put_stand_ins_into(RID())
		NOTIFICATION_PREDELETE:
			for body in _stand_ins:
				PhysicsServer3D.free_rid(body)


## Puts the stand-ins where the agents of [param world] are, once for each [param moment] of it;
## [param origin] is where their arena is.
func stand_in(world: TagWorld, moment: int, origin: Vector3) -> void:
	if world == _world and moment == _moment:
		return
	_world = world
	_moment = moment
	var index: int = 0
	for agent in world.agents:
		var body: RID = _stand_ins[index]
		if agent.active:
			PhysicsServer3D.body_set_state(
				body,
				PhysicsServer3D.BODY_STATE_TRANSFORM,
				Transform3D(Basis.IDENTITY, origin + agent.position)
			)
		if agent.active != bool(_is_in[index]):
			_is_in[index] = int(agent.active)
			PhysicsServer3D.body_set_collision_layer(body, AGENT_LAYER if agent.active else 0)
		index += 1


## Writes into [param sight] what [param agent] sees from where it is now. [param agents] may be
## in the way, and [param origin] is where their world is.
func look(sight: TagSight, agent: TagAgent, agents: Array[TagAgent], origin: Vector3) -> void:
	var eye: Vector3 = origin + sight.eye_of(agent)
	transform = Transform3D(Basis(Vector3.UP, agent.heading_rad), eye)
	var spread: Vector2 = _where_agents_are(sight.eye_of(agent), agent, agents)
	var nearest_m: float = spread.x
	var farthest_m: float = spread.y
	var distances_m: PackedFloat32Array = sight.distances_m
	var kinds: PackedByteArray = sight.kinds
	var numbers: PackedFloat32Array = sight.numbers
	# A static variable of another class takes time to read.
	var per_ray: int = TagObservation.per_ray
	var index: int = 0
	var place: int = 0
	for ray in _rays:
		ray.force_raycast_update()
		if ray.is_colliding():
			var distance_m: float = eye.distance_to(ray.get_collision_point())
			distances_m[index] = distance_m
			numbers[place] = distance_m / _range_m
			# Asking who it was takes time, and a hit nearer or farther than agents was a wall.
			if distance_m >= nearest_m and distance_m <= farthest_m:
				sight.note(index, _kind_of(ray.get_collider_rid(), agents))
			elif kinds[index] != TagSight.Kind.WALL:
				sight.note(index, TagSight.Kind.WALL)
		else:
			distances_m[index] = _range_m
			numbers[place] = 1.0
			if kinds[index] != TagSight.Kind.NOTHING:
				sight.note(index, TagSight.Kind.NOTHING)
		index += 1
		place += per_ray


func _kind_of(hit: RID, agents: Array[TagAgent]) -> TagSight.Kind:
	var index: int = _stand_ins.find(hit)
	if index < 0:
		return TagSight.Kind.WALL
	return TagSight.Kind.SEEKER if agents[index].is_seeker_like else TagSight.Kind.HIDER


## The least and the greatest distance at which a ray may hit an agent.
func _where_agents_are(eye: Vector3, agent: TagAgent, agents: Array[TagAgent]) -> Vector2:
	var spread := Vector2(INF, -INF)
	var radius_m: float = agent.half_m * BODY_RADIUS
	for other in agents:
		if other == agent or not other.active:
			continue
		var way: Vector3 = other.position - eye
		if _looks_ahead and way.dot(agent.forward()) < -radius_m:
			continue
		var distance_m: float = way.length()
		spread.x = minf(spread.x, distance_m - radius_m)
		spread.y = maxf(spread.y, distance_m + radius_m)
	return spread


func _put_stand_ins_into(space: RID) -> void:
	for body in _stand_ins:
		PhysicsServer3D.body_set_space(body, space)
