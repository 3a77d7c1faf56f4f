class_name SpawnArea
extends RefCounted
## A flat rectangle in which bodies may start.

## Centre; y is the height of the ground under it.
var position: Vector3
## Extent along x and z: a body's centre may be anywhere inside, edges included.
var size: Vector2
## Roles that may start here.
var roles: Array[StringName] = []


## Whether an agent of [param role] may start here. A classic player may start anywhere.
func admits(role: StringName) -> bool:
	return role == &"player" or roles.has(role)
