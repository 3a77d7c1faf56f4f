class_name LandingPanel
extends Label
## Altitude, speed, distance from the pad and fuel, in a corner.

const WARN := Color("ffb060")


func _init() -> void:
	position = Vector2(24.0, 20.0)
	add_theme_font_size_override(&"font_size", 22)
	add_theme_color_override(&"font_shadow_color", Color(0.0, 0.0, 0.0, 0.6))


func show_flight(altitude_m: float, velocity: Vector3, away_m: float, fuel: float) -> void:
	var lines: PackedStringArray = [
		"altitude %.0f m" % altitude_m,
		"sink %.1f m/s" % -velocity.y,
		"speed %.1f m/s" % velocity.length(),
		"pad %.1f m" % away_m,
		"fuel %.0f %%" % (fuel * 100.0),
	]
	text = "\n".join(lines)
	modulate = Color.WHITE if fuel > 0.8 else WARN
