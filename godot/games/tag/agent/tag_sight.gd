class_name TagSight
extends RefCounted
## What an agent saw when it last looked: a cone of rays around its heading, each with a distance
## and what it hit.

## What a ray can hit.
enum Kind { NOTHING, WALL, SEEKER, HIDER }

## What an observation says of each kind.
const WHO: Array[float] = [0.0, 0.0, -1.0, 1.0]

## Distance of each ray's hit from the eye; the range where nothing was hit.
var distances_m := PackedFloat32Array()
## What each ray hit, a [enum Kind].
var kinds := PackedByteArray()
## Unit direction of each ray in the body's frame, where +z is forward.
var directions := PackedVector3Array()
## The same as an observation has it, two numbers a ray: distance by range, 1 where nothing is
## within it; then who was hit: 1 a hider, -1 a seeker, 0 a wall or nothing.
var numbers := PackedFloat32Array()

var _eye: Vector3


## For eyes with this cone.
func _init(cone: TagSettings.SightCone) -> void:
	_eye = Vector3.UP * cone.eye_height_m
	directions = ray_directions(cone)
	distances_m.resize(directions.size())
	kinds.resize(directions.size())
	kinds.fill(Kind.NOTHING)
	numbers.resize(directions.size() * TagObservation.per_ray)
	numbers.fill(0.0)


## The rays' directions, row by row, each row from the left of the field of view to the right as the
## agent sees it (from +x to -x in its own frame, where +z is forward and +y up).
static func ray_directions(cone: TagSettings.SightCone) -> PackedVector3Array:
	var found := PackedVector3Array()
	var fov: float = deg_to_rad(cone.fov_deg)
	for row in cone.rows:
		var up: float = deg_to_rad(row.elevation_deg)
		for column in row.columns:
			var share: float = 0.5 if row.columns == 1 else float(column) / (row.columns - 1)
			var side: float = fov * (0.5 - share)
			found.append(Vector3(sin(side) * cos(up), sin(up), cos(side) * cos(up)))
	return found


## Point from which [param agent] sees, in the world's frame.
func eye_of(agent: TagAgent) -> Vector3:
	return agent.position + _eye


## Notes what ray [param index] hit.
func note(index: int, kind: Kind) -> void:
	numbers[index * TagObservation.per_ray + TagObservation.Ray.HIT] = WHO[kind]
	kinds[index] = kind


## Where ray [param index] ended at the last look of [param agent], in the world's frame.
func end_of(agent: TagAgent, index: int) -> Vector3:
	var direction: Vector3 = directions[index].rotated(Vector3.UP, agent.heading_rad)
	return eye_of(agent) + direction * distances_m[index]
