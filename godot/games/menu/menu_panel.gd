class_name MenuPanel
extends Node3D
## The panel that a [MenuAgent] points at: where its ray hits, and how the menu looks.

const SIZE := Vector2(1.2, 1.2)
const _ACCENT := Color("ff7810")
const _DONE := Color("57c785")
const _PLAIN := Color("3a4462")
const _FOCUSED := Color("5a6a9c")
const _DISABLED := Color("2a3048")
const _DEPTH_M := 0.02
## Of the bar that shows a value, and where it begins, from the middle of its element.
const _BAR := Vector2(0.34, 0.03)
const _BAR_FROM_M := 0.03

var _agent: MenuAgent
var _screen: String = ""
## The parts of the shown elements: the body, the label and, of a setting, the fill.
var _bodies: Dictionary[MenuElement, MeshInstance3D] = {}
var _labels: Dictionary[MenuElement, Label3D] = {}
var _fills: Dictionary[MenuElement, MeshInstance3D] = {}

@onready var _title: Label3D = $Title
@onready var _items: Node3D = $Items
@onready var _dot: MeshInstance3D = $Dot
@onready var _ray: MeshInstance3D = $"../Pointer/Ray"


func _ready() -> void:
	set_process(is_drawn())


func _process(_delta: float) -> void:
	if _agent != null:
		_draw()


## Whether anybody looks.
func is_drawn() -> bool:
	return DisplayServer.get_name() != "headless"


## Shows the menu of this agent from now on.
func show_menu(agent: MenuAgent) -> void:
	_agent = agent
	_screen = ""


## Where a ray from [param from] with this yaw and pitch meets the plane of the panel.
func hit_from(from: Vector3, pointing: Vector2) -> Vector2:
	var way_m: float = from.z - position.z
	var point := Vector2(way_m * tan(pointing.x), way_m * tan(pointing.y) / cos(pointing.x))
	return Vector2(from.x - position.x, from.y - position.y) + point


func contains(point: Vector2) -> bool:
	return absf(point.x) <= SIZE.x / 2.0 and absf(point.y) <= SIZE.y / 2.0


## Yaw and pitch that point at what the mouse is on.
func under_mouse(pointer: Node3D) -> Vector2:
	var viewport: Viewport = get_viewport()
	var camera: Camera3D = viewport.get_camera_3d()
	var mouse: Vector2 = viewport.get_mouse_position()
	var plane := Plane(global_basis.z, global_position)
	var point: Variant = plane.intersects_ray(
		camera.project_ray_origin(mouse), camera.project_ray_normal(mouse)
	)
	if point == null:
		return Vector2.ZERO
	var way: Vector3 = point as Vector3 - pointer.global_position
	return Vector2(atan2(way.x, -way.z), atan2(way.y, Vector2(way.x, way.z).length()))


func _draw() -> void:
	var menu: MenuModel = _agent.menu
	_agent.point()
	if _screen != menu.screen:
		_build(menu)
	for element: MenuElement in menu.screens[menu.screen]:
		var color: Color = _FOCUSED if element == _agent.focused else _PLAIN
		var text: Color = _DONE if element.has_answered else Color.WHITE
		if not menu.is_enabled(element):
			color = _DISABLED
			text.a = 0.4
		_tint(_bodies[element], color)
		_labels[element].modulate = text
		if _fills.has(element):
			_draw_value(element)
	_agent.pointer.rotation = Vector3(_agent.pointing.y, -_agent.pointing.x, 0.0)
	_dot.visible = contains(_agent.hit)
	_dot.position = Vector3(_agent.hit.x, _agent.hit.y, _DEPTH_M + 0.01)
	var length_m: float = _dot.global_position.distance_to(_agent.pointer.global_position)
	_ray.position.z = -length_m / 2.0
	_ray.scale.y = length_m
	_tint(_dot, _ACCENT if _agent.focused != null else Color.WHITE)


func _build(menu: MenuModel) -> void:
	_screen = menu.screen
	_title.text = "Settings" if _screen == MenuModel.MAIN else _screen.capitalize()
	for item in _items.get_children():
		item.queue_free()
	_bodies.clear()
	_labels.clear()
	_fills.clear()
	for element: MenuElement in menu.screens[_screen]:
		var size: Vector2 = MenuElement.SIZES[element.kind]
		_bodies[element] = _box(element.center, Vector3(size.x, size.y, _DEPTH_M))
		var label := Label3D.new()
		label.text = element.title() + ("  >" if element.kind == MenuElement.Kind.OPEN else "")
		label.pixel_size = 0.0012
		label.font_size = 48
		label.outline_size = 0
		label.position = Vector3(element.center.x, element.center.y, _DEPTH_M)
		if element.is_setting():
			label.horizontal_alignment = HORIZONTAL_ALIGNMENT_LEFT
			label.position.x = element.center.x - size.x * 0.46
			var bar := Vector3(_BAR.x, _BAR.y, _DEPTH_M)
			var track: MeshInstance3D = _box(
				element.center + Vector2(_BAR_FROM_M + _BAR.x / 2.0, 0.0), bar
			)
			track.position.z = 0.006
			_tint(track, _DISABLED)
			_fills[element] = _box(element.center, bar)
		_items.add_child(label)
		_labels[element] = label


func _draw_value(element: MenuElement) -> void:
	var fill: MeshInstance3D = _fills[element]
	var is_toggle: bool = element.kind == MenuElement.Kind.TOGGLE
	var share: float = 0.25 if is_toggle else maxf(element.value, 0.02)
	var from: float = 0.75 * element.value if is_toggle else 0.0
	fill.scale.x = share
	fill.position = Vector3(
		element.center.x + _BAR_FROM_M + _BAR.x * (from + share / 2.0), element.center.y, 0.012
	)
	_tint(fill, _ACCENT if element.value > 0.5 or not is_toggle else Color.GRAY)


func _box(center: Vector2, size: Vector3) -> MeshInstance3D:
	var box := MeshInstance3D.new()
	var mesh := BoxMesh.new()
	mesh.size = size
	mesh.material = StandardMaterial3D.new()
	box.mesh = mesh
	box.position = Vector3(center.x, center.y, 0.0)
	_items.add_child(box)
	return box


func _tint(box: MeshInstance3D, color: Color) -> void:
	var mesh: PrimitiveMesh = box.mesh
	(mesh.material as StandardMaterial3D).albedo_color = color
