@icon("res://addons/godojo/icons/dojo_agent.svg")
class_name DojoInvariant
extends Node
## Something that must always be true; a hunt reports when it is not.
##
## Put one below the node it is about, and write [member expression], or extend the script and
## write [method holds]. It is looked at in every physics tick while the game is hunted, and at no
## other time.

## Where a hunt finds them.
const GROUP := &"dojo_invariants"

## What must be true, as GDScript about the parent node: [code]health >= 0 and health <= 100[/code],
## [code]get_child_count() < 50[/code]. Empty: [method holds] decides.
@export var expression: String = ""
## What it means when it is not, in a sentence: [code]the player has negative health[/code].
@export var message: String = ""

var _parsed: Expression
var _problem: String = ""


func _enter_tree() -> void:
	add_to_group(GROUP)


## Whether all is well.
func holds() -> bool:
	if expression.is_empty() or get_parent() == null:
		return true
	if _parsed == null:
		_parsed = Expression.new()
		if _parsed.parse(expression) != OK:
			_problem = _parsed.get_error_text()
	if not _problem.is_empty():
		return true
	var found: Variant = _parsed.execute([], get_parent(), false)
	if _parsed.has_execute_failed():
		_problem = _parsed.get_error_text()
		return true
	return bool(found)


## Why [member expression] cannot be evaluated; empty if it can.
func problem() -> String:
	return _problem


## What to report: [member message], or else the expression.
func title() -> String:
	if not message.is_empty():
		return message
	return "%s is not true" % expression if not expression.is_empty() else str(name)
