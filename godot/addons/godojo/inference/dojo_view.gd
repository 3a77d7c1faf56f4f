class_name DojoView
extends RefCounted
## What [DojoOverlay] shows of one agent.

## Who it is.
var title: String
## What plays it.
var policy: String
## See [DojoObservationLayout].
var observation_parts: Array[Dictionary] = []
## See [DojoObservationLayout].
var action_parts: Array[Dictionary] = []
## What it saw last; empty when it is not known.
var observation := PackedFloat32Array()
## What it did last; empty when it is not known.
var action := PackedFloat32Array()
