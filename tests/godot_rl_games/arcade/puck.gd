extends RigidBody3D
## A puck that never slides faster than it should, and counts what it hits.

const TOP_SPEED := 6.0

var hits := 0
var bumps := 0


func _integrate_forces(state: PhysicsDirectBodyState3D) -> void:
	state.linear_velocity = state.linear_velocity.limit_length(TOP_SPEED)


func _on_body_entered(body: Node) -> void:
	if body is StaticBody3D:
		bumps += 1
	else:
		hits += 1
