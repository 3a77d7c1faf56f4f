class_name DojoAutoloads
extends RefCounted
## Remembers what a project's autoloads are once they are ready, and makes them so again.
##
## That is quicker than a new process. It is an approximation: what they hold outside of their
## variables and children stays, so findings are proven in processes of their own.

## Whether all of them could be restored so far.
var is_restorable: bool = true

# By autoload: its variables and its children.
var _values: Dictionary[Node, Dictionary] = {}
var _children: Dictionary[Node, Array] = {}
var _has_begun: bool = false


## A node has come below the root; the first that is no autoload is the first scene.
func add(node: Node) -> void:
	if _has_begun or not node.get_parent() is Window:
		return
	if ProjectSettings.has_setting("autoload/%s" % node.name):
		return
	_has_begun = true
	for autoload in node.get_parent().get_children():
		if autoload != node and autoload.get_script() != null:
			if DojoScriptText.is_own(autoload.get_script() as Script):
				if autoload.is_node_ready():
					_remember(autoload)
				else:
					# All of them are, one by one, before anything of the scene is.
					autoload.ready.connect(_remember.bind(autoload), CONNECT_ONE_SHOT)


func _remember(autoload: Node) -> void:
	_values[autoload] = _variables_of(autoload)
	_children[autoload] = autoload.get_children()


## The names of autoloads that are restored.
func names() -> PackedStringArray:
	var found: PackedStringArray = []
	for autoload in _values:
		if is_instance_valid(autoload):
			found.append(str(autoload.name))
	return found


func restore() -> void:
	for autoload in _values:
		if not is_instance_valid(autoload):
			is_restorable = false
			continue
		for child in autoload.get_children():
			if not _children[autoload].has(child):
				child.queue_free()
		for child: Variant in _children[autoload]:
			if not is_instance_valid(child):
				is_restorable = false
		for name: StringName in _values[autoload]:
			autoload.set(name, _copy(_values[autoload][name]))


static func _variables_of(node: Node) -> Dictionary:
	var found: Dictionary = {}
	for property in (node.get_script() as Script).get_script_property_list():
		if property["usage"] & PROPERTY_USAGE_SCRIPT_VARIABLE != 0:
			var name := StringName(property["name"])
			found[name] = _copy(node.get(name))
	return found


static func _copy(value: Variant) -> Variant:
	if value is Array:
		return (value as Array).duplicate(true)
	if value is Dictionary:
		return (value as Dictionary).duplicate(true)
	return value
