#!/usr/bin/env bash
# Makes a film (H.264 in MP4) of the frames that `scripts/record_gui.sh` has drawn.
#
#   scripts/encode_frames.sh                     trainer/frames, as trainer/learn_progress-DATE.mp4
#   scripts/encode_frames.sh FOLDER              another folder of frames; the film is written beside it
#   scripts/encode_frames.sh FOLDER --out FILM.mp4
#
# Any numbered pictures will do, such as frame_00001.png, also those of a DojoRecorder in your own scene.
#
# From outside:
#   GODOJO  another command than `python3 dojo.py`, for example: .venv/bin/godojo
set -euo pipefail

DEADLINE_S=3600

cd "$(dirname "$0")/.."
folder=trainer/frames
case "${1:-}" in
'' | -*) ;;
*)
	folder="$1"
	shift
	;;
esac
# A later --out takes the place of this one.
film=(--out "$(dirname "$folder")/learn_progress-$(date +%Y-%m-%d).mp4")
deadline="$(command -v timeout || command -v gtimeout)" || {
	echo "scripts/encode_frames.sh: there is no 'timeout' here; install it (on macOS: brew install coreutils)" >&2
	exit 2
}
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"
exec "$deadline" --foreground --signal=INT --kill-after=10 "$DEADLINE_S" \
	"${godojo[@]}" encode "$folder" "${film[@]}" "$@"
