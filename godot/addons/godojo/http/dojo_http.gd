@icon("res://addons/godojo/icons/dojo_http.svg")
class_name DojoHttp
extends Node
## Lets programs play a game over HTTP: put one into the main scene, or make it an autoload.
##
## It listens on this machine only, and clients must send the token that is printed at the start.
## Only scenes that [DojoSceneWhitelist] lists can be loaded. The node outlives the scene that it
## came with. docs/http.md and [code]/openapi.json[/code] describe the API.
## [br][br]
## The words [code]--http[/code], [code]--http-port=N[/code] (0: any free one),
## [code]--http-host=H[/code], [code]--http-envs=N[/code] and [code]--http-note=FILE[/code] after
## [code]--[/code] on the command line have the last word. The environment's
## [code]GODOJO_HTTP_TOKEN[/code] sets a token, which is then not printed.

## It listens at this address from now on.
signal listening(url: String)

const _GROUP := &"dojo_http"
const _NO_TOKEN := (
	"the token is missing or wrong; set GODOJO_HTTP_TOKEN to the one that the game printed at its"
	+ " start, or send it as Authorization: Bearer TOKEN"
)
const _BROKEN := "a script failed while it answered; the game's output names the error"
## After a request the next one is soon to come: so long it is waited for within frames.
const _SOON_US := 50_000
## Meanwhile the server sleeps for a quarter of the time that it has waited, within these limits.
const _NAP_US := 20
const _LONGEST_NAP_US := 500
const _IDLE_US := 4000

## Only listen when [code]--http[/code] is on the command line.
@export var only_when_asked: bool = false
## Where to listen. Anything but this machine itself lets others in who know the token.
@export var host: String = "127.0.0.1"
## On which port; 0 for any that is free.
@export_range(0, 65535) var port: int = 8080
## Environments that are played at once, unless a client asks for another number.
@export_range(1, DojoHttpGame.MAX_ENVS) var num_envs: int = 1

@export_group("Limits")
## Longest body of a request, in bytes.
@export_range(1024, 16777216) var max_body: int = 262144
## Clients at once. One more replaces the client that has been silent longest.
@export_range(1, 1024) var max_lines: int = 32
## Milliseconds of a frame that serving may take in a game with a window.
@export_range(0.5, 100.0) var frame_ms: float = 4.0
## The same for a game without one.
@export_range(0.5, 1000.0) var headless_frame_ms: float = 50.0

var _server := TCPServer.new()
var _routes: DojoHttpRoutes
var _lines: Array[DojoHttpConnection] = []
var _token_hash: PackedByteArray
var _note_path: String = ""
var _is_busy: bool = false
var _heard_us: int = -_SOON_US
var _budget_us: int = 0
# The frame that is being made, and what serving has taken of it.
var _frame: int = -1
var _spent_us: int = 0
var _is_headless: bool = DisplayServer.get_name() == "headless"


func _ready() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	# Before anybody else moves, so that an action is a whole number of ticks.
	process_physics_priority = -1_000_000
	set_physics_process(false)
	_read_words()
	if only_when_asked:
		return
	if get_tree().get_first_node_in_group(_GROUP) != null:
		# The one that came with an earlier scene stays.
		queue_free()
		return
	add_to_group(_GROUP)
	_budget_us = int((headless_frame_ms if _is_headless else frame_ms) * 1000.0)
	_begin.call_deferred()


func _notification(what: int) -> void:
	if what == NOTIFICATION_PREDELETE:
		_forget_note()


func _physics_process(_delta: float) -> void:
	var began_us: int = Time.get_ticks_usec()
	# A frame that is late has several ticks, and they share what may be taken of it.
	if Engine.get_process_frames() != _frame:
		_frame = Engine.get_process_frames()
		_spent_us = 0
	_admit()
	while _spent_us < _budget_us:
		var has_served: bool = _serve()
		var now_us: int = Time.get_ticks_usec()
		if has_served:
			_heard_us = now_us
		var is_late: bool = _spent_us + now_us - began_us >= _budget_us
		# An answer that is still owed needs the next frame.
		if is_late or _is_busy or now_us - _heard_us > _SOON_US:
			break
		if not has_served:
			_admit()
			OS.delay_usec(clampi(int((now_us - _heard_us) * 0.25), _NAP_US, _LONGEST_NAP_US))
	_spent_us += Time.get_ticks_usec() - began_us
	_routes.counts["longest_serving_us"] = maxi(_routes.counts["longest_serving_us"], _spent_us)
	if _is_headless and Time.get_ticks_usec() - _heard_us > _SOON_US:
		# Nobody looks at a headless game that has nothing to do.
		OS.delay_usec(_IDLE_US)


## Where it listens; empty while it does not.
func url() -> String:
	var shown: String = "[%s]" % host if host.contains(":") else host
	return "http://%s:%d" % [shown, _server.get_local_port()] if _server.is_listening() else ""


func _begin() -> void:
	if get_parent() != get_tree().root:
		reparent(get_tree().root)
	var whitelist: DojoSceneWhitelist = DojoSceneWhitelist.read()
	var complaint: String = whitelist.error
	if complaint.is_empty() and _server.listen(port, host) != OK:
		complaint = "cannot listen on %s:%d; --http-port=0 takes a free port" % [host, port]
	if not complaint.is_empty():
		printerr("Godojo: %s" % complaint)
		if _is_headless:
			# Nobody could see or reach it.
			get_tree().quit(1)
		return
	_routes = DojoHttpRoutes.new(get_tree(), whitelist, num_envs)
	var token: String = OS.get_environment("GODOJO_HTTP_TOKEN")
	var is_ours: bool = token.is_empty()
	if is_ours:
		token = Crypto.new().generate_random_bytes(24).hex_encode()
	_token_hash = token.sha256_buffer()
	_write_note(token)
	print("Godojo: this game answers at %s" % url())
	if is_ours:
		print("Godojo: its token is %s" % token)
	if _note_path:
		print("Godojo: both are in %s" % ProjectSettings.globalize_path(_note_path))
	if host != "127.0.0.1" and host != "::1":
		print("Godojo: other machines can reach this game, if they know the token")
	set_physics_process(true)
	listening.emit(url())


func _read_words() -> void:
	for word in OS.get_cmdline_user_args():
		var value: String = word.get_slice("=", 1)
		if word == "--http":
			only_when_asked = false
		elif word.begins_with("--http-port=") and value.is_valid_int():
			port = clampi(value.to_int(), 0, 65535)
		elif word.begins_with("--http-envs=") and value.is_valid_int():
			num_envs = clampi(value.to_int(), 1, DojoHttpGame.MAX_ENVS)
		elif word.begins_with("--http-host=") and value.is_valid_ip_address():
			host = value
		elif word.begins_with("--http-note="):
			_note_path = value


## Leaves address and token in a file that only its owner can read.
func _write_note(token: String) -> void:
	if _note_path.is_empty():
		_note_path = "user://godojo_http_%d.json" % _server.get_local_port()
	var file: FileAccess = FileAccess.open(_note_path, FileAccess.WRITE)
	if file == null:
		print("Godojo: %s cannot be written" % _note_path)
		_note_path = ""
		return
	if not OS.has_feature("windows"):
		var owner_only: int = FileAccess.UNIX_READ_OWNER | FileAccess.UNIX_WRITE_OWNER
		FileAccess.set_unix_permissions(_note_path, owner_only as FileAccess.UnixPermissionFlags)
	file.store_string(JSON.stringify({"url": url(), "token": token, "pid": OS.get_process_id()}))
	file.close()


func _forget_note() -> void:
	if not _note_path.is_empty() and _server.is_listening():
		DirAccess.remove_absolute(_note_path)
		_note_path = ""


func _admit() -> void:
	while _server.is_connection_available():
		var line := DojoHttpConnection.new(_server.take_connection(), max_body)
		if _lines.size() >= max_lines and not _make_room():
			line.answer(DojoHttpReply.fail(503, "too many clients at once"), false)
			line.close()
			continue
		_lines.append(line)


func _make_room() -> bool:
	var silent: DojoHttpConnection = null
	for line in _lines:
		if not line.is_waiting and (silent == null or line.heard_us < silent.heard_us):
			silent = line
	if silent != null:
		silent.close()
		_lines.erase(silent)
	return silent != null


## Looks at every line once; whether anything was asked for.
func _serve() -> bool:
	var has_served: bool = false
	for line: DojoHttpConnection in _lines.duplicate():
		var request: DojoHttpRequest = line.poll()
		if line.is_closed:
			_lines.erase(line)
		elif request != null:
			has_served = true
			_answer(line, request)
	return has_served


func _answer(line: DojoHttpConnection, request: DojoHttpRequest) -> void:
	_routes.counts["requests"] += 1
	var reply: DojoHttpReply = _refusal(request)
	if reply == null:
		var is_exclusive: bool = _routes.is_exclusive(request)
		while is_exclusive and _is_busy:
			await get_tree().physics_frame
		_is_busy = _is_busy or is_exclusive
		reply = await _routes.answer(request)
		if is_exclusive:
			_is_busy = false
		if reply == null:
			# A script error ends a function without a result; its caller goes on.
			reply = DojoHttpReply.fail(500, _BROKEN)
	if reply.status != 200:
		_routes.counts["refused"] += 1
	line.answer(reply, request.keeps_alive)


## Why this client may not ask for anything; null when it may.
func _refusal(request: DojoHttpRequest) -> DojoHttpReply:
	var origin: String = request.headers.get("origin", "")
	if not origin.is_empty() and origin != url():
		return DojoHttpReply.fail(403, "pages from elsewhere may not ask this game")
	if _routes.is_open(request):
		return null
	var words: PackedStringArray = request.headers.get("authorization", "").split(" ", false)
	# Hashes are compared, so that how long it takes says nothing about the token.
	if words.size() == 2 and words[0].to_lower() == "bearer":
		if words[1].sha256_buffer() == _token_hash:
			return null
	var reply := DojoHttpReply.fail(401, _NO_TOKEN)
	reply.headers["WWW-Authenticate"] = 'Bearer realm="godojo"'
	return reply
