class_name MadePolicy
extends RefCounted
## Policy files made by hand, for agents like tests/dojo/stub_agent.gd: what they do is known.

const SEEN: Array[Dictionary] = [
	{"name": "observation", "shape": [2], "kind": "box", "low": -1.0, "high": 1.0}
]
const DONE: Array[Dictionary] = [
	{"name": "go", "kind": "continuous", "size": 1, "rest": 0.0},
	{"name": "pick", "kind": "discrete", "size": 3, "rest": 0.0},
]


## A policy that goes by [param go] plus what it observes first, and picks [param pick].
static func bytes(go: float, pick: int, seen: Array[Dictionary] = SEEN) -> PackedByteArray:
	var size: int = DojoObservationLayout.observation_size(seen)
	var header: Dictionary = {
		"game": "stub",
		"role": "a",
		"observation_parts": seen,
		"action_parts": DONE,
		"heading": null,
		"layers":
		[
			{"name": "trunk", "kind": "relu", "inputs": size, "outputs": 2},
			{"name": "head", "kind": "linear", "inputs": 2, "outputs": 4},
		],
		"memory": "",
		"memory_size": 0,
		"squashed": false,
		"log_std": true,
		"log_std_limits": [-5.0, 2.0],
		"normalised_limit": 5.0,
		"agent_steps": 100,
		"godojo": "test",
		"settings": {},
	}
	var weights := PackedFloat32Array()
	var ones := PackedFloat32Array()
	ones.resize(size)
	ones.fill(1.0)
	weights.append_array(ones)
	var trunk := PackedFloat32Array()
	trunk.resize(size + 2 * size + 2)
	trunk[size] = 1.0
	weights.append_array(trunk)
	var head := PackedFloat32Array()
	head.resize(12)
	head[0] = 1.0
	head[8] = go
	head[9 + pick] = 1.0
	weights.append_array(head)
	weights.append(-1.0)
	var text: PackedByteArray = JSON.stringify(header).to_utf8_buffer()
	while text.size() % 4 != 0:
		text.append(32)
	var content: PackedByteArray = text + weights.to_byte_array()
	var prologue: PackedByteArray = "DOJO".to_ascii_buffer()
	prologue.resize(16)
	prologue.encode_u16(4, 2)
	prologue.encode_u32(8, text.size())
	prologue.encode_u32(12, weights.size() * 4)
	var hashing := HashingContext.new()
	hashing.start(HashingContext.HASH_SHA256)
	hashing.update(content)
	return prologue + hashing.finish() + content


## The same, loaded.
static func policy(go: float, pick: int, seen: Array[Dictionary] = SEEN) -> DojoPolicy:
	return DojoPolicyReader.read(bytes(go, pick, seen))


## The same as a file of this name, which lies where tests may write.
static func file(name: String, go: float, pick: int) -> String:
	return write(name, bytes(go, pick))


## A file with this content.
static func write(name: String, content: PackedByteArray) -> String:
	var path: String = "user://test_%d_%s.dojo" % [OS.get_process_id(), name]
	FileAccess.open(path, FileAccess.WRITE).store_buffer(content)
	return path
