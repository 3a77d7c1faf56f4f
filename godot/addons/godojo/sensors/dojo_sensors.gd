class_name DojoSensors
extends RefCounted
## What all sensors share. A sensor is any node with two methods, so write your own where you like:
## [br]- [code]read() -> PackedFloat32Array[/code]: what it senses now;
## [br]- [code]parts() -> Array[Dictionary][/code]: what these numbers are, see
## [DojoObservationLayout].


## Whether [param node] is a sensor.
static func is_sensor(node: Node) -> bool:
	return node.has_method("read") and node.has_method("parts")


## Angles of [param count] rays spread evenly over [param width_deg], in radians, from left to right
## (in 2D: clockwise). A full circle does not look twice in the same direction.
static func fan(count: int, width_deg: float) -> PackedFloat32Array:
	var angles := PackedFloat32Array()
	var gaps: int = count if width_deg >= 360.0 else maxi(count - 1, 1)
	for index in count:
		var share: float = float(index) / gaps - (0.5 if count > 1 else 0.0)
		angles.append(deg_to_rad(share * width_deg))
	return angles


## The body that [param sensor] sits on: its nearest ancestor with a shape; null without one.
static func body_of(sensor: Node) -> Node:
	var node: Node = sensor.get_parent()
	while node != null and not (node is CollisionObject3D or node is CollisionObject2D):
		node = node.get_parent()
	return node
