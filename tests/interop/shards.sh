#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: shards.sh CMD   with CMD the folder of the commands
# A sweep as a job array of a real one-node Slurm, and under GNU parallel: merged, both are the one
# run. Skipped (77) without Slurm, munge or GNU parallel.
set -eu
PATH=$1:$PATH:/usr/sbin:/sbin
example=${FAB_SOURCE_DIR:-$(dirname "$0")/../..}/examples/sweep-slurm.sh
for need in munged slurmctld slurmd sbatch squeue scontrol sqlite3; do
  command -v $need >/dev/null || { echo "skipped: no $need"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd wants to be root"; exit 77; }
parallel --version </dev/null 2>/dev/null | grep -q GNU || { echo "skipped: no GNU parallel"; exit 77; }
work=$(mktemp -d)
chmod 755 "$work"
daemons=
cleanup() {
  for pid in $daemons; do kill "$pid" 2>/dev/null || :; done
  wait 2>/dev/null || :
  rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
fabric=gen:kfat:dims=6x6,hosts=2
values() { # DATABASE   everything but times
  sqlite3 "$1" "SELECT algorithm, name, value FROM result AS r JOIN metric ON result = r.id WHERE name NOT LIKE 'seconds.%'
    ORDER BY r.position, name; SELECT position, part, name, value FROM detail ORDER BY result, position, name;
    SELECT count(*) FROM run"
}
fabric-faults $fabric --random=10 --count=600 -q --store=one.db -o report
values one.db >one

echo "GNU parallel"
seq 8 | parallel --will-cite -j2 fabric-faults $fabric --random=10 --count=600 -q --threads=1 \
  --shard={}/8 --store=parallel.db -o report-{}
fabric-compare parallel.db --merge | head -n 2
values parallel.db | cmp - one

echo "Slurm"
host=$(hostname -s)
dd if=/dev/urandom of=key bs=1024 count=1 status=none
chmod 600 key
mkdir -m 755 state spool socket
munged --foreground --force --key-file="$work/key" --socket="$work/socket/munge" --pid-file="$work/munge.pid" \
  --log-file="$work/munge.log" --seed-file="$work/munge.seed" 2>munge.err &
daemons="$daemons $!"
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(localhost)
AuthInfo=socket=$work/socket/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=localhost CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
slurmctld -D 2>ctld.err &
daemons="$daemons $!"
slurmd -D -N "$host" 2>slurmd.err &
daemons="$daemons $!"
patience=120
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
  patience=$((patience - 1))
  [ $patience -gt 0 ] || { echo "skipped: Slurm does not start here"; tail -n 5 ./*.err ./*.log; exit 77; }
  sleep 1
done
cp "$example" sweep.sh
sbatch sweep.sh $fabric sweep.db
patience=300
while [ -n "$(squeue -h)" ]; do
  patience=$((patience - 1))
  [ $patience -gt 0 ] || { squeue; tail -n 5 ./*.log; exit 1; }
  sleep 1
done
fabric-compare sweep.db --format=csv --columns=shard,label
fabric-compare sweep.db --merge | head -n 2
values sweep.db | cmp - one
echo same
