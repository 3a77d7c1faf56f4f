extends EngineTest
## The bytes of dojo/1 and of its WebSocket, as the game writes and reads them.

const ANSWER := "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept:  %s\r\n\r\n"

const DESCRIPTION: Dictionary = {
	"worlds": 1,
	"reward_terms": ["reward"],
	"roles":
	[
		{
			"agents": 2,
			"observation": [{"shape": [2], "kind": "box"}],
			"action": [{"kind": "continuous", "size": 2}, {"kind": "discrete", "size": 5}],
		},
	],
}


func test_a_step_is_written_as_the_protocol_says() -> void:
	var wire := DojoWire.new()
	wire.set_description(DESCRIPTION)
	var results := DojoResults.new(1)
	results.observation = [1.0, 2.0, 3.0, 4.0]
	results.terms = [0.5, -0.5]
	results.flags = [DojoResults.ACTED, DojoResults.ACTED | DojoResults.TERMINATED]
	results.ended = [0, 1, 40, -1]
	results.final_rows[0] = [1]
	results.final_observation[0] = [5.0, 6.0]
	results.final_terms[0] = [7.0]
	results.final_score[0] = [8.0]
	var prefix: PackedByteArray = [9]
	var length: int = wire.step_length(results)
	var step: PackedByteArray = wire.write_step(prefix, 3, 258, results).slice(1)
	check_equal(wire.error, "", "complaint")
	check_equal(step.size(), length, "the length that was foretold")
	var want: String = (
		"02000000"
		+ "03000000"
		+ "02010000"
		+ "01000000"
		+ "01000000"
		+ "0000803f"
		+ "00000040"
		+ "00004040"
		+ "00008040"
		+ "0000003f"
		+ "000000bf"
		+ "00000000"
		+ "01000000"
		+ "28000000"
		+ "ffffffff"
		+ "01000000"
		+ "0000a040"
		+ "0000c040"
		+ "0000e040"
		+ "00000041"
		+ "01"
		+ "03"
	)
	check_equal(step.hex_encode(), want, "bytes")


func test_the_truth_travels_behind_the_rewards_if_it_is_described() -> void:
	var wire := DojoWire.new()
	wire.set_description(DESCRIPTION.merged({"truth": [{"shape": [1], "kind": "box"}]}))
	var results := DojoResults.new(1)
	results.observation = [1.0, 2.0, 3.0, 4.0]
	results.terms = [0.5, -0.5]
	results.flags = [1, 1]
	check_equal(wire.step_length(results), 0, "length without what was promised")
	results.truth = [9.0]
	var length: int = wire.step_length(results)
	var step: PackedByteArray = wire.write_step(PackedByteArray(), 1, 0, results)
	check_equal(wire.error, "", "complaint")
	check_equal(step.size(), length, "the length that was foretold")
	check_equal(step.slice(20 + 4 * 6, 20 + 4 * 7).hex_encode(), "00001041", "truth")


func test_results_of_another_size_are_not_sent() -> void:
	var wire := DojoWire.new()
	wire.set_description(DESCRIPTION)
	var results := DojoResults.new(1)
	results.observation = [1.0, 2.0, 3.0]
	results.terms = [0.5, -0.5]
	results.flags = [1, 1]
	check_equal(wire.step_length(results), 0, "length")
	check("another size" in wire.error, "one observation is missing")
	results.observation = [1.0, 2.0, 3.0, 4.0]
	check(wire.step_length(results) > 0, wire.error)
	results.final_rows[0] = [1]
	check_equal(wire.step_length(results), 0, "length without a final observation")


func test_actions_are_read_or_refused() -> void:
	var wire := DojoWire.new()
	wire.set_description(DESCRIPTION)
	var frame := PackedByteArray([1, 0, 0, 0, 5, 0, 0, 0])
	frame.append_array(PackedFloat32Array([1.0, -1.0, 4.0, 0.0, 0.25, 2.0]).to_byte_array())
	check_equal(wire.read_actions(frame, 5), PackedFloat32Array([1, -1, 4, 0, 0.25, 2]), "actions")
	check_equal(wire.error, "", "complaint")
	wire.read_actions(frame, 6)
	check_equal(wire.error, "actions number 5 came instead of 6", "another number")
	wire.read_actions(frame.slice(0, 31), 5)
	check_equal(wire.error, "an actions frame has 31 bytes instead of 32", "cut short")
	frame.encode_float(12, NAN)
	wire.read_actions(frame, 5)
	check_equal(wire.error, "an action is not a number", "NaN")


func test_frames_of_every_length_come_through() -> void:
	for length: int in [0, 1, 125, 126, 65535, 65536, 200_000]:
		var content := PackedByteArray()
		content.resize(length)
		content.fill(7)
		var header: PackedByteArray = DojoWebSocketCodec.header(DojoWebSocketCodec.BINARY, length)
		check_equal(header.slice(-4).hex_encode(), "00000000", "mask before %d bytes" % length)
		# What a trainer sends has no mask.
		header = header.slice(0, -4)
		header[1] &= 0x7F
		var frames: DojoWebSocketCodec = _open()
		header.append_array(content)
		# In two pieces, and with the beginning of another frame behind it.
		var cut: int = mini(length, 3)
		frames.feed(header.slice(0, cut))
		check(frames.next().is_empty() or length == 0, "nothing is whole yet")
		if length > 0:
			frames.feed(header.slice(cut) + PackedByteArray([0x81, 2]))
			check_equal(frames.next(), [DojoWebSocketCodec.BINARY, content], "%d bytes" % length)
			check_equal(frames.next(), [], "the next frame is not there yet")
			frames.feed("hi".to_ascii_buffer())
			check_equal(frames.next(), [1, "hi".to_ascii_buffer()], "the frame behind it")
		check_equal(frames.error, "", "complaint")


func test_pieces_are_put_together_around_a_ping() -> void:
	var frames: DojoWebSocketCodec = _open()
	frames.feed([0x01, 1, 65, 0x89, 1, 90, 0x00, 1, 66, 0x80, 1, 67])
	check_equal(frames.next(), [DojoWebSocketCodec.PING, PackedByteArray([90])], "the ping")
	check_equal(frames.next(), [DojoWebSocketCodec.TEXT, PackedByteArray([65, 66, 67])], "the text")


func test_a_wrong_proof_is_no_trainer() -> void:
	var frames := DojoWebSocketCodec.new(1000)
	frames.request("localhost", 1)
	frames.feed((ANSWER % "d3Jvbmc=").to_ascii_buffer())
	check(not frames.is_open, "open")
	check_equal(frames.error, "the server there is no trainer", "complaint")


## Frames of a call that has been answered.
func _open() -> DojoWebSocketCodec:
	var frames := DojoWebSocketCodec.new(1 << 20)
	var call: String = frames.request("localhost", 1).get_string_from_ascii()
	var key: String = call.get_slice("Sec-WebSocket-Key: ", 1).get_slice("\r\n", 0)
	var proof: PackedByteArray = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").sha1_buffer()
	frames.feed((ANSWER % Marshalls.raw_to_base64(proof)).to_ascii_buffer())
	check(frames.is_open, frames.error)
	return frames
