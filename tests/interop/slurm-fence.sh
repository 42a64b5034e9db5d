#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: slurm-fence.sh COMMANDS FENCE_COUNTS [N...]   messages and bytes of Slurm's fences, counted in
# the logs of its daemons, are those of the plans. Starts up to N slurmd on this host (default 2 to 64)
# and a process each that puts an address, with the fences tree and ring of Slurm's PMIx plugin. Skips
# (77) where Slurm or PMIx are not there.
set -eu
PATH=$1:$PATH counts=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- 2 3 4 7 8 16 32 64
for need in munged slurmctld slurmd srun sinfo cc unshare fabric-launch; do
  command -v "$need" >/dev/null || { echo "skipped: no $need"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd wants to be root"; exit 77; }
work=$(mktemp -d /var/tmp/slurm-fence.XXXXXX)
daemons=
cleanup() {
  for pid in $daemons; do kill "$pid" 2>/dev/null || true; done
  sleep 1
  for pid in $daemons; do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
cat >client.c <<'END'
#include <pmix.h>
#include <string.h>
int main(void)
{
	pmix_proc_t me, all;
	pmix_value_t v = {.type = PMIX_BYTE_OBJECT};
	pmix_info_t info;
	bool yes = true;
	char data[51];

	if (PMIx_Init(&me, NULL, 0))
		return 1;
	memset(data, 'x', sizeof(data));
	v.data.bo.bytes = data;
	v.data.bo.size = sizeof(data);
	PMIx_Put(PMIX_GLOBAL, "12345678901234", &v);
	PMIx_Commit();
	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
	PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
	if (PMIx_Fence(&all, 1, &info, 1))
		return 2;
	return PMIx_Finalize(NULL, 0);
}
END
cc -o client client.c -I/usr/lib/x86_64-linux-gnu/pmix2/include -lpmix 2>cc.err ||
  { echo "skipped: no PMIx to compile with"; exit 77; }
most=2
for n in "$@"; do [ "$n" -le $most ] || most=$n; done
host=$(hostname -s)
dd if=/dev/urandom of=key bs=1024 count=1 status=none
chmod 600 key
mkdir -m 755 state socket
munged --foreground --force --key-file="$work/key" --socket="$work/socket/munge" --pid-file="$work/munge.pid" \
  --log-file="$work/munge.log" --seed-file="$work/munge.seed" 2>munge.err &
daemons="$daemons $!"
port=$((20000 + $$ % 10000))
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(localhost)
AuthInfo=socket=$work/socket/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
SlurmdDebug=debug3
SlurmctldPort=$((port + 5000))
TreeWidth=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName=n[1-$most] NodeHostname=$host NodeAddr=localhost Port=[$((port + 1))-$((port + most))] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
slurmctld -D 2>ctld.err &
daemons="$daemons $!"
i=1
while [ $i -le $most ]; do
  mkdir -m 755 "spool-n$i" "tmp-n$i"
  unshare -m sh -c "mount --bind $work/tmp-n$i /tmp && exec slurmd -D -N n$i" 2>"slurmd-$i.err" &
  daemons="$daemons $!"
  i=$((i + 1))
done
patience=120
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
  patience=$((patience - 1))
  [ $patience -gt 0 ] || { echo "skipped: Slurm does not start here"; tail -n 5 ./*.err; exit 77; }
  sleep 1
done

# counted TYPE: messages between nodes and their bytes in the logs of the daemons
counted() {
  cat slurmd-n*.log | awk -v type="$1" '
    type == "ring" && /contrib\/nbr: / || type == "tree" && /contrib\/rem / && /size=/ {
      n++
      sub(/.*size=/, "")
      bytes += $1
    }
    END { print n + 0, bytes + 0 }'
}
status=0
bytes=$(fabric-launch size --ppn=1 --keys=14:51 --format=csv --no-header --columns=bytes | tr -d '\r')
for n in "$@"; do
  for type in tree ring; do
    for log in slurmd-n*.log; do : >"$log"; done
    SLURM_PMIX_FENCE=$type srun --mpi=pmix -N "$n" -n "$n" -t 2 ./client >srun.out 2>&1 ||
      { echo "skipped: srun fails"; tail -n 5 srun.out; grep -ahE "error|fatal" slurmd-n*.log | head -n 5; exit 77; }
    # logs are complete when the step has ended
    sleep 1
    case $type in tree) plan=tree:2 ;; ring) plan=ring ;; esac
    ours=$("$counts" $plan "$n" "$bytes") theirs=$(counted $type)
    echo "$n nodes, $type: messages and bytes of Slurm $theirs, of the plan $ours"
    [ "$ours" = "$theirs" ] || status=1
  done
done
exit $status
