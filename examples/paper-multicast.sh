#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-multicast.sh [quick]
# Repeats the experiments of S. Chen, H. Zhou, W. He, F. Qi, "Load-balanced multicast routing
# for very large InfiniBand networks" (2022) and sets what the paper states beside what comes
# out here. Finds fabric-mcroute in PATH or in build/cmd. With an argument the times are left
# out, of which SSSP with a priority queue takes most.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
quick=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fattree=gen:fattree:radix=40,levels=3
torus=gen:torus:dims=30x20x20,hosts=2
dragonfly=gen:dragonfly:a=18,p=9,h=9
algorithms=minihop,minihop-new,sssp,sssp-new,fulb,fulb-links

# run NAME FABRIC PATTERN: NAME.lowest and NAME.spread, lines "algorithm,max_efi,seconds"
run() {
  for ties in lowest spread; do
    fabric-mcroute --quiet "$2" --pattern="$3" --algorithm=$algorithms --root-ties=$ties --verify \
      --fullest=0 --format=csv --no-header \
      --columns=algorithm,max_efi,seconds.trees,lower_bound,verified |
      tr -d '\r' >"$work/$1.$ties"
  done
  pattern=${3#grid:}
  printf '%-10s %-20s' "$4" "${pattern%%:*}"
  for ties in lowest spread; do
    printf '  %s' "$ties"
    for algorithm in minihop minihop-new sssp sssp-new fulb fulb-links; do
      printf ' %4s' "$(efi "$1" $ties $algorithm)"
    done
  done
  printf '  %4s\n' "$(awk -F, 'NR == 1 { print $4 }' "$work/$1.spread")"
  ! grep -qv 'true$' "$work/$1.lowest" "$work/$1.spread" || {
    echo 'a tree is wrong' >&2
    exit 1
  }
}

efi() { # NAME TIES ALGORITHM
  awk -F, -v a="$3" '$1 == a { print $2 }' "$work/$1.$2"
}

# seconds NAME FABRIC PATTERN: trees of SSSP and of FULB, one thread
seconds() {
  fabric-mcroute --quiet "$2" --pattern="$3" --algorithm=sssp,sssp-new,fulb --threads=1 \
    --fullest=0 --format=csv --no-header --columns=algorithm,seconds.trees |
    tr -d '\r' | awk -F, -v what="$1 ${3#grid:}" '
      { s[$1] = $2 }
      END { printf "%-28s %12.4f %12.4f %12.5f %9.0f\n", what, s["sssp"], s["sssp-new"],
                   s["fulb"], s["sssp-new"] / s["fulb"] }'
}

hold() { # CONDITION...
  if [ "$@" ]; then echo holds; else echo 'does not hold'; fi
}

cat <<'END'
Largest number of trees on a cable (max EFI). Which of equally good roots is taken is left
open by the paper: "lowest" takes the lowest switch, "spread" scatters them.

fabric     groups                       MINIHOP -new SSSP -new FULB -links    MINIHOP -new SSSP -new FULB -links  bound
END
run ft1 $fattree grid:160x100 'fat tree'
run ft2 $fattree grid:40x20x20 'fat tree'
run ft3 $fattree random:groups=5000,size=8-24 'fat tree'
run t1 $torus grid:240x100 torus
run t2 $torus grid:20x30x40 torus
run t3 $torus random:groups=1500,size=8-24 torus
run d1 $dragonfly grid:163x162 dragonfly
run d2 $dragonfly grid:81x27x12 dragonfly
run b1 gen:bluelight grid:34x16x64,ppn=4 BlueLight
run w1 gen:taihulight grid:160x16x16 TaihuLight
run w2 gen:taihulight grid:202x202 TaihuLight
run w3 gen:taihulight random:groups=5000,size=8-24 TaihuLight

if [ -z "$quick" ]; then
  echo
  echo 'Seconds for all trees, one thread; the paper (2.4 GHz Xeon E5-2630 v3): fat tree SSSP up'
  echo 'to 2.4, FULB below 0.2; torus SSSP-new up to 24, FULB below 2.3; TaihuLight SSSP-new up to'
  echo '48, FULB below 3.'
  printf '%-28s %12s %12s %12s %9s\n' 'fabric, groups' SSSP SSSP-new FULB ratio
  seconds 'fat tree' $fattree grid:160x100
  seconds 'fat tree' $fattree grid:40x20x20
  seconds torus $torus grid:240x100
  seconds torus $torus grid:20x30x40
  seconds dragonfly $dragonfly grid:163x162
  seconds dragonfly $dragonfly grid:81x27x12
  seconds BlueLight gen:bluelight grid:34x16x64,ppn=4
  seconds TaihuLight gen:taihulight grid:160x16x16
  seconds TaihuLight gen:taihulight grid:202x202
fi

for ties in lowest spread; do
  e() { efi "$1" $ties "$2"; }
  cat <<END

The paper's statements, equal roots: $ties
fat tree: MINIHOP and SSSP equal ........................ $(hold "$(e ft1 minihop)$(e ft2 minihop)$(e ft3 minihop)" = "$(e ft1 sssp)$(e ft2 sssp)$(e ft3 sssp)")
fat tree: ... and far above FULB (here $(($(e ft1 minihop) / $(e ft1 fulb))), $(($(e ft2 minihop) / $(e ft2 fulb))), $(($(e ft3 minihop) / $(e ft3 fulb))) times) .. $(hold $(($(e ft1 minihop) / $(e ft1 fulb))) -ge 4)
fat tree: both -new variants equal FULB ................. $(hold "$(e ft1 minihop-new)$(e ft1 sssp-new)$(e ft2 minihop-new)$(e ft2 sssp-new)" = "$(e ft1 fulb)$(e ft1 fulb)$(e ft2 fulb)$(e ft2 fulb)")
torus 20x30x40: FULB below MINIHOP-new .................. $(hold "$(e t2 fulb)" -lt "$(e t2 minihop-new)") ($(e t2 fulb), $(e t2 minihop-new))
torus random: FULB below MINIHOP-new .................... $(hold "$(e t3 fulb)" -lt "$(e t3 minihop-new)") ($(e t3 fulb), $(e t3 minihop-new))
torus: FULB about SSSP-new (240x100, 20x30x40, random) .. $(e t1 fulb)/$(e t1 sssp-new) $(e t2 fulb)/$(e t2 sssp-new) $(e t3 fulb)/$(e t3 sssp-new)
torus 240x100: MINIHOP-new lower than both .............. $(hold "$(e t1 minihop-new)" -lt "$(e t1 fulb)" -a "$(e t1 minihop-new)" -lt "$(e t1 sssp-new)") ($(e t1 minihop-new); $(e t1 fulb), $(e t1 sssp-new))
dragonfly 81x27x12: MINIHOP-new 41, FULB 54 ............. $(e d2 minihop-new), $(e d2 fulb)
BlueLight: FULB about 1/6 of MINIHOP-new ................ $(e b1 fulb) of $(e b1 minihop-new)
BlueLight: FULB about SSSP-new .......................... $(hold "$(e b1 fulb)" -eq "$(e b1 sssp-new)") ($(e b1 fulb), $(e b1 sssp-new))
TaihuLight: FULB about 1/2 of MINIHOP-new ............... $(e w1 fulb) of $(e w1 minihop-new), $(e w2 fulb) of $(e w2 minihop-new), $(e w3 fulb) of $(e w3 minihop-new)
END
done

# one FABRIC PATTERN ALGORITHMS COLUMN: its values, on a line
one() {
  fabric-mcroute --quiet "$1" --pattern="$2" --algorithm="$3" --fullest=0 --format=csv --no-header \
    --columns="$4" --root-ties="${5:-spread}" >"$work/one" || return
  tr -d '\r' <"$work/one" | tr '\n' ' ' | sed 's/ $//'
}

echo
echo 'More of it, minihop-new, sssp-new and fulb'
# switch ports in the opposite order: the lowest of several is then the highest of before
fabric-topo --to=ibnetdiscover $dragonfly |
  awk '/^Switch/ { n = $2 } /^(Ca|Rt)/ { n = 0 }
       function turn(text, p, before, after) { # the first [P] or "..."[P]
         match(text, /\[[0-9]+\]/); p = substr(text, RSTART + 1, RLENGTH - 2)
         return substr(text, 1, RSTART) (ports + 1 - p) substr(text, RSTART + RLENGTH - 1)
       }
       { sub(/\r$/, "") }
       /^\[/ { at = index($0, "\t"); own = substr($0, 1, at - 1); rest = substr($0, at)
               if (n) { ports = n; own = turn(own) }
               if (rest ~ /"S-/) { ports = radix; rest = turn(rest) }
               print own rest; next }
       /^Switch/ && !radix { radix = n }
       { print }' >"$work/turned"
echo "dragonfly 81x27x12, equal roots lowest: $(one $dragonfly grid:81x27x12 minihop-new,sssp-new,fulb max_efi lowest); ports in the opposite order: $(one "$work/turned" grid:81x27x12 minihop-new,sssp-new,fulb max_efi lowest)"
other=gen:pgft:h=3,m=16/16/34,w=1/16/1,p=1/1/8
echo "BlueLight with 16 middle switches and 8 cables to one top, 3000 random groups: $(one $other random:groups=3000,size=16 minihop-new,sssp-new,fulb max_efi)"
echo "mean EFI, fat tree 40x20x20: $(one $fattree grid:40x20x20 minihop-new,sssp-new,fulb mean_efi)"
echo "dragonfly 81x27x12, fulb, fulb-mean (root of least mean distance), fulb-local (fewest global cables): max EFI $(one $dragonfly grid:81x27x12 fulb,fulb-mean,fulb-local max_efi); equal roots lowest, fulb and fulb-local: $(one $dragonfly grid:81x27x12 fulb,fulb-local max_efi lowest); mean EFI $(one $dragonfly grid:81x27x12 fulb,fulb-mean,fulb-local mean_efi)"
echo "torus 20x30x40, fulb and fulb-mean: max EFI $(one $torus grid:20x30x40 fulb,fulb-mean max_efi), mean EFI $(one $torus grid:20x30x40 fulb,fulb-mean mean_efi)"
[ -n "$quick" ] || for pattern in grid:160x100 grid:40x20x20 random:groups=5000,size=8-24; do
  echo "fat tree $pattern, seconds of MINIHOP and FULB: $(one $fattree $pattern minihop,fulb seconds.trees)"
done
for dump in ${DUMPS:+"$DUMPS"/*}; do
  values='' some=''
  for pattern in groups=900,size=4,seed=3 groups=900,size=8,seed=2 groups=300,size=16,seed=1; do
    own=$(one "$dump" random:$pattern sssp-new,fulb max_efi lowest 2>/dev/null) && some=1 || own='too few hosts'
    values="$values $pattern $own;"
  done
  [ -z "$some" ] || echo "$(basename "$dump"), random groups, equal roots lowest, SSSP-new and FULB:$values"
done

cat <<'END'

Where we differ, and why
- Equal roots. In the order of the switches ("lowest") the numbers are those of the paper's
  kind: a group's root is next to the root of the group before, and the trees crowd round
  them. That MINIHOP-new beats FULB on some patterns is an effect of this: scattered, FULB
  falls to a fraction and the exceptions go.
- Dragonfly: the paper gives neither the wiring of its global links nor the numbering of its
  ports, which both decide which of several paths with two global links is taken; 41 and 54
  come out as 36 and 35 in the wiring used here (fabric-topologies(7)). The highest port in
  place of the lowest makes MINIHOP-new the worse of the two, as the paper says. A rule against
  two global links (fulb-local) changes little in this wiring, where FULB is not the worse one.
- Roots of least mean distance to the members (fulb-mean) give trees of fewer cables, and with
  roots scattered more of them on the fullest cable: fewer switches are roots.
- BlueLight: its wiring is not published. In the parallel-port generalised fat tree used here
  a factor of 4 is all there is to gain: FULB is at the lower bound. Wired with 16 middle
  switches a pod and 8 cables from each to one top, which are 8 paths, too, it is about 1/6.
- FULB is not always the best of the six, for it looks at one cable at a time: SSSP-new is
  below it on this dragonfly with lowest roots, and on one of eight real dumps, that of a
  director switch with its hosts: 3 against 6 for 900 random groups of 4, 5 against 8 for 900
  of 8, 7 against 14 for a grid 2x1164 with ppn=4; so on 201 of 1130 patterns, and above on 78.
  On the other dumps it is equal but for one pattern. DUMPS=FOLDER sets some side by side.
- Times: the algorithm as published, with a priority queue over the whole fabric for each group,
  takes 5 to 40 times as long as sssp and sssp-new, which find the same trees from distances that
  are known. Ours leave out, as the paper's do, the choice of root candidates.
END
