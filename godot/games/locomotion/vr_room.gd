class_name VrRoom
extends Node3D
## A room that a walker is seen in, through its eyes or from above. Tab: camera, Esc: quit.

@onready var _sync: DojoSync = $DojoSync
@onready var _rig: NavigationRig = $Rig
@onready var _overview: Camera3D = $Overview
@onready var _score: Label = %Score
@onready var _status: Label = %Status


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		_look_through_eyes(not _rig.camera.current)
	elif event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


## Moves the rig to where [param walker] is.
func _follow(walker: VrWalker) -> void:
	_rig.global_transform = walker.global_transform
	_rig.left.position = VrWalker.HANDS[0]
	_rig.right.position = VrWalker.HANDS[1]
	if walker.look != null:
		walker.look.visible = not _rig.camera.current


func _look_through_eyes(is_first_person: bool) -> void:
	(_rig.camera if is_first_person else _overview).make_current()
	_rig.show_view(is_first_person)
