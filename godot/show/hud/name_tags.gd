class_name NameTags
extends CanvasLayer
## Writes above every agent who it is.

## Letters on a screen as the HUD's sizes are given for.
const LETTERS: int = 19
## How far above an agent's middle its name stands, in sizes of its body.
const ABOVE: float = 0.85

## Pixels for each unit of the sizes given.
var factor: float = 1.0

var _bodies: Array[ShowBody] = []
var _camera: Camera3D
var _size_m: float
var _tags: Array[PanelContainer] = []


func _init() -> void:
	# After the camera has moved.
	process_priority = 1


## One tag for each agent, whose size is [param size_m], as [param camera] sees them.
func name_agents(bodies: Array[ShowBody], size_m: float, camera: Camera3D) -> void:
	_bodies = bodies
	_camera = camera
	_size_m = size_m
	for old in _tags:
		remove_child(old)
		old.queue_free()
	_tags.clear()
	for body in _bodies:
		var tag := PanelContainer.new()
		var box := StyleBoxFlat.new()
		box.bg_color = Color(ShowStyle.INK, 0.78)
		box.set_corner_radius_all(8)
		box.content_margin_left = 9.0
		box.content_margin_right = 9.0
		box.content_margin_top = 0.0
		box.content_margin_bottom = 1.0
		tag.add_theme_stylebox_override(&"panel", box)
		var label := Label.new()
		label.text = body.title
		label.add_theme_font_size_override(&"font_size", LETTERS)
		tag.add_child(label)
		add_child(tag)
		_tags.append(tag)


func _process(_delta: float) -> void:
	for index in _tags.size():
		_place(_tags[index], _bodies[index])
	_part()


## Lifts tags that would overlap: the one lowest on the screen stays where it is.
func _part() -> void:
	var shown: Array[PanelContainer] = _tags.filter(_is_shown)
	shown.sort_custom(_is_lower)
	for place in shown.size():
		var box := Rect2(shown[place].position, shown[place].size * factor)
		for below in place:
			var other := Rect2(shown[below].position, shown[below].size * factor)
			if box.intersects(other):
				box.position.y = other.position.y - box.size.y
		shown[place].position = box.position


static func _is_shown(tag: PanelContainer) -> bool:
	return tag.visible


static func _is_lower(one: PanelContainer, other: PanelContainer) -> bool:
	return one.position.y > other.position.y


func _place(tag: PanelContainer, body: ShowBody) -> void:
	var label: Label = tag.get_child(0)
	label.add_theme_color_override(&"font_color", ShowStyle.letter_color(body.color))
	tag.visible = body.active
	tag.scale = Vector2.ONE * factor
	tag.reset_size()
	var head: Vector3 = body.middle + Vector3.UP * _size_m * ABOVE
	var at: Vector2 = _camera.unproject_position(head)
	tag.position = (at - Vector2(tag.size.x * 0.5, tag.size.y) * factor).round()
