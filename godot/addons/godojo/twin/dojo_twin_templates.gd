extends RefCounted
## What scripts may make while a game runs: scenes that they load or hold, and nodes by
## [code]Type.new()[/code].

var _loaded: Dictionary = {}


## Paths of scenes and names of classes that [param scripts] mention or that [param resources] are.
func titles(scripts: Dictionary, resources: Array) -> PackedStringArray:
	var found: PackedStringArray = []
	var scenes := RegEx.create_from_string("[\"'](res://[^\"']+\\.t?scn|uid://\\w+)[\"']")
	var classes := RegEx.create_from_string("\\b([A-Z]\\w*)\\.new\\(")
	for path: String in scripts:
		var file := FileAccess.open(path, FileAccess.READ)
		var text: String = file.get_as_text() if file != null else ""
		for hit in scenes.search_all(text):
			found.append(_path_of(hit.get_string(1)))
		for hit in classes.search_all(text):
			found.append(hit.get_string(1))
	for resource: Dictionary in resources:
		if resource["class_name"] == "PackedScene" and resource["path"] != "":
			found.append(resource["path"] as String)
	return found


## A scene's root or a node of the engine, outside the tree; null for what is no node.
func new_node(title: String) -> Node:
	seed(0)  # scripts may draw random numbers as they are made
	if title.ends_with("scn"):
		if not ResourceLoader.exists(title, "PackedScene"):
			return null
		_loaded[title] = load(title)
		var scene := _loaded[title] as PackedScene
		return scene.instantiate() if scene != null and scene.can_instantiate() else null
	if ClassDB.is_parent_class(title, "Node") and ClassDB.can_instantiate(title):
		return ClassDB.instantiate(title) as Node
	return null


func _path_of(text: String) -> String:
	if not text.begins_with("uid://"):
		return text
	var number: int = ResourceUID.text_to_id(text)
	return ResourceUID.get_id_path(number) if ResourceUID.has_id(number) else ""
