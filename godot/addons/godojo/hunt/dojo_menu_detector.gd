class_name DojoMenuDetector
extends RefCounted
## Finds dead elements of menus that are not made of Controls, such as those of VR.
##
## Such a menu is a node in the group [constant GROUP] with a method [code]ui_elements()[/code]. It
## returns a Dictionary for each element that is shown: [code]name[/code], unique in the menu;
## [code]is_enabled[/code]; [code]value[/code], as people see it; and [code]uses[/code], how often
## somebody has pressed or dragged it while it was enabled.

const GROUP := &"dojo_ui"
## Uses without any effect, and none with one, of a dead element.
const SILENT_USES := 2
## Where pointers of elements lie that a mouse cannot reach.
const NOWHERE := 9.0

var _tree: SceneTree
var _sights: Dictionary[Node, int] = {}
# By the path of an element: uses that are known, those without effect, whether there was one with.
var _uses: Dictionary[String, int] = {}
var _silent: Dictionary[String, int] = {}
var _answers: Dictionary[String, bool] = {}
# Elements that were used in the last decision and have not answered yet, and what was seen before.
var _waiting: Dictionary[String, int] = {}
var _locked := DojoLockedDetector.new()


func _init(tree: SceneTree) -> void:
	_tree = tree


func begin() -> void:
	_sights.clear()
	_uses.clear()
	_silent.clear()
	_answers.clear()
	_waiting.clear()
	_locked.begin()


## The paths of all elements that are enabled now.
func elements() -> PackedStringArray:
	var found: PackedStringArray = []
	for menu in _menus():
		for element: Dictionary in menu.call(&"ui_elements"):
			if element.get("is_enabled", true):
				found.append("%s:%s" % [menu.get_path(), element["name"]])
	return found


## The elements that turned out to do nothing.
func look() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for menu in _menus():
		var shown: Array = menu.call(&"ui_elements")
		var sight: int = _sight(shown)
		var before: int = _sights.get(menu, sight)
		_sights[menu] = sight
		for path: String in _waiting.keys():
			if _waiting[path] != sight:
				_answers[path] = true
				_waiting.erase(path)
		for element: Dictionary in shown:
			var path: String = "%s:%s" % [menu.get_path(), element["name"]]
			if _waiting.has(path):
				_waiting.erase(path)
				_silent[path] = _silent.get(path, 0) + 1
				if _silent[path] == SILENT_USES and not _answers.has(path):
					found.append(_event(menu, str(element["name"]), "does nothing"))
			var uses: int = element.get("uses", 0)
			if uses > _uses.get(path, uses):
				if sight != before:
					_answers[path] = true
				else:
					_waiting[path] = sight
			_uses[path] = uses
		for name in _locked.look(str(menu.get_path()), shown):
			found.append(_event(menu, name, "can never be used"))
	return found


func _menus() -> Array[Node]:
	return _tree.get_nodes_in_group(GROUP).filter(
		func(node: Node) -> bool: return node.has_method(&"ui_elements")
	)


static func _sight(shown: Array) -> int:
	var told: Array = []
	for element: Dictionary in shown:
		var value: Variant = element.get("value", 0.0)
		if value is float:
			value = snappedf(value as float, 0.001)
		told.append([element["name"], element.get("is_enabled", true), value])
	return hash(told)


static func _event(menu: Node, element: String, what: String) -> Dictionary:
	return {
		"detector": "dead_ui",
		"message": "%s %s" % [element, what],
		"pattern": "%s %s" % [element, what],
		"node": str(menu.get_path()),
	}
