# SPDX-License-Identifier: BSD-2-Clause
# fish completion of the commands of fabkit, each of which says what can follow.
function __fabkit
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program --complete $words "$now" 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        switch $parts[1]
            case ':files' ':folders'
                set -l paths (__fish_complete_path $parts[2])
                test $parts[1] = :folders; and set paths (__fish_complete_directories $parts[2])
                set -l lead (math (string length -- $now) - (string length -- $parts[2]))
                for path in $paths
                    echo (string sub -l $lead -- $now)$path
                end
            case '*'
                echo $line
        end
    end
end
for command in fabric-{bootplan,compare,faults,launch,mcroute,rdma,sim,topo}
    complete -c $command -f -a '(__fabkit)'
end
