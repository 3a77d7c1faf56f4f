class_name DojoSettings
extends RefCounted
## A game's settings, typed and checked; defaults and limits are JSON files that trainers read, too.
##
## A subclass has a variable for each section: an object of typed variables, which may be sections
## again or typed arrays of such objects. Its folder holds [code]settings.json[/code], the defaults,
## and [code]settings_limits.json[/code]: by path, such as [code]motion.gravity_mps2[/code], the
## least and the greatest value of a number, or the texts allowed. Integers must be whole.

# By folder.
static var _limits: Dictionary[String, Dictionary] = {}


## Sets every value to its default.
func reset() -> void:
	var path: String = _folder().path_join("settings.json")
	var json: DojoSafeJson = DojoSafeJson.read(FileAccess.get_file_as_string(path))
	var complaint: String = json.error if json.error else set_all(json.data)
	assert(complaint.is_empty(), "%s: %s" % [path, complaint])


## Takes all values from [param source], shaped like the file of defaults. Returns what is wrong
## with it, or an empty text; only then the values have changed.
func set_all(source: Variant) -> String:
	if not source is Dictionary:
		return "settings must be an object"
	var values: Dictionary = {}
	var complaint: String = _flatten(source as Dictionary, _flat(), values)
	return complaint if complaint else _take(values)


## Changes one value, as in [code]motion.gravity_mps2=20[/code]. Returns an error message, or
## an empty text.
func apply_override(text: String) -> String:
	var values: Dictionary = _flat()
	var cut: int = text.find("=")
	if cut < 1:
		var example: String = values.keys()[0]
		return "%s: an override looks like %s=1" % [DojoUntrustedText.quoted(text), example]
	var path: String = text.left(cut).strip_edges()
	if not values.has(path):
		return _unknown(path, values)
	var word: String = text.substr(cut + 1).strip_edges()
	var json: DojoSafeJson = DojoSafeJson.read(word)
	values[path] = json.data if json.error.is_empty() else word
	return _take(values)


## All values, shaped like the file of defaults.
func to_dict() -> Dictionary:
	var tree: Dictionary = {}
	var values: Dictionary = _flat()
	for path: String in values:
		var branch: Dictionary = tree
		var parts: PackedStringArray = path.split(".")
		for part in parts.slice(0, -1):
			branch = branch.get_or_add(part, {})
		branch[parts[-1]] = values[path]
	return tree


## Folder of the two files.
func _folder() -> String:
	return ""


## Checks that involve several of the [param values] by path, each of which is within its limits.
func _check_together(_values: Dictionary) -> String:
	return ""


func _take(values: Dictionary) -> String:
	var now: Dictionary = _flat()
	for path: String in now:
		var complaint: String = _check(path, values, path, now[path])
		if not complaint.is_empty():
			return "%s: %s" % [path, complaint]
	var complaint: String = _check_together(values)
	if complaint.is_empty():
		for path: String in values:
			_write(path, values[path])
	return complaint


## Checks the value under [param key] of [param values] and makes whole numbers integers. It must be
## [param like] what is there now.
func _check(path: String, values: Dictionary, key: String, like: Variant) -> String:
	if not values.has(key):
		return "missing"
	var value: Variant = values[key]
	if like is Array:
		return _check_list(path, value, _section(_empty_item(path)))
	var allowed: Array = _allowed(path)
	if not allowed[0] is String:
		return _check_number(values, key, allowed, like is int)
	if value is String and allowed.has(value):
		return ""
	var names: String = ", ".join(PackedStringArray(allowed))
	return "must be one of %s, not %s" % [names, DojoUntrustedText.quoted(value)]


static func _check_number(
	values: Dictionary, key: String, between: Array, is_whole: bool
) -> String:
	var value: Variant = values[key]
	var quoted: String = DojoUntrustedText.quoted(value)
	if not (value is float or value is int) or not is_finite(value as float):
		return "must be a number, not %s" % quoted
	var number: float = value
	if number < between[0] or number > between[1]:
		return "must be from %s to %s, not %s" % [between[0], between[1], quoted]
	if is_whole and number != floorf(number):
		return "must be a whole number, not %s" % quoted
	values[key] = int(number) if is_whole else number
	return ""


func _check_list(path: String, list: Variant, like: Dictionary) -> String:
	if not list is Array or (list as Array).is_empty():
		return "must be a list"
	for item: Variant in list as Array:
		if not item is Dictionary or (item as Dictionary).size() != like.size():
			return "each item has exactly %s" % " and ".join(PackedStringArray(like.keys()))
		for key: String in like:
			var complaint: String = _check(
				"%s.%s" % [path, key], item as Dictionary, key, like[key]
			)
			if not complaint.is_empty():
				return "%s: %s" % [key, complaint]
	return ""


func _allowed(path: String) -> Array:
	var folder: String = _folder()
	if not _limits.has(folder):
		var text: String = FileAccess.get_file_as_string(folder.path_join("settings_limits.json"))
		_limits[folder] = JSON.parse_string(text)
	return _limits[folder].get(path, [-INF, INF])


## Every value by its path.
func _flat() -> Dictionary:
	var values: Dictionary = {}
	for name in _variables(self):
		if get(name) is RefCounted:
			values.merge(_section(get(name) as RefCounted, name + "."))
	return values


func _write(path: String, value: Variant) -> void:
	var owner: Object = _owner_of(path)
	var name: String = path.get_slice(".", path.get_slice_count(".") - 1)
	if not value is Array:
		owner.set(name, value)
		return
	var list: Array = owner.get(name)
	list.clear()
	for source: Dictionary in value:
		var item: RefCounted = _empty_item(path)
		for key: String in source:
			item.set(key, source[key])
		list.append(item)


func _owner_of(path: String) -> RefCounted:
	var owner: RefCounted = self
	for part in path.split(".").slice(0, -1):
		owner = owner.get(part)
	return owner


## An object for the list at [param path].
func _empty_item(path: String) -> RefCounted:
	var list: Array = _owner_of(path).get(path.get_slice(".", path.get_slice_count(".") - 1))
	return (list.get_typed_script() as GDScript).new()


static func _section(section: RefCounted, prefix: String = "") -> Dictionary:
	var values: Dictionary = {}
	for name in _variables(section):
		var value: Variant = section.get(name)
		if value is RefCounted:
			values.merge(_section(value as RefCounted, prefix + name + "."))
		elif value is Array:
			values[prefix + name] = (value as Array).map(_section)
		else:
			values[prefix + name] = String(value) if value is StringName else value
	return values


static func _variables(object: Object) -> PackedStringArray:
	var names: PackedStringArray = []
	for property in object.get_property_list():
		if property["usage"] & PROPERTY_USAGE_SCRIPT_VARIABLE:
			names.append(property["name"] as String)
	return names


## Spreads [param tree] into [param values] by path. Returns an error message, or an empty text.
static func _flatten(
	tree: Dictionary, known: Dictionary, values: Dictionary, prefix: String = ""
) -> String:
	for key: Variant in tree:
		if not key is String:
			return "settings: the key %s is no text" % DojoUntrustedText.quoted(key)
		var path: String = prefix + (key as String)
		var value: Variant = tree[key]
		if known.has(path):
			values[path] = value
		elif value is Dictionary and path.count(".") < 2:
			var complaint: String = _flatten(value as Dictionary, known, values, path + ".")
			if not complaint.is_empty():
				return complaint
		else:
			return _unknown(path, known)
	return ""


static func _unknown(path: String, known: Dictionary) -> String:
	var near: PackedStringArray = []
	var sections: Dictionary[String, bool] = {}
	for candidate: String in known:
		sections[candidate.get_slice(".", 0)] = true
		if candidate.get_slice(".", 0) == path.get_slice(".", 0):
			near.append(candidate)
	if near.is_empty():
		near = PackedStringArray(sections.keys())
	var asked: String = DojoUntrustedText.quoted(path)
	return "%s: no such setting; known: %s" % [asked, " ".join(near)]
