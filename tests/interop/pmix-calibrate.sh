#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: pmix-calibrate.sh FOLDER with|without
# fabric-launch calibrate measures libpmix, where it was built with it: every constant has its
# spread and the version, the file is taken by other verbs, nothing is left behind. Without it,
# the report says that loops alone were measured.
set -u
# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "$0")")/patience.bash"
bin=$1 with=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir tmp
failed=0
fail() {
  echo "FAIL: $*"
  failed=1
}

within 60 env TMPDIR="$dir/tmp" "$bin/fabric-launch" calibrate --measure=1ms \
  --params-out=here.params --format=json >out.json || fail "calibrate: exit $?"
problem=$(jq -r .libpmix_problem out.json)
if [ "$with" = without ]; then
  [ "$(jq .libpmix out.json)" = null ] || fail 'a version without a library'
  case $problem in
    *-Dpmix=enabled*) ;;
    *) fail "no reason why libpmix was not measured: $problem" ;;
  esac
  "$bin/fabric-launch" calibrate --measure=1ms >text
  head -5 text | grep -q 'Built-in loops alone were measured' || fail 'the first screen'
  grep -q libpmix here.params && fail 'constants of libpmix'
  exit $failed
fi
[ "$problem" = null ] || {
  echo "skipped: libpmix cannot be run here: $problem"
  exit 77
}
version=$(jq -r .libpmix out.json)
for name in init_ms register_ms register_us put_us commit_us fence_us get_us get_first_us \
  get_remote_us serve_us; do
  jq -e --arg name $name --arg of "here, libpmix $version: " '.results[] |
    select(.constant == $name) | (.source | startswith($of)) and .spread >= 0 and
    (.value > 0 or ($name | startswith("register")))' out.json >/dev/null ||
    fail "$name: $(jq -c --arg name $name '.results[] | select(.constant == $name)' out.json)"
  grep -q "^$name .* measured here, libpmix $version: " here.params || fail "$name in the file"
done
# what hangs on what: no Get from another node is as fast as one of what is there
jq -e '[.results[] | {(.constant): .value}] | add |
  .get_remote_us > .get_us and .init_ms * 1000 > .put_us and .commit_us > 0' out.json \
  >/dev/null || fail "times in another order: $(jq -c '[.results[] | {(.constant): .value}] | add' out.json)"
"$bin/fabric-launch" stages --nodes=4 --ppn=2 --params=here.params --format=json |
  jq -e --arg of "here, libpmix $version: " '.constants[] | select(.constant == "put_us") |
    .source | startswith($of)' >/dev/null || fail 'stages does not take the file'
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"
exit $failed
