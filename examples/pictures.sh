#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: pictures.sh [FOLDER]
# Make the pictures of README.md (default: in the folder of this script): report.png, the page of
# --report as Chromium shows it, in 24 colours where pngquant is installed, and curve.svg, the plot of a sweep.
# Finds the commands in PATH or in build/cmd; needs chromium.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:$here/../build/cmd
folder=$(cd "${1:-$here}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here/fabrics"

fabric-topo -q --check --lfts=site-lfts.dump.gz --report="$work/page.html" site.txt >"$work/report" || [ $? -eq 1 ]
timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/browser" \
  --window-size=1000,790 --screenshot="$work/page.png" "file://$work/page.html" >"$work/log" 2>&1
if command -v pngquant >/dev/null; then
  pngquant --force --speed 1 --strip --output "$work/page.png" 24 "$work/page.png"
fi
fabric-sim -q gen:kfat:dims=8x8,hosts=8,planes=8 --fail=3.4 --algorithm=vtftr,algorithm-a \
  --sweep=0.1:1:0.1 --tick=flit --buffer=32 --time=5000 --warmup=3000 --plot="$work/curve.svg" >"$work/report"
mv "$work/page.png" "$folder/report.png"
mv "$work/curve.svg" "$folder/curve.svg"
