extends SceneTree
## Runs every program of the file named on the command line and writes the exact bits of what its functions return.


func _init() -> void:
	var words := OS.get_cmdline_user_args()
	var programs: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(words[0]))
	var results := {}
	for name: String in programs:
		var script := GDScript.new()
		script.source_code = programs[name]
		if script.reload() != OK:
			results[name] = "does not load"
			continue
		results[name] = _run(script)
	var file := FileAccess.open(words[1], FileAccess.WRITE)
	file.store_string(JSON.stringify(results))
	file.close()
	quit()


func _run(script: GDScript) -> Dictionary:
	var found := {}
	for method: Dictionary in script.get_script_method_list():
		var name: String = method.name
		if name.begins_with("test"):
			var instance: Object = script.new()
			found[name] = _bits(instance.call(name))
	return found


func _bits(value: Variant) -> String:
	match typeof(value):
		TYPE_BOOL:
			return "b1" if value else "b0"
		TYPE_INT:
			return "i%d" % value
		TYPE_FLOAT:
			return "fnan" if is_nan(value) else "f" + PackedFloat64Array([value]).to_byte_array().hex_encode()
		TYPE_VECTOR2:
			return "v" + PackedFloat32Array([value.x, value.y]).to_byte_array().hex_encode()
		TYPE_VECTOR3:
			return "v" + PackedFloat32Array([value.x, value.y, value.z]).to_byte_array().hex_encode()
		TYPE_VECTOR2I:
			return "w%d,%d" % [value.x, value.y]
		TYPE_VECTOR3I:
			return "w%d,%d,%d" % [value.x, value.y, value.z]
		TYPE_NIL:
			return "null"
	var parts: PackedStringArray = []
	for one: Variant in value:
		parts.append(_bits(one))
	return "[" + " ".join(parts) + "]"
