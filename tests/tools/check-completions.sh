#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-completions.sh COMMANDS COMPLETIONS DUMP
# What bash, zsh and fish offer behind the commands of the build: names of a fabric's switches and hosts,
# columns, kinds of generated fabrics and their parameters, values. Names within 100 ms on an idle machine.
# Shells that are not there are left out; exit status 77 without bash-completion.
set -u
commands=$1 completions=$2 dump=$3 failed=0
export PATH="$commands:$PATH" LC_ALL=C
library=/usr/share/bash-completion/bash_completion
[ -f $library ] || { echo 'no bash-completion'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# a name that a shell would run is not offered, and spoils no other
sed 's/"core8"/"$(touch${IFS}run)'"'"'"/' "$dump" >site.txt

# What bash would put behind the line, a word each; words are split as readline does.
in_bash() { # LINE
  bash --norc -c '
    . "$1"
    shopt -s extglob
    compopt() { :; }
    COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
    rest=$2 COMP_WORDS=()
    while [[ $rest ]]; do
      if [[ $rest =~ ^\ +(.*) ]]; then rest=${BASH_REMATCH[1]}; [[ $rest ]] || COMP_WORDS+=(""); continue; fi
      [[ $rest =~ ^([:=]+|[^:=\ ]+)(.*) ]]
      COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${BASH_REMATCH[2]}
    done
    [[ $2 == *[=:] ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    . "$3/fabkit.bash"
    _fabkit "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" ""
    printf "%s\n" "${COMPREPLY[@]}"' - $library "$1" "$completions"
}
in_fish() { # LINE
  command -v fish >/dev/null || return 77
  fish --no-config -c "source '$completions/fabkit.fish'; complete -C '$1'" | cut -f1
}
# What zsh would put there: a shell on a terminal of its own, in which compadd prints words.
cat >in.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT= ; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D
compadd () {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
  local -a hits
  builtin compadd -A hits \"\$@\"
  print -rl -- \"@\"\${^hits}
}
bindkey '^I' complete-word
echo READY"
zpty -r z out '*READY*READY*'
zpty -w -n z "$2"$'\t'
out= still=0
repeat 400; do
  if zpty -r -t z more; then out+=$more still=0; elif [[ $out == *@* ]] && (( ++still > 10 )); then break; fi
  sleep 0.03
done
zpty -d z
print -r -- $out | tr -d '\r' | grep -o '@.*' | sed 's/@//'
END
in_zsh() { # LINE
  command -v zsh >/dev/null || return 77
  zsh -f in.zsh "$completions" "$1"
}
# offers SHELL LINE WORD...: all of the words are among what is offered
offers() {
  local shell=$1 line=$2 word
  shift 2
  "in_$shell" "$line" >got 2>err
  [ $? -eq 77 ] && return
  [ -s err ] && { echo "$shell: $line: $(cat err)"; failed=1; }
  for word; do
    grep -qxF -e "$word" got || { echo "$shell: $line: no $word in $(head -n 5 got | tr '\n' ' ')"; failed=1; }
  done
}
# refuses LINE PATTERN: nothing that bash offers has it
refuses() {
  in_bash "$1" >got 2>&1
  ! grep -q -e "$2" got || { echo "bash: $1: $(grep -m 1 -e "$2" got)"; failed=1; }
}
offers bash 'fabric-faults site.txt --fail=leaf0' leaf01 leaf09
offers bash 'fabric-faults site.txt --explain=node001,node00' node001,node002 node001,node009
offers bash 'fabric-topo site.txt --who=sp' spine01 spine12
offers bash 'fabric-bootplan gen:fattree:radix=4,levels=2 --servers=h0,h' h0,h1 h0,h7
offers bash 'fabric-sim site.txt --columns=algorithm,acc' algorithm,accepted_per_host
offers bash 'fabric-launch fence site.txt --columns=simu' simulated_us
offers bash 'fabric-topo gen:to' torus:
offers bash 'fabric-topo gen:torus:d' dims=
offers bash 'fabric-topo gen:torus:dims=4x4,ho' 4x4,hosts=
offers bash 'fabric-compare runs.db --command=fabric-l' fabric-launch
offers bash 'fabric-topo si' site.txt
offers bash 'fabric-topo gen:torus:dims=4x4 --lfts=si' site.txt
offers bash 'fabric-rdma run site.txt --set histogram-out=si' site.txt
offers bash 'fabric-sim site.txt --set=of=l' leaves links
offers bash 'fabric-sim site.txt --ra' --rate=
offers bash 'fabric-sim site.txt -' --check --set=
offers bash 'fabric-rdma sweep site.txt --over=size=1K,lo' 1K,loss=
offers bash 'fabric-rdma run site.txt --hosts=node00' node001 node009
offers bash 'fabric-rdma ' run sweep plan cost trace
offers bash 'fabric-launch f' fence faults
for command in topo mcroute faults sim rdma launch bootplan; do
  offers bash "fabric-compare runs.db --command=fabric-$command" "fabric-$command"
done
for algorithm in minhop updn; do
  fabric-faults site.txt --algorithm=$algorithm --store=runs.db --label="by-$algorithm" -q -o report || failed=1
done
offers bash 'fabric-compare runs.db ' last 1 2 by-minhop by-updn
offers bash 'fabric-compare runs.db 2:u' updn
offers bash 'fabric-compare runs.db --label=by-u' by-updn
offers bash 'fabric-compare runs.db --algorithm=minhop,u' minhop,updn
offers fish 'fabric-compare runs.db ' last 1 2 by-minhop by-updn
offers fish 'fabric-topo gen:torus:dims=4x4 --lfts=si' --lfts=site.txt
offers fish 'fabric-sim site.txt --ra' --rate=
offers fish 'fabric-rdma run site.txt --set histogram-out=si' histogram-out=site.txt
offers fish 'fabric-rdma sweep site.txt --over=lo' --over=loss=
offers zsh 'fabric-faults site.txt --fail=leaf0' leaf01 leaf09
offers zsh 'fabric-topo gen:torus:dims=4x4 --lfts=si' site.txt
offers zsh 'fabric-sim site.txt --ra' --rate=
offers zsh 'fabric-rdma run site.txt --set histogram-out=si' site.txt
offers zsh 'fabric-topo site.txt --columns=sh' shape
offers zsh 'fabric-topo gen:torus:d' gen:torus:dims=
offers zsh 'fabric-rdma sweep site.txt --over=lo' loss=
offers zsh 'fabric-compare runs.db --command=fabric-l' fabric-launch
offers zsh 'fabric-compare runs.db ' last 1 2 by-minhop by-updn
offers bash 'fabric-launch size -o si' site.txt
offers bash 'fabric-faults site.txt --algorithm=a' all
offers bash 'fabric-topo gen:torus:dims=4x4,na' 4x4,name-prefix=
offers bash 'fabric-compare runs.db 1 --metric=max_h' max_hops
# nor does a shell print what a terminal would obey
fabric-faults site.txt --algorithm=minhop --store=runs.db --label=$'x\033[31m' -q -o report || failed=1
! fabric-compare --complete runs.db '' | grep -q $'\033' || { echo 'an escape in what a run means'; failed=1; }
mkdir folder
offers bash 'fabric-bootplan site.txt --to-dir=' folder
refuses 'fabric-bootplan site.txt --to-dir=' site.txt
refuses 'fabric-topo site.txt --who=' '\$'
refuses 'fabric-topo site.txt --who=sp' leaf
refuses 'fabric-topo site.txt --fold' .
refuses 'fabric-compare runs.db 2' :
# a verb without a fabric takes no file
refuses 'fabric-rdma cost si' .
refuses 'fabric-launch size si' .
offers fish 'fabric-faults site.txt --fail=leaf0' --fail=leaf01
offers fish 'fabric-topo site.txt --columns=' --columns=shape
offers fish 'fabric-topo gen:torus:d' gen:torus:dims=
offers fish 'fabric-compare runs.db --command=fabric-l' --command=fabric-launch
[ ! -e run ] || { echo 'the name of a switch was executed'; failed=1; }
exit $failed
