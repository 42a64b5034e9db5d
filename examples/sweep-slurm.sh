#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A sweep as a job array, a shard a task:
#   sbatch sweep-slurm.sh FABRIC sweep.db   and, when all are done:   fabric-compare sweep.db --merge
# The same under GNU parallel:
#   seq 8 | parallel fabric-faults FABRIC --random=10 --count=600 --shard={}/8 --store=sweep.db -o report-{}
#SBATCH --array=1-8 --cpus-per-task=1 --output=report-%a.log
exec fabric-faults "$1" --random=10 --count=600 --threads="$SLURM_CPUS_PER_TASK" --store="$2" \
  --shard="$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
