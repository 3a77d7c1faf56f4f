class_name HudPlate
extends PanelContainer
## One party on the HUD: a spot of its colour, its name, its score.

var _spot := Panel.new()
var _name := Label.new()
var _score := Label.new()
var _spot_style := StyleBoxFlat.new()


func _init() -> void:
	var box := StyleBoxFlat.new()
	box.bg_color = Color(ShowStyle.INK, 0.72)
	box.set_corner_radius_all(14)
	box.content_margin_left = 14.0
	box.content_margin_right = 14.0
	box.content_margin_top = 0.0
	box.content_margin_bottom = 0.0
	add_theme_stylebox_override(&"panel", box)
	custom_minimum_size.y = 62.0
	var row := HBoxContainer.new()
	row.add_theme_constant_override(&"separation", 10)
	add_child(row)
	_spot_style.set_corner_radius_all(7)
	_spot.add_theme_stylebox_override(&"panel", _spot_style)
	_spot.custom_minimum_size = Vector2(22, 22)
	_spot.size_flags_vertical = Control.SIZE_SHRINK_CENTER
	_name.add_theme_font_size_override(&"font_size", 24)
	_name.add_theme_color_override(&"font_color", ShowStyle.PAPER)
	_score.add_theme_font_size_override(&"font_size", 32)
	_score.add_theme_color_override(&"font_color", ShowStyle.PAPER)
	for part: Control in [_spot, _name, _score]:
		row.add_child(part)


## Shows a party's name, colour and score.
func show_party(party: String, color: Color, score: String) -> void:
	_name.text = party
	_score.text = score
	_spot_style.bg_color = color


## The score as shown.
func shown_score() -> String:
	return _score.text
