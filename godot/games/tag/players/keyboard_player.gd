class_name KeyboardPlayer
extends RefCounted
## Turns keys (or a gamepad) into an action.


## The action as (move_x, move_z, jump), with "up" on screen being [param yaw_rad] around y.
static func act(yaw_rad: float) -> Vector3:
	var pressed: Vector2 = Input.get_vector(
		&"tag_left", &"tag_right", &"tag_forward", &"tag_back", 0.2
	)
	var way: Vector2 = pressed.rotated(-yaw_rad)
	return Vector3(way.x, way.y, 1.0 if Input.is_action_pressed(&"tag_jump") else -1.0)
