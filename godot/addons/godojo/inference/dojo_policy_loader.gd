@tool
class_name DojoPolicyLoader
extends ResourceFormatLoader
## Lets the engine load [code].dojo[/code] files as [DojoPolicy] resources, in the editor, in games
## and in exported packs. The engine finds it by itself; nobody has to call it.

const _EXTENSION := "dojo"
# Loaded when first needed: the engine keeps loaders to its very end, and what they name with them.
# For the same reason no script behind it names itself, or another that names it.
const _READER := "res://addons/godojo/inference/dojo_policy_reader.gd"


func _get_recognized_extensions() -> PackedStringArray:
	return [_EXTENSION]


func _handles_type(type: StringName) -> bool:
	return type in [&"Resource", &"DojoPolicy"]


func _get_resource_type(path: String) -> String:
	return "Resource" if _is_ours(path) else ""


func _get_resource_script_class(path: String) -> String:
	return "DojoPolicy" if _is_ours(path) else ""


func _exists(path: String) -> bool:
	return FileAccess.file_exists(path)


## A file that is refused is loaded as a policy that says why: a scene with it still opens.
func _load(path: String, _original: String, _threaded: bool, _cache_mode: int) -> Variant:
	return (load(_READER) as GDScript).call(&"load_file", path)


func _is_ours(path: String) -> bool:
	return path.get_extension().to_lower() == _EXTENSION
