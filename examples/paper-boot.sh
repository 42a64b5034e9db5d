#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-boot.sh [full|quick]
# Sets the figures of Gong D., Song C., Liu S., Qi F., "Network boot distribution algorithms of
# large-scale supercomputers" next to what fabric-bootplan gives for the machine of the paper, and
# shows what a balanced mapping makes of it. Then the claims of the paper, each with its verdict, the
# numbers that it follows from, and the command, and a count of the verdicts. Finds fabric-bootplan
# in PATH or in build/cmd. Exits with 1 when a figure differs, or a balanced mapping is slower than
# one of the paper. With `full` also for every number of boards and every single board (a minute); with `quick`
# for fewer batches: 50 random ones in place of 1000, and every number of cabinets in place of every one of supernodes.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shares ALGORITHM BOOT: lines "NAME SHARE", then "time SECONDS"
shares() {
  fabric-bootplan --quiet --machine=preset:taihulight --algorithm="$1" --boot="$2" \
    --format=json --columns=boot_seconds,segments |
    tr -d ' \r\n' | sed 's/{"name"/\n&/g; s/"results":/\n&/' |
    sed -nE 's/.*"results":.*"boot_seconds":([0-9.]+),.*/time \1/p
      s/^\{"name":"(N[1-5])".*"share_mbps":([0-9.]+).*/\1 \2/p'
}

# The rules of the paper as formulas, for whole boards: block-cyclic over 160 servers, 20 a cascade.
cat >"$work/closed.awk" <<'END'
function least(a, b) { return a < b ? a : b }
function boards_of(boot,   part) {
  if (boot == "all") return 5120
  split(boot, part, ":")
  if (part[3] == "board") return part[2]
  if (part[3] == "supernode") return part[2] * 32
  return part[3] == "cabinet" ? part[2] * 128 : 0
}
function closed(rule, boot, what,   boards, block, rounds, rest, share, i) {
  boards = boards_of(boot)
  if (!boards) return -1
  block = rule == "bcda" ? 1 : 32
  rounds = int(boards / (block * 160))
  rest = boards % (block * 160)
  share["N1"] = 1000
  share["N2"] = 1000 / 8
  share["N3"] = 20000 / (8 * least(boards, 32))
  share["N4"] = 20000 / (8 * (rounds * block * 20 + least(rest, block * 20)))
  share["N5"] = 1000 / (8 * (rounds * block + least(rest, block)))
  if (what != "time") return share[what]
  share["all"] = 1000
  for (i = 1; i <= 5; i++) share["all"] = least(share["all"], share["N" i])
  return 400 / share["all"]
}
function differ(a, b) { return a - b > 0.005 || b - a > 0.005 }
END

# figure ALGORITHM BOOT WHAT PAPER
figure() {
  [ -f "$work/$1.$2" ] || shares "$1" "$2" >"$work/$1.$2"
  ours=$(awk -v what="$3" '$1 == what { print $2 }' "$work/$1.$2")
  awk -v a="$1" -v b="$2" -v w="$3" -v p="$4" -v o="$ours" "$(cat "$work/closed.awk")"'
    BEGIN {
      c = closed(a, b, w)
      same = o != "" && !differ(o, p) && (c < 0 || !differ(c, p))
      printf "%-5s %-20s %-5s %9s %9s %9.2f  %s\n", a, b, w, p,
        c < 0 ? "-" : sprintf("%.2f", c), o, same ? "same" : "differs"
      exit !same
    }' && echo reproduced >>"$work/verdicts" || echo differs >>"$work/differs"
}

# claim CLAIM VERDICT NUMBERS COMMAND
claim() {
  printf '%s\n    %s\n    %s\n    $ %s\n' "$1" "$2" "$3" "$4"
  echo "${2%%:*}" >>"$work/verdicts"
}

# values COLUMN ALGORITHM BOOT: the column of each algorithm, separated by blanks
values() {
  fabric-bootplan --quiet --machine=preset:taihulight --algorithm="$2" --boot="$3" \
    --format=csv --no-header --columns="$1" | tr -d '\r' | tr '\n' ' ' | sed 's/ $//'
}

# if_true EXPRESSION YES NO: of awk
if_true() { awk "BEGIN { exit !($1) }" && echo "$2" || echo "$3"; }

cat <<'END'
Shares in Mb/s on the segments N1 (CPU) to N5 (server), and times to boot (50 MB) in seconds: what
the paper says, its rules as formulas (whole boards), and the general model.

rule  boot                 what      paper   formula     ours
END
for rule in scda bcda; do
  figure $rule first:1:cpu N1 1000
  figure $rule first:1:cpu N5 1000
  for boards in 1 2 20 32 5120; do figure $rule first:$boards:board N2 125; done
  figure $rule first:1:board N3 2500
  figure $rule first:20:board N3 125
  figure $rule first:1:supernode N3 78.13
  figure $rule all N3 78.13
  figure $rule first:1:board N4 2500
  figure $rule first:1:board N5 125
done
figure scda first:2:board N5 62.5
figure scda first:20:board N5 6.25
figure scda first:1:supernode N5 3.91
figure scda first:5:cabinet N4 3.91
figure scda first:5:cabinet N5 3.91
figure scda all N4 3.91
figure scda all N5 3.91
figure bcda first:20:board N4 125
figure bcda first:21:board N4 125
figure bcda first:160:board N4 125
figure bcda first:160:board N5 125
figure bcda first:320:board N4 62.5
figure bcda first:320:board N5 62.5
figure bcda all N4 3.91
figure bcda all N5 3.91
figure scda first:1:supernode time 102.4
figure scda all time 102.4
figure bcda first:1:board time 3.2
figure bcda first:20:board time 3.2
figure bcda first:1:supernode time 5.12
figure bcda all time 102.4

cat <<'END'

How many times faster than SCDA:

boards       bcda  balanced
END
fabric-bootplan --quiet --machine=preset:taihulight --sweep=board --algorithm=scda,bcda,balanced \
  --format=csv --no-header --columns=algorithm,batch,boot_seconds | tr -d '\r' |
  awk -F, '{ t[$1] = $3 }
    $1 == "balanced" {
      split($2, part, ":")
      printf "%6d %10.2f %9.2f\n", part[2], t["scda"] / t["bcda"], t["scda"] / t["balanced"]
    }'

cat <<'END'

Seconds to boot that many nodes by equal shares and by max-min fairness, in which others take the
bandwidth that a node cannot use. Those on the tightest segment gain nothing, so that the last node is as late by both,
and half of the nodes are done hardly sooner (bcda's first 1536 of 3072 are): they use such segments alike.

           equal shares, last node      max-min, last node           max-min, half of them
  nodes    scda     bcda balanced     scda     bcda balanced     scda     bcda balanced
END
for boot in first:100 first:1:supernode first:300:board first:3:cabinet first:4500:board all; do
  fabric-bootplan --quiet --machine=preset:taihulight --boot=$boot --algorithm=scda,bcda,balanced \
    --model=all --format=csv --no-header --columns=algorithm,nodes,model,boot_seconds,median_seconds |
    tr -d '\r'
done | awk -F, '
  { last[$1 $3] = $4; half[$1] = $5 }
  function row(model) {
    printf " %8.2f %8.2f %8.2f", last["scda" model], last["bcda" model], last["balanced" model]
  }
  $1 $3 == "balancedmax-min" {
    printf "%7d", $2
    row("equal-share")
    row("max-min")
    printf " %8.2f %8.2f %8.2f\n", half["scda"], half["bcda"], half["balanced"]
  }'

# row SWEEP: how balanced does against both, over a series of batches
row() {
  fabric-bootplan --quiet --machine=preset:taihulight --sweep="$1" --algorithm=scda,bcda,balanced \
    --format=csv --no-header --columns=algorithm,boot_seconds | tr -d '\r' |
    awk -F, -v sweep="$1" '
      { t[$1] = $2 }
      $1 == "balanced" {
        n++
        for (rule in t) {
          if (rule == "balanced") continue
          gain = t[rule] / t["balanced"]
          slower[rule] += gain < 1 - 1e-6
          faster[rule] += gain > 1 + 1e-6
          sum[rule] += gain
          if (gain > most[rule]) most[rule] = gain
        }
      }
      END {
        printf "%-16s %7d", sweep, n
        for (i = 1; i <= 2; i++) {
          rule = i == 1 ? "scda" : "bcda"
          printf "  %6d %6d %6.2f %6.2f", slower[rule], faster[rule], sum[rule] / n, most[rule]
        }
        printf "\n"
        exit slower["scda"] + slower["bcda"] > 0
      }' || echo slower >>"$work/differs"
}

cat <<'END'

The balanced mapping over series of batches: for how many it is slower or faster than SCDA and BCDA,
and how many times faster it is in the mean and at most.

                                       than SCDA                    than BCDA
series           batches  slower faster   mean   most  slower faster   mean   most
END
every=every:supernode random=random:1000
[ "${1:-}" != quick ] || every=every:cabinet random=random:50
row $every
row each:supernode
row each:cabinet
row $random
if [ "${1:-}" = full ]; then
  row every:board
  row each:board
fi

preset='fabric-bootplan --machine=preset:taihulight'
printf '\nClaims:\n'
fabric-bootplan --quiet --machine=preset:taihulight --sweep=board --algorithm=scda,bcda,block:1,balanced \
  --format=csv --no-header --columns=algorithm,nodes,boot_seconds,bottleneck | tr -d '\r' >"$work/sweep"
gain=$(awk -F, '$1 == "scda" { t = $3 } $1 == "bcda" { g = t / $3; if (!n++ || g < low) low = g; if (g > high) high = g }
  END { print low, high }' "$work/sweep")
exact=$(values boot_seconds scda,bcda first:1:supernode)
claim 'BCDA is 1 to 20 times faster than SCDA' \
  "$(if_true "${gain% *} >= 0.999 && ${exact% *} / ${exact#* } > 19.9 && ${gain#* } < 20.01" reproduced refuted)" \
  "over 1, 2, 5 ... boards ${gain% *} to ${gain#* } times; a supernode: $exact s" "$preset --sweep=board"
other=$(awk -F, '$1 == "scda" && $4 !~ /N5/' "$work/sweep" | wc -l)
claim 'SCDA: the servers (N5) always hold the nodes back' "$(if_true "$other == 0" reproduced refuted)" \
  "$((other)) of $(grep -c scda "$work/sweep") batches have another segment" "$preset --sweep=board --algorithm=scda"
few=$(values bottleneck bcda first:20:board) more=$(values bottleneck bcda first:21:board)
last=$(values bottleneck bcda first:160:board) many=$(values bottleneck bcda first:320:board)
claim 'BCDA: N2 and N5 hold 1 to 20 boards back, N3 21 to 160, N4 and N5 from 320 on' \
  "$([ "$more,$last,$many" = N3,N3,N4+N5 ] && echo "$few" | grep -q 'N2.*N5' && echo reproduced || echo refuted)" \
  "20 boards $few, 21 $more, 160 $last, 320 $many" "$preset --algorithm=bcda --boot=first:21:board"
claim 'SCDA: the time is in proportion to the boards of a supernode, and constant from a full one on' \
  "$(awk -F, '$1 == "scda" { want = $2 < 256 ? $2 * 0.4 : 102.4; if ($3 < want - 0.001 || $3 > want + 0.001) bad++; n++ }
    END { print (n && !bad ? "reproduced" : "refuted") }' "$work/sweep")" \
  "$(awk -F, '$1 == "scda" { printf "%s%s nodes %s s", (n++ ? ", " : ""), $2, $3 }' "$work/sweep")" "$preset --sweep=board --algorithm=scda"
machine='cabinet=40,supernode=4@20G,board=32@1G,cpu=8@1G/cascade=8@20G,server=20'
faster=$(for rate in 1G 2G; do
  fabric-bootplan --quiet "--machine=$machine@$rate" --algorithm=scda --boot=first:1:supernode --format=csv --no-header --columns=boot_seconds
done | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')
claim 'SCDA: faster links of the servers (N5) shorten the boot' "$(if_true "${faster#* } < ${faster% *}" reproduced refuted)" \
  "a supernode with servers of 1 and 2 Gb/s: $faster s" "fabric-bootplan --machine=$machine@2G --algorithm=scda --boot=first:1:supernode"
steps=$(for boards in 160 161 320 321 480 640; do values boot_seconds bcda first:$boards:board; echo ' '; done | tr -d '\n' | sed 's/ $//')
# shellcheck disable=SC2086
claim 'BCDA: above 1.25 cabinets (160 boards) the time is in proportion to the nodes' \
  "$(set -- $steps && if_true "$3 / $2 > 1.5 && $6 / $3 > 1.99 && $6 / $3 < 2.01" reproduced 'refuted: it grows in steps of 160 boards, in proportion at full ones')" \
  "160, 161, 320, 321, 480, 640 boards: $steps s" "$preset --algorithm=bcda --boot=first:161:board"
# meets BOARDS: servers and cascade uplinks that serve the first boards by bcda
meets() {
  fabric-bootplan --quiet --machine=preset:taihulight --algorithm=bcda --boot=first:"$1":board \
    --set=mapping-out="$work/mapping" --format=csv >"$work/out"
  sed -nE 's/.*"server":"server([0-9]+)".*/\1/p' "$work/mapping" |
    awk '{ s[$1] = 1; c[int($1 / 20)] = 1 } END { for (i in s) n++; for (i in c) k++; print n, k }'
}
met=$(meets 160)
claim 'BCDA: five supernodes use all 160 servers and 8 paths of N4' \
  "$(if_true "${met% *} == 160 && ${met#* } == 8" reproduced refuted)" "${met% *} servers, ${met#* } cascade uplinks" "$preset --algorithm=bcda --boot=first:5:supernode"
met=$(meets 32)
claim '32 boards boot from 32 servers, that is over 32 paths of N4' \
  "$(if_true "${met% *} == 32 && ${met#* } == 32" reproduced 'refuted: N4 is the uplink of a cascade of 20 servers')" \
  "${met% *} servers, ${met#* } of 8 cascade uplinks" "$preset --algorithm=bcda --boot=first:32:board --set=dot-out=-"
fine=$(values boot_seconds bcda,block:1,balanced first:161:board)
# shellcheck disable=SC2086
claim '(ours) BCDA is not the best of its kind: blocks of one CPU are finer' \
  "$(set -- $fine && if_true "$2 < $1 && $3 <= $2" 'reproduced: balanced finds it' refuted)" \
  "161 boards: bcda, block:1, balanced take $fine s" "$preset --algorithm=bcda,block:1,balanced --boot=first:161:board"
both=$(fabric-bootplan --quiet --machine=preset:taihulight --boot=first:1:supernode --algorithm=scda,bcda --model=all \
  --format=csv --no-header --columns=boot_seconds | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')
# shellcheck disable=SC2086
claim '(assumed by the paper) All nodes of a segment get equal shares' \
  "$(set -- $both && if_true "$1 - $2 < 1e-6 && $2 - $1 < 1e-6 && $3 - $4 < 1e-6 && $4 - $3 < 1e-6" \
    'assumption: the last node is as late by max-min fairness' 'assumption: max-min fairness gives other times')" \
  "a supernode by scda and bcda, each by equal shares and max-min: $both s" "$preset --model=all --boot=first:1:supernode"
awk '{ n[$1]++ } END { printf "\n%d reproduced, %d refuted, %d depend on assumptions\n",
  n["reproduced"], n["refuted"], n["assumption"] }' "$work/verdicts"
[ ! -f "$work/differs" ]
