@icon("res://addons/godojo/icons/camera_sensor.svg")
class_name DojoCameraSensor
extends SubViewport
## Sees pixels: a small picture of the world, drawn in every frame, or before every decision of a
## trainer that has started the game.
##
## Put a [Camera3D] or [Camera2D] below it; it is carried along by the node above. The picture has
## the [member SubViewport.size]: 36 x 36 is often enough, 84 x 84 is plenty. Drawing needs a
## display: an engine that was started headless sees black.

## All cameras.
const GROUP := &"dojo_cameras"

## Whether the picture has one channel instead of three.
@export var is_grey: bool = false

var _camera: Node


func _ready() -> void:
	add_to_group(GROUP)
	render_target_update_mode = SubViewport.UPDATE_ALWAYS
	if OS.has_environment("GODOJO_PORT"):
		# Under a trainer every tick is a frame: interpolation would draw the tick before.
		get_tree().physics_interpolation = false
	if OS.has_environment("GODOJO_HIDDEN") and Engine.get_write_movie_path().is_empty():
		# Nobody looks at the window, and on a CPU it costs ten times as much as the cameras.
		RenderingServer.viewport_set_update_mode(
			get_tree().root.get_viewport_rid(), RenderingServer.VIEWPORT_UPDATE_DISABLED
		)
	for child in get_children():
		if _camera == null and (child is Camera3D or child is Camera2D):
			_camera = child
	if _camera is Camera2D:
		world_2d = get_parent().get_viewport().world_2d
	_carry_camera()


func _process(_delta: float) -> void:
	_carry_camera()


## Draws in the next frame and then no more, until it is called again.
func draw_once() -> void:
	render_target_update_mode = SubViewport.UPDATE_ONCE


## Draws what the cameras in these worlds see now, where a new round has just begun.
static func draw_now(worlds: Array[Node]) -> void:
	var has_cameras: bool = false
	for world in worlds:
		for camera: DojoCameraSensor in world.get_tree().get_nodes_in_group(GROUP):
			if world.is_ancestor_of(camera):
				has_cameras = true
				camera._carry_camera()
				if camera.render_target_update_mode != SubViewport.UPDATE_ALWAYS:
					camera.draw_once()
	if has_cameras and DisplayServer.get_name() != "headless":
		for world in worlds:
			world.propagate_call(&"force_update_transform")
		RenderingServer.force_draw(false)


## Draws in every frame again.
func draw_always() -> void:
	render_target_update_mode = SubViewport.UPDATE_ALWAYS


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
