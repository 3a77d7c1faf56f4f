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
static func describe(scenes: Dictionary[String, String], game: DojoHttpGame) -> Dictionary:
	var action: Dictionary = _NUMBERS.duplicate(true)
	var actions: Dictionary = {"type": "array", "items": action}
	if game != null and game.is_driven():
		var size: int = game.action_low.size()
		action.merge({"minItems": size, "maxItems": size})
		var low: float = Array(game.action_low).min()
		var high: float = Array(game.action_high).max()
		action["items"] = {"type": "number", "minimum": low, "maximum": high}
		actions.merge({"minItems": game.num_envs, "maxItems": game.num_envs})
	var ticks: Dictionary = {
		"type": "integer",
		"minimum": 1,
		"maximum": DojoHttpGame.MAX_TICKS,
		"description":
		"Whole decisions are played until this many ticks have passed; one by default.",
	}
	var scene: Dictionary = {"scene": _one_of(scenes.keys())}
	var scene_path: Dictionary = {"scene_path": _one_of(scenes.values())}
	var reset: Dictionary = {
		"seed": {"type": "integer", "minimum": 0, "maximum": DojoHttpRoutes.MAX_SEED},
		"num_envs": {"type": "integer", "minimum": 1, "maximum": DojoHttpGame.MAX_ENVS},
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
		"/scene":
		_sent(
			"Load a scene, by name or by path",
			{"oneOf": [_exactly(scene, ["scene"]), _exactly(scene_path, ["scene_path"])]},
			answers["scene"]
		),
		"/scene/reload": _sent("Load the same scene anew", {}, answers["scene"]),
		"/rl/action":
		_sent(
			"Play an action in the only environment",
			_exactly({"action": action, "ticks": ticks}, ["action"]),
			answers["step"]
		),
		"/rl/step":
		_sent(
			"Play one decision in every environment",
			_exactly({"actions": actions}, ["actions"]),
			answers["steps"]
		),
		"/rl/reset":
		_sent("Begin a round in every environment", _exactly(reset, []), answers["observation"]),
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
	for group in DojoHttpRoutes.MONITORS:
		var numbers: Dictionary = {}
		for name: String in DojoHttpRoutes.MONITORS[group]:
			numbers[name] = _NUMBER
		metrics[group] = _all(numbers)
	metrics["http"] = _all({"requests": _COUNT, "refused": _COUNT, "longest_serving_us": _COUNT})
	var required: Array = metrics.keys()
	metrics["performance"] = {"type": "object", "additionalProperties": _TERMS}
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
	var step: Dictionary = _all(
		{
			"observation": _NUMBERS,
			"reward": _NUMBER,
			"terms": _TERMS,
			"terminated": _FLAG,
			"truncated": _FLAG,
			"ticks": _COUNT,
			"final": final,
		}
	)
	var observation: Dictionary = {
		"observation": _NUMBERS,
		"observations": {"type": "array", "items": _NUMBERS},
		"round": _COUNT,
	}
	var scene: Dictionary = {"scene": {"type": ["string", "null"]}, "scene_path": _TEXT}
	var state: Dictionary = {
		"num_envs": _COUNT,
		"round": _COUNT,
		"decisions": _COUNT,
		"terms": _TERMS,
		"game": {"type": "object"},
	}
	return {
		"health": _all({"status": {"const": "ok"}}),
		"status": _all(status),
		"metrics": _object(metrics, required),
		"observation": _all(observation),
		"state": _all(scene.merged(state)),
		"scene": _all(scene.merged({"reloads": _COUNT})),
		"step": step,
		"steps": _all({"steps": {"type": "array", "items": step}}),
	}


static func _asked(what: String, answer: Variant, is_open: bool = false) -> Dictionary:
	var operation: Dictionary = {"summary": what, "responses": _responses(answer, [409])}
	if is_open:
		operation["security"] = []
	return {"get": operation}


static func _sent(what: String, body: Dictionary, answer: Variant) -> Dictionary:
	var statuses: Array = [400, 404, 408, 409, 411, 413, 415, 422]
	var operation: Dictionary = {"summary": what, "responses": _responses(answer, statuses)}
	if not body.is_empty():
		operation["requestBody"] = {
			"required": body.get("required", [what]) != [],
			"content": {"application/json": {"schema": body}},
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


## An object with these fields and no others.
static func _exactly(fields: Dictionary, required: Array) -> Dictionary:
	return _object(fields, required).merged({"additionalProperties": false})


static func _one_of(texts: Array) -> Dictionary:
	return {"type": "string", "enum": texts} if texts else _TEXT
