#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-ends.sh FAULTS
# An OpenSM that crashes, hangs or is of another version, an ibsim that fails, missing programs:
# status 3 and one line. Interrupted or ended by a signal, fabric-faults leaves no process and no
# folder. The site's opensm.conf counts. FAULTS is fabric-faults. Exit status 77 (skipped)
# when a program is missing.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
faults=$(readlink -f "$1")
needs opensm ibsim
enter
mkdir tmp bin
export TMPDIR=$dir/tmp
fabric=gen:torus:dims=4x4,hosts=1

# fake PROGRAM SCRIPT: one of that name, found first
fake() {
  printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
  chmod +x "bin/$1"
}
none_runs() { # they all work in folders below tmp
  local process
  for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd") in
    "$dir/tmp/"*) fail "$1: left running: $(tr '\0' ' ' <"$process/cmdline")" ;;
    esac
  done
}
nothing_left() {
  [ -z "$(ls tmp)" ] || fail "$1: left behind: $(ls tmp)"
  none_runs "$1"
}
# refused WANT [OPTION...]: status 3 and this one line
refused() {
  local want=$1 rc
  shift
  PATH=$dir/bin:$PATH "$faults" $fabric --algorithm=opensm:lash "$@" >out 2>err
  rc=$?
  [ $rc -eq 3 ] || fail "status $rc: $want"
  [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] || fail "more than a line: $(cat out err)"
  grep -qF -- "$want" err || fail "expected $want, got $(cat err)"
  nothing_left "$want"
}
# shellcheck disable=SC2016
fake opensm 'kill -SEGV $$'
refused 'opensm:lash: opensm was ended by signal 11'
fake opensm 'echo "cannot do it"; exit 5'
refused 'opensm:lash: opensm ended with status 5: cannot do it'
fake opensm 'exec sleep 1000'
refused 'opensm:lash: opensm did not end within the limit of 1 s (time-limit)' --set=time-limit=1s
# shellcheck disable=SC2016
fake opensm 'log=$(sed -n "s/^log_file //p" opensm.conf)
echo "Nov 28 01:00:00 000000 [AAAA0740] 0x43 -> OpenSM 5.9.0.MLNX" >"$log"; exec sleep 1000'
refused 'opensm:lash: OpenSM 5.9.0.MLNX is installed: the files of 3.3 are known'
# one that says that all is well and writes no tables
# shellcheck disable=SC2016
fake opensm 'log=$(sed -n "s/^log_file //p" opensm.conf)
printf "N [A] 0x43 -> OpenSM 3.3.1\nN [A] 0x02 -> x: lash tables configured on all switches\nN [A] 0x02 -> SUBNET UP\n" >"$log"
exec sleep 1000'
refused 'opensm-lfts.dump:0: no forwarding table'
rm bin/opensm
fake ibsim 'echo "bad net"; exit 1'
refused 'opensm:lash: ibsim ended with status 1: bad net'
fake ibsim 'exec sleep 1000'
refused 'opensm:lash: ibsim did not end within the limit of 1 s (time-limit)' --set=time-limit=1s
rm bin/ibsim
# without the programs, where a file can be hidden
sm=$(command -v opensm)
if unshare -rm true 2>/dev/null; then
  unshare -rm sh -c 'mount --bind /dev/null "$1" && exec "$2" "$3" --algorithm=opensm:minhop' \
    - "$sm" "$faults" $fabric >out 2>err
  rc=$?
  [ $rc -eq 3 ] || fail "status $rc without opensm"
  grep -qF 'no opensm found: it needs the packages opensm and ibsim-utils' err || fail "$(cat err)"
fi

# the site's file
printf 'log_file /nowhere/x\nevent_plugin_name bad\nroot_guid_file roots\n' >conf
refused "conf:3: root_guid_file roots: No such file or directory" --opensm-conf=conf
printf '# c\nlash_start_vl\n' >conf
refused 'conf:2: expected a value of lash_start_vl' --opensm-conf=conf
refused 'no-conf: No such file or directory' --opensm-conf=no-conf
printf 'lash_start_vl 2\nlog_file %s/written\ndaemon TRUE\nrouting_engine dor\nguid 0x1\n' "$dir" >conf
"$faults" $fabric --algorithm=opensm:lash --opensm-conf=conf --sl2vl-out=lanes --path-sl-out=levels -q \
  -o report --check || fail "not routed with conf"
[ ! -e written ] || fail "the log file of the site was written"
awk '/^0x/ { if ($3 < 2) low = 1; else high = 1 } END { exit low || !high }' levels ||
  fail "lash_start_vl is not heeded"
echo 0x0000000000000001 >roots # of no switch: a list, but no roots
printf 'root_guid_file roots\n' >conf
"$faults" gen:fattree:radix=4,levels=3 --algorithm=opensm:updn --opensm-conf=conf >report || fail "updn"
grep -q 'OpenSM took minhop instead' report || fail "root_guid_file is not heeded"

# ended from outside, while OpenSM runs
fake opensm 'exec sleep 1000'
for signal in INT TERM HUP SEGV; do
  PATH=$dir/bin:$PATH timeout -s $signal 1 "$faults" $fabric --algorithm=opensm:lash >out 2>err
  nothing_left $signal
done
# killed: no folder can be removed, but no process stays
PATH=$dir/bin:$PATH timeout -s KILL 1 "$faults" $fabric --algorithm=opensm:lash >out 2>err
sleep 1
none_runs killed
exit 0
