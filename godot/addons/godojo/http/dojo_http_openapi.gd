class_name DojoHttpOpenapi
extends RefCounted
## The API's description of itself, in OpenAPI 3.1.

const _NUMBERS := {"type": "array", "items": {"type": "number"}}
const _COUNT := {"type": "integer", "minimum": 0}
const _TEXT := {"type": "string"}
const _NUMBER := {"type": "number"}
const _FLAG := {"type": "boolean"}
const _TERMS := {"type": "object", "additionalProperties": {"type": "number"}}


## What can be asked for, with the scenes that may be loaded and the sizes of [param game] where
## they are known.
static func describe(scenes: Array, game: DojoHttpGame) -> Dictionary:
	var is_known: bool = game != null and game.is_driven()
	var action: Dictionary = _NUMBERS.duplicate(true)
	var most: float = DojoHttpRoutes.MAX_NUMBER
	action["items"] = {"type": "number", "minimum": -most, "maximum": most}
	action["description"] = "As a rule from -1 to 1; the game clips larger values."
	var ticks: Dictionary = {
		"type": "integer",
		"minimum": 1,
		"maximum": DojoHttpGame.MAX_TICKS,
		"description":
		"Whole decisions are played until this many ticks have passed; one by default.",
	}
	if is_known:
		action["minItems"] = game.action_size
		action["maxItems"] = game.action_size
	var wanted_scene: Dictionary = {"type": "string", "enum": scenes} if scenes else _TEXT
	var reset: Dictionary = {
		"seed": {"type": "integer", "minimum": 0, "maximum": DojoHttpRoutes.MAX_SEED},
		"ticks_per_decision": {"type": "integer", "minimum": 1, "maximum": 60},
		"options": {"type": "object", "description": "The game's own, as in dojo/1's configure."},
	}
	var answers: Dictionary = _answers()
	var paths: Dictionary = {
		"/health": _asked("Whether the game answers", answers["health"], true),
		"/status": _asked("The running game and scene", answers["status"]),
		"/performance/metrics": _asked("How the engine is doing", answers["metrics"]),
		"/rl/observation": _asked("The current observation", answers["observation"]),
		"/rl/state": _asked("What the game is, and how the round goes", answers["state"]),
		"/scene": _sent("Load a scene", {"scene": wanted_scene}, ["scene"], answers["scene"]),
		"/scene/reload": _sent("Load the same scene anew", {}, [], answers["scene"]),
		"/rl/reset": _sent("Begin a round", reset, [], answers["observation"]),
		"/rl/action":
		_sent(
			"Do something and see what it brings",
			{"action": action, "ticks": ticks},
			["action"],
			answers["step"]
		),
	}
	return {
		"openapi": "3.1.0",
		"info": {"title": "A Godot game, played over HTTP", "version": "1"},
		"paths": paths,
		"components":
		{
			"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
			"schemas": {"Error": _object({"code": _TEXT, "message": _TEXT}, ["code", "message"])},
		},
		"security": [{"token": []}],
	}


static func _answers() -> Dictionary:
	var metrics: Dictionary = {}
	for name: String in [
		"fps", "process_s", "physics_s", "memory_bytes", "memory_most_bytes", "objects", "nodes"
	]:
		metrics[name] = _NUMBER
	for name: String in ["draw_calls", "drawn_objects", "primitives", "physics_frames", "requests"]:
		metrics[name] = _NUMBER
	var status: Dictionary = {
		"game": _TEXT,
		"godot": _TEXT,
		"scene": {"type": ["string", "null"]},
		"scenes": {"type": "array", "items": _TEXT},
		"driven": _FLAG,
		"uptime_s": _NUMBER,
		"requests": _COUNT,
		"reloads": _COUNT,
	}
	var final: Dictionary = _all(
		{
			"observation": _NUMBERS,
			"terms": _TERMS,
			"score": _NUMBER,
			"winner": _TEXT,
			"ticks": _COUNT,
			"arena": {"type": ["string", "null"]},
		}
	)
	final["type"] = ["object", "null"]
	return {
		"health": _all({"status": {"const": "ok"}}),
		"status": _all(status),
		"metrics": _all(metrics),
		"observation": _all({"observation": _NUMBERS, "round": _COUNT}),
		"state":
		_all({"round": _COUNT, "decisions": _COUNT, "terms": _TERMS, "game": {"type": "object"}}),
		"scene": _all({"scene": {"type": ["string", "null"]}, "reloads": _COUNT}),
		"step":
		_all(
			{
				"observation": _NUMBERS,
				"reward": _NUMBER,
				"terms": _TERMS,
				"terminated": _FLAG,
				"truncated": _FLAG,
				"ticks": _COUNT,
				"final": final,
			}
		),
	}


static func _asked(what: String, answer: Variant, is_open: bool = false) -> Dictionary:
	var operation: Dictionary = {"summary": what, "responses": _responses(answer, [409])}
	if is_open:
		operation["security"] = []
	return {"get": operation}


static func _sent(what: String, fields: Dictionary, required: Array, answer: Variant) -> Dictionary:
	var statuses: Array = [400, 404, 408, 409, 411, 413, 415, 422]
	var operation: Dictionary = {"summary": what, "responses": _responses(answer, statuses)}
	if not fields.is_empty():
		var shape: Dictionary = _object(fields, required)
		shape["additionalProperties"] = false
		operation["requestBody"] = {
			"required": not required.is_empty(), "content": {"application/json": {"schema": shape}}
		}
	return {"post": operation}


static func _responses(answer: Variant, statuses: Array) -> Dictionary:
	var error: Dictionary = {"$ref": "#/components/schemas/Error"}
	var found: Dictionary = {
		"200": {"description": "Done", "content": {"application/json": {"schema": answer}}}
	}
	for status: Variant in [401, 403, 405, 500, 503, "default"] + statuses:
		found[str(status)] = {
			"description": "Refused", "content": {"application/json": {"schema": error}}
		}
	return found


static func _all(fields: Dictionary) -> Dictionary:
	return _object(fields, fields.keys())


static func _object(fields: Dictionary, required: Array) -> Dictionary:
	return {"type": "object", "properties": fields, "required": required}
