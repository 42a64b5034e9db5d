#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-names.sh FILL COMMANDS PAGES
# Every row of a table of algorithms and patterns is named in --help=all, in the manual page with
# a paragraph of its own, in what completions offer and in the sentence on an unknown name.
set -u
fill=$1 commands=$2 pages=$3 failed=0
export LC_ALL=C COLUMNS=80

fail() {
  echo "$*"
  failed=1
}

# whole words of a text, without what roff and shells put around them
words() {
  sed -e 's/\\f[A-Z]//g' -e 's/\\-/-/g' -e 's/\\:/:/g' -e 's/^\.[BI]* *//' |
    tr -s " \t\n\"'(),;?" '\n'
}

# TABLE COMMAND OPTION PAGE: PAGE describes the rows, "-" another does
check() {
  table=$1 command=fabric-$2 option=$3 page=$4 verb=
  [ "$2" = rdma ] && verb=run
  "$fill" names "$table" >names
  [ -s names ] || fail "no table $table"
  "$commands/$command" --help=all | words >help
  "$commands/$command" gen:fattree:radix=4,levels=2 --trace=h0,h1 "$option=?" 2>&1 | words >sentence
  [ "$command" = fabric-topo ] ||
    "$commands/$command" $verb gen:fattree:radix=4,levels=2 "$option=?" 2>&1 | words >sentence
  [ "$page" = - ] || awk '/^\.HP/ { tag = 1; next } tag { print; tag = 0 }' "$pages/$page" |
    sed -e 's/\\fR\\ .*//' -e 's/\\f[BI]//g' -e 's/\\-/-/g' >page
  while read -r form; do
    typed=$(echo "$form" | sed 's/[A-Z].*//')
    grep -qxF -e "$form" help || grep -qxF -e "${form%,*}" help || fail "$command --help: no $form"
    grep -qxF -e "$form" sentence || grep -qxF -e "${form%,*}" sentence ||
      fail "$command $option=?: no $form"
    [ "$page" = - ] || [ "$(grep -cxF -e "$form" page)" -eq 1 ] || fail "$page: no paragraph on $form"
    "$commands/$command" --complete $verb "$option=$typed" | grep -q "^$option=$typed" ||
      fail "$command --complete: no $form"
  done <names
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
check MULTICAST mcroute --algorithm fabric-mcroute.1
check UNICAST faults --algorithm fabric-faults.1
check UNICAST topo --algorithm -
check MAPPINGS bootplan --algorithm fabric-bootplan.1
check PATTERNS mcroute --pattern fabric-topologies.7
check PERMUTATIONS faults --permutation fabric-faults.1
check RDMA_SCHEMES rdma --scheme fabric-rdma.1
check RDMA_PATTERNS rdma --pattern fabric-rdma.1
check ROUTES rdma --route -
check ROUTES sim --route fabric-sim.1
exit $failed
