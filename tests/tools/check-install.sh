#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-install.sh SOURCE VERSION
# Install the library into an empty root and build a program against what is there.
set -eu
source=$1 version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v pkg-config >/dev/null || { echo 'no pkg-config'; exit 77; }

meson setup "$work/build" "$source" --prefix=/usr --libdir=lib -Dinstall_library=true \
  -Dtests=disabled >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ninja -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
DESTDIR="$work/root" meson install -C "$work/build" --no-rebuild >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }

cat >"$work/consumer.c" <<'END'
#include <fabkit/fab.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t s[2], errors;
	struct fab_fabric *f;
	struct fab_err err;

	for (uint32_t i = 0; i < 2; i++)
		s[i] = fab_builder_add_node(b, &(struct fab_node_spec){.kind = FAB_SWITCH,
					    .guid = i + 1, .n_ports = 4, .name = "s", .name_len = 1});
	fab_builder_add_cable(b, s[0], 1, s[1], 2, 4, FAB_HDR);
	errors = fab_builder_finish(b, "x", "generated", &(struct fab_host_options){0}, &f, &err) != 0;
	if (!errors && f->n_switch_links != 1)
		errors++;
	if (!errors)
		fab_fabric_free(f);
	puts(errors ? "wrong" : "right");
	return errors ? 1 : 0;
}
END
export PKG_CONFIG_PATH="$work/root/usr/lib/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$work/root"
flags=$(pkg-config --cflags --libs fabkit)
[ "$(pkg-config --modversion fabkit)" = "$version" ]
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -Wall -Wextra -Werror "$work/consumer.c" -o "$work/consumer" $flags
LD_LIBRARY_PATH="$work/root/usr/lib" "$work/consumer"
readlink "$work/root/usr/lib/libfabkit.so" | grep -qx 'libfabkit.so.0'

# nothing but our own names may leave the library
if nm -D --defined-only "$work/root/usr/lib/libfabkit.so" | awk '{ print $3 }' |
  grep -v '^fab_' | grep -v '^FABKIT_'; then
  echo 'the library exports foreign names'
  exit 1
fi
# every command and page that is installed is where it belongs
for file in "$work"/root/usr/bin/*; do
  [ -e "$file" ] || continue
  name=$(basename "$file")
  for other in "share/man/man1/$name.1" "share/bash-completion/completions/$name" \
    "share/zsh/site-functions/_$name" "share/fish/vendor_completions.d/$name.fish"; do
    [ -s "$work/root/usr/$other" ] || { echo "not installed: $other"; exit 1; }
  done
  "$file" --version
done
