#!/usr/bin/env bash
# Makes a film (H.264 in MP4) of the frames that `scripts/record_gui.sh` has drawn.
#
#   scripts/encode_frames.sh                     trainer/frames, as trainer/recording-DATE.mp4
#   scripts/encode_frames.sh FOLDER              another folder of frames; the film lies beside it
#   scripts/encode_frames.sh FOLDER --out FILM.mp4
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
deadline="$(command -v timeout || command -v gtimeout)" || {
	echo "scripts/encode_frames.sh: there is no 'timeout' here; install it (on macOS: brew install coreutils)" >&2
	exit 2
}
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"
exec "$deadline" --foreground --signal=INT --kill-after=10 "$DEADLINE_S" "${godojo[@]}" encode "$folder" "$@"
