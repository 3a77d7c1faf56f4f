@icon("res://addons/godojo/icons/camera_sensor.svg")
class_name DojoCameraSensor
extends SubViewport
## Sees pixels: a small picture of the world, drawn in every frame.
##
## Put a [Camera3D] or [Camera2D] below it; it is carried along by the node above. The picture has
## the [member SubViewport.size]: 84 x 84 is plenty. Drawing needs a display: an engine that was
## started headless sees black.

## Whether the picture has one channel instead of three.
@export var is_grey: bool = false

var _camera: Node


func _ready() -> void:
	render_target_update_mode = SubViewport.UPDATE_ALWAYS
	for child in get_children():
		if _camera == null and (child is Camera3D or child is Camera2D):
			_camera = child
	if _camera is Camera2D:
		world_2d = get_parent().get_viewport().world_2d
	_carry_camera()


func _process(_delta: float) -> void:
	_carry_camera()


## The picture that was drawn last: rows, columns, channels, from 0 to 1.
func read() -> PackedFloat32Array:
	var picture: Image = null
	if DisplayServer.get_name() != "headless":
		picture = get_texture().get_image()
	if picture == null or picture.is_empty():
		var black := PackedFloat32Array()
		black.resize(size.x * size.y * _channels())
		return black
	if is_grey:
		picture.convert(Image.FORMAT_L8)
	picture.convert(Image.FORMAT_RF if is_grey else Image.FORMAT_RGBF)
	return picture.get_data().to_float32_array()


## What the numbers are.
func parts() -> Array[Dictionary]:
	return [DojoObservationLayout.picture(name.left(64), size.y, size.x, _channels())]


func _channels() -> int:
	return 1 if is_grey else 3


## A viewport stands outside the world's transforms, so the camera is moved by hand.
func _carry_camera() -> void:
	var carrier: Node = get_parent()
	if _camera is Camera3D and carrier is Node3D:
		(_camera as Camera3D).global_transform = (carrier as Node3D).global_transform
	elif _camera is Camera2D and carrier is Node2D:
		(_camera as Camera2D).global_position = (carrier as Node2D).global_position
