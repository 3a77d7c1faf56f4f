@tool
extends EditorPlugin
## What the editor loads when the Godojo addon is switched on.
##
## The addon's nodes are plain scripts with a [code]class_name[/code], so the editor lists them by
## itself; this script only has to exist for the addon to appear under Project Settings, Plugins.
