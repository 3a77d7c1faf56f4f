class_name DojoElements
extends RefCounted
## Where elements of a user interface are to be clicked.

## Ticks for which one item of a list or one tab is pointed at.
const _TICKS := 16


## A point in a control, in its own frame: items of lists and tabs take turns.
static func point_in(control: Control) -> Vector2:
	var turn: int = Engine.get_physics_frames() / _TICKS
	if control is ItemList and (control as ItemList).item_count > 0:
		var list: ItemList = control
		var rect: Rect2 = list.get_item_rect(turn % list.item_count)
		if Rect2(Vector2.ZERO, control.size).has_point(rect.get_center()):
			return rect.get_center()
	elif control is TabBar and (control as TabBar).tab_count > 0:
		var tabs: TabBar = control
		return tabs.get_tab_rect(turn % tabs.tab_count).get_center()
	# The middle of a slider is often where it is already.
	elif control is HSlider:
		return control.size * Vector2(0.25, 0.5)
	elif control is VSlider:
		return control.size * Vector2(0.5, 0.25)
	return control.size / 2.0


## The middle of an item of an open menu, in coordinates of the main window.
static func point_of_item(popup: PopupMenu, index: int) -> Vector2:
	var height: float = float(popup.size.y) / popup.item_count
	return Vector2(popup.position) + Vector2(popup.size.x / 2.0, height * (index + 0.5))
