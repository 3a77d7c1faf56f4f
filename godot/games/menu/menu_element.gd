class_name MenuElement
extends RefCounted
## A button, toggle or slider of a [MenuModel], and what is known about whether it answers.

enum Kind { OPEN, BACK, SAVE, TOGGLE, SLIDER }

## An element that was asked this often and never answered counts as dead.
const TRIES := 3
const SIZES: Dictionary[Kind, Vector2] = {
	Kind.OPEN: Vector2(0.8, 0.13),
	Kind.BACK: Vector2(0.4, 0.13),
	Kind.SAVE: Vector2(0.4, 0.13),
	Kind.TOGGLE: Vector2(0.8, 0.13),
	Kind.SLIDER: Vector2(0.8, 0.13),
}

var kind: Kind
## Unique in the menu; a setting is saved under it.
var name: String
## The screen that an OPEN button leads to.
var target: String
## The toggle that must be on for this element to be enabled; empty: always enabled.
var needs: String
## Its middle on the panel, in metres from the panel's middle.
var center: Vector2
## Of a setting: 0 or 1 for a toggle, 0 to 1 for a slider.
var value: float = 0.0
## Whether it never answers, as a bug would have it.
var is_dead: bool = false
## Whether it has answered in this round.
var has_answered: bool = false
## Whether its value was changed after the settings were saved.
var is_unsaved: bool = false
## Whether a changed value of it was saved and found in the file.
var is_kept: bool = false

var _tries: int = 0


## An element of this kind; the rest is given by name.
func _init(its_kind: Kind, its_name: String, more: Dictionary = {}) -> void:
	kind = its_kind
	name = its_name
	target = more.get("target", "")
	needs = more.get("needs", "")


## Whether its value is saved.
func is_setting() -> bool:
	return kind in [Kind.TOGGLE, Kind.SLIDER]


## Whether [param point] of the panel lies on it.
func covers(point: Vector2) -> bool:
	var away: Vector2 = (point - center).abs()
	var half: Vector2 = SIZES[kind] / 2.0
	return away.x <= half.x and away.y <= half.y


## Notes that it was asked and did not answer.
func note_silence() -> void:
	_tries += 1


## Whether it was asked several times, and never answered.
func seems_dead() -> bool:
	return not has_answered and _tries >= TRIES


## Whether it is not yet known if it answers.
func is_untested() -> bool:
	return not has_answered and not seems_dead()


## Its name for people.
func title() -> String:
	return {Kind.BACK: "Back", Kind.SAVE: "Save"}.get(kind, name.capitalize())
