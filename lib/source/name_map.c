/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "source/reader.h"
#include "source/unpack.h"

#include <errno.h>
#include <stdlib.h>

struct fab_name_map {
	struct fab_map64 *index; /* GUID -> entry */
	FAB_VEC(size_t) at;	 /* [entries] offset into names */
	FAB_VEC(char) names;
};

/* The first word, which ends at a blank, a quote or '#'. */
static bool take_guid(struct fab_span *s, uint64_t *guid)
{
	const char *word = s->p;
	size_t len;

	while (s->p < s->end && !fab_is_blank(*s->p) && *s->p != '"' && *s->p != '#')
		s->p++;
	len = (size_t)(s->p - word);
	if (fab_parse_guid(word, len, guid) ||
	    fab_parse_u64(word, len, 0, UINT64_MAX, guid))
		return true;
	return len == 18 && word[1] == '-' && strchr("SHR", word[0]) &&
	       fab_parse_hex(word + 2, 16, guid);
}

static void add_name(struct fab_name_map *map, uint64_t guid, const struct fab_span *name)
{
	size_t len = fab_name_cut(fab_span_len(name));

	if (fab_map64_put(map->index, guid, (uint32_t)map->at.n) != map->at.n)
		return;
	FAB_PUSH(&map->at, map->names.n);
	FAB_RESERVE(&map->names, len + 1);
	memcpy(map->names.v + map->names.n, name->p, len);
	map->names.v[map->names.n + len] = '\0';
	map->names.n += len + 1;
}

static int parse_map(struct fab_name_map *map, const char *name, const char *text,
		     size_t n, struct fab_err *err)
{
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_span line;

	if (n && memchr(text, '\0', n))
		return fab_fail(
			err, EINVAL,
			"%s: binary data (a NUL byte), expected lines of GUID \"NAME\"",
			name);
	while (fab_lines_next(&lines, &line)) {
		struct fab_span rest = line, label;
		uint64_t guid;
		struct fab_span s;
		const char *start;
		const char *p;
		bool is_quoted;

		if (line.p == line.end || *line.p == '#')
			continue;
		if (!take_guid(&rest, &guid))
			return fab_fail(
				err, EINVAL,
				"%s:%llu: no GUID in \"%.*s\", expected GUID \"NAME\"",
				name, (unsigned long long)lines.line, fab_shown(&line),
				line.p);
		/* Text between quotes, or up to '#' without them. */
		s = rest;
		fab_skip_blanks(&s);
		is_quoted = fab_take_char(&s, '"');
		start = s.p;
		for (p = start; p < s.end && *p != '"' && *p != '#';)
			p++;
		while (!is_quoted && p > start && fab_is_blank(p[-1]))
			p--;
		label = (struct fab_span){start, p};
		if (label.p != label.end)
			add_name(map, guid, &label);
	}
	return 0;
}

int fab_name_map_parse(const char *name, const char *text, size_t n,
		       struct fab_name_map **out, struct fab_err *err)
{
	struct fab_name_map *map = FAB_NEW0(1, struct fab_name_map);
	int rc;

	map->index = fab_map64_new(64);
	rc = parse_map(map, name, text, n, err);
	if (rc)
		fab_name_map_free(map);
	else
		*out = map;
	return rc;
}

int fab_name_map_open(const char *path, struct fab_name_map **out, struct fab_err *err)
{
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_name_map_parse(path, in.bytes, in.n, out, err);
	fab_input_fini(&in);
	return rc;
}

void fab_name_map_free(struct fab_name_map *map)
{
	if (!map)
		return;
	fab_map64_free(map->index);
	free(map->at.v);
	free(map->names.v);
	free(map);
}

const char *fab_name_map_get(const struct fab_name_map *map, uint64_t guid)
{
	uint32_t i = fab_map64_get(map->index, guid);

	return i == FAB_NONE ? NULL : map->names.v + map->at.v[i];
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
