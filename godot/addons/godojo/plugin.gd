@tool
extends EditorPlugin
## What the editor loads when the Godojo addon is switched on.
##
## The addon's nodes are plain scripts with a [code]class_name[/code], so the editor lists them by
## itself. Switching the addon on also offers its script template for a new agent, in projects that
## keep no templates of their own.

const _SETTING := "editor/script/templates_search_path"
const _USUAL := "res://script_templates"
const _OURS := "res://addons/godojo/script_templates"


func _enable_plugin() -> void:
	if ProjectSettings.get_setting(_SETTING, _USUAL) == _USUAL:
		if not DirAccess.dir_exists_absolute(_USUAL):
			ProjectSettings.set_setting(_SETTING, _OURS)
			ProjectSettings.save()


func _disable_plugin() -> void:
	if ProjectSettings.get_setting(_SETTING, _USUAL) == _OURS:
		ProjectSettings.set_setting(_SETTING, _USUAL)
		ProjectSettings.save()
