/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "source/reader.h"
#include "source/unpack.h"

#include <errno.h>
#include <stdlib.h>

struct fab_name_map {
	struct fab_map64 *index;     /* GUID -> entry */
	FAB_VEC(const char *) names; /* [entries] */
	struct fab_arena memory;
};

/* The first word, which ends at a blank, a quote or '#'. */
static bool take_guid(struct fab_span *s, uint64_t *guid)
{
	const char *word = s->p;
	size_t len;

	while (s->p < s->end && !fab_is_blank(*s->p) && *s->p != FAB_QUOTE &&
	       *s->p != '#')
		s->p++;
	len = (size_t)(s->p - word);
	if (fab_parse_guid(word, len, guid) ||
	    fab_parse_u64(word, len, 0, UINT64_MAX, guid))
		return true;
	return len == 18 && word[1] == '-' && strchr("SHR", word[0]) &&
	       fab_parse_hex(word + 2, 16, guid);
}

int fab_name_map_parse(const char *name, const char *text, size_t n,
		       struct fab_name_map **out, struct fab_err *err)
{
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_name_map *map;
	struct fab_span line;
	int rc = 0;

	if (n && memchr(text, '\0', n))
		return fab_fail(
			err, EINVAL,
			"%s: binary data (a NUL byte), expected lines of GUID \"NAME\"",
			name);
	map = FAB_NEW0(1, struct fab_name_map);
	map->index = fab_map64_new(64);
	while (!rc && fab_lines_next(&lines, &line)) {
		struct fab_span s = line;
		const char *p, *label;
		uint64_t guid;
		bool is_quoted;

		if (line.p == line.end || *line.p == '#')
			continue;
		if (!take_guid(&s, &guid)) {
			rc = fab_fail_line(err, name, lines.line,
					   "no GUID in \"%.*s\", expected GUID \"NAME\"",
					   fab_shown(&line), line.p);
			continue;
		}
		/* Text between quotes, or up to '#' without them. */
		fab_skip_blanks(&s);
		is_quoted = fab_take_char(&s, FAB_QUOTE);
		for (p = s.p; p < s.end && *p != FAB_QUOTE && *p != '#';)
			p++;
		while (!is_quoted && p > s.p && fab_is_blank(p[-1]))
			p--;
		if (p == s.p || fab_map64_put(map->index, guid, (uint32_t)map->names.n) !=
					map->names.n)
			continue;
		label = fab_arena_format(&map->memory, "%.*s",
					 (int)fab_name_cut((size_t)(p - s.p)), s.p);
		FAB_PUSH(&map->names, label);
	}
	if (rc)
		fab_name_map_free(map);
	else
		*out = map;
	return rc;
}

int fab_name_map_open(const char *path, struct fab_name_map **out, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	return rc ? rc : fab_name_map_parse(path, in.bytes, in.n, out, err);
}

void fab_name_map_free(struct fab_name_map *map)
{
	if (!map)
		return;
	fab_map64_free(map->index);
	free(map->names.v);
	fab_arena_free(&map->memory);
	free(map);
}

const char *fab_name_map_get(const struct fab_name_map *map, uint64_t guid)
{
	uint32_t i = fab_map64_get(map->index, guid);

	return i == FAB_NONE ? NULL : map->names.v[i];
}

uint32_t fab_name_map_apply(const struct fab_name_map *map, struct fab_builder *b)
{
	uint32_t renamed = 0;

	for (uint32_t i = 0; i < fab_builder_n_nodes(b); i++) {
		const char *name = fab_name_map_get(map, fab_builder_node(b, i)->guid);

		if (!name)
			continue;
		fab_builder_rename(b, i, name, strlen(name));
		renamed++;
	}
	return renamed;
}
