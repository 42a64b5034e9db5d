#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-patience.sh SOURCE   a program of others that does not end makes a test that is
# skipped with the reason, not one that fails: stand-ins for ibsim, OpenSM and ibdmchk that
# say what lets the scripts go on and then sleep
set -u
source=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() {
  echo "FAILED: $*"
  cat "$dir/log"
  exit 1
}
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
mkdir "$dir/bin"
printf '#!/bin/sh\necho simulator ready\nexec sleep 60\n' >"$dir/bin/ibsim"
printf '#!/bin/sh\nexec sleep 60\n' >"$dir/bin/opensm"
cp "$dir/bin/opensm" "$dir/bin/ibdmchk"
chmod +x "$dir"/bin/*
printf 'Switch\t2 "S-1"\nCa\t1 "H-1"\n' >"$dir/net"
export PATH=$dir/bin:$PATH FAB_PATIENCE=0.005

skips() { # NAME COMMAND...
  local name=$1 rc
  shift
  timeout 40 "$@" >"$dir/log" 2>&1
  rc=$?
  [ $rc -eq 77 ] || fail "$*: status $rc"
  grep -q "^skipped: $name has not ended in [0-9]* s (load " "$dir/log" || fail "$*: no reason"
}
skips opensm "$source/tests/interop/opensm-tables.sh" "$dir/net" minhop "$dir/out"
sed -i '2d' "$dir/bin/ibsim"
skips ibsim "$source/tests/interop/opensm-tables.sh" "$dir/net" minhop "$dir/out"
# within a pipe or a subshell, too; what ends in time has its own status
cat >"$dir/script" <<'END'
. "$1/tests/interop/patience.bash"
within 1 false && exit 1
(within 1 env A=B ibdmchk; true) >report 2>&1
exit 0
END
# every script that waits for them does so with patience
bare=$(grep -nE '\btimeout [0-9]|(^|[;|&({]) *(env +)?([A-Z_]+=[^ ]* +)*(ibdmchk|ibtracert|ibnetdiscover|dnsmasq|dhcpd|"\$mcjoin") ' \
  "$source"/tests/interop/*.sh "$source/tests/interop/simulated.bash" | grep -v ':[0-9]*: *#')
[ -z "$bare" ] || { echo "without patience.bash:"; echo "$bare"; exit 1; }
cat >"$dir/bin/faults" <<'END'
#!/bin/sh
echo '"pairs": 12, "connected": 12, "unreachable": 0, "connected_in_graph": 12, "hops": {}, "cycle_channels": 0,' \
  '"pairs_on_cycles": 0, "verified": true'
END
chmod +x "$dir/bin/faults"
skips ibdmchk "$source/tests/interop/faults-read-back.sh" "$dir/bin/faults" 1 fabric minhop
cp "$dir/bin/opensm" "$dir/bin/dnsmasq"
skips dnsmasq "$source/tests/interop/bootplan.sh" "$dir/bin/faults" dnsmasq
cd "$dir" || exit 1
skips ibdmchk bash "$dir/script" "$source"
# more load, more patience
(
  unset FAB_PATIENCE
  . "$source/tests/interop/patience.bash"
  [ "$(patience 100)" -ge 200 ]
) || fail "no patience"
echo "all skipped with their reason"
