# SPDX-License-Identifier: BSD-2-Clause
# bash completion of the commands of fabkit, each of which says what can follow.
_fabkit()
{
  local cur words cword word help ends
  _get_comp_words_by_ref -n := cur words cword || return
  COMPREPLY=()
  while IFS=$'\t' read -r word help; do
    case $word in
      :files | :folders)
        # shellcheck disable=SC2034 # of _filedir
        cur=$help
        if [[ $word == :files ]]; then _filedir; else _filedir -d; fi
        ;;
      *)
        # bash replaces what stands behind the last : or =
        COMPREPLY+=("${word#"${words[cword]%"${words[cword]##*[:=]}"}"}")
        ends=$word
        ;;
    esac
  done < <("${words[0]}" --complete "${words[@]:1:cword}" 2>/dev/null)
  [[ $ends == *[:=] ]] && compopt -o nospace
} &&
  complete -F _fabkit fabric-{bootplan,compare,faults,launch,mcroute,rdma,sim,topo}
