/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"

#include "fabric/builder.h"
#include "fabric/edit.h"
#include "source/cabling.h"
#include "source/reader.h"
#include "source/unpack.h"

#include <errno.h>
#include <unistd.h>

#define EXPECTED                                                                         \
	"expected an ibnetdiscover dump, an ibsim net file, a libibnetdisc cache, an "   \
	"opensm-subnet.lst or a cabling plan"

struct format {
	const char *name;
	fab_read_fn read;
};

static const struct format cache_format = {"cache", fab_cache_read};

/* True if a line with contents (no comment) belongs to the format. */
typedef bool (*line_fn)(struct fab_span line);

static const struct text_format {
	struct format format;
	line_fn is_line;
} text_formats[] = {
	{{"ibnetdiscover", fab_ibnetdiscover_read}, fab_is_dump_line},
	{{"subnet-lst", fab_subnet_lst_read}, fab_is_subnet_lst_line},
	{{"ibnetdiscover-ports", fab_ibnetdiscover_ports_read}, fab_is_port_list_line},
	{{FAB_CABLING_FORMAT, fab_cabling_csv_read}, fab_is_cabling_csv_line},
	{{FAB_CABLING_FORMAT "-topo", fab_cabling_topo_read}, fab_is_cabling_topo_line},
};

/* The first line that belongs to a format decides. */
static const struct format *find_text_format(const char *text, size_t n)
{
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_span line;

	while (fab_lines_next(&lines, &line)) {
		/* of comments only the header line of a plan says something */
		if (line.p == line.end ||
		    (*line.p == '#' && !fab_is_cabling_csv_line(line)))
			continue;
		for (size_t i = 0; i < FAB_COUNT(text_formats); i++)
			if (text_formats[i].is_line(line))
				return &text_formats[i].format;
	}
	return NULL;
}

static bool is_mapped(const void *map, uint64_t guid)
{
	return fab_name_map_get(map, guid) != NULL;
}

static int open_file(const char *path, const struct fab_source_options *options,
		     struct fab_fabric **out, struct fab_err *err);

/* LIDs from another description of the fabric, such as opensm-subnet.lst. */
static int take_lids(struct fab_builder *b, const char *source, const char *path,
		     struct fab_err *err)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *from = NULL;
	int rc = open_file(path, NULL, &from, err);
	uint32_t n_with, n_without;

	if (rc)
		return rc;
	if (!fab_builder_take_lids(b, from, &n_with, &n_without))
		rc = fab_fail(
			err, EINVAL,
			"%s: no port of it with a LID is in %s, expected the same fabric",
			path, source);
	else if (!n_with && n_without)
		rc = fab_fail(
			err, EINVAL,
			"%s: it has LIDs of switches of %s, but of none of its %u ports of adapters, expected the same fabric",
			path, source, n_without);
	else if (n_without)
		fab_builder_warn(
			b, "lids-missing", 0,
			"%s has no LIDs of %u of %u ports of adapters: they keep those of %s",
			path, n_without, n_with + n_without, source);
	return rc;
}

/* A text of edits, or a file if there is one of this name. */
static int take_edits(struct fab_editor *e, const char *text, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc;

	if (strcmp(text, "-") != 0 && access(text, F_OK) != 0) {
		rc = strpbrk(text, " \t")
			     ? fab_editor_add(e, text, strlen(text), err)
			     : fab_fail(
				       err, ENOENT,
				       "'%.80s': expected a file or an edit such as 'remove leaf1:40'",
				       text);
		if (rc)
			fab_err_prefix(err, "--edit");
		return rc;
	}
	rc = fab_input_read(text, &in, err);
	if (rc)
		return rc;
	return fab_editor_add_lines(e, strcmp(text, "-") ? text : "<stdin>", in.bytes,
				    in.n, err);
}

/* The fabric as edited; frees the one that was read. */
static int edit(const struct fab_source_options *options,
		const struct fab_host_options *hosts, struct fab_fabric *before,
		struct fab_fabric **out, struct fab_err *err)
{
	struct fab_editor *e = fab_editor_new(before);
	int rc = 0;

	for (size_t i = 0; i < options->n_edits && !rc; i++)
		rc = take_edits(e, options->edits[i], err);
	if (!rc)
		rc = fab_editor_finish(e, hosts, out, err);
	fab_editor_free(e);
	fab_fabric_free(before);
	return rc;
}

/* LIDs, names from the map, hosts, and the model itself, of a builder that was filled
 * with this result. Frees the builder. */
static int finish(int rc, struct fab_builder *b, const char *source, const char *format,
		  const struct fab_source_options *options, struct fab_fabric **out,
		  struct fab_err *err)
{
	struct fab_host_options hosts = {.hca = options ? options->hca : NULL};
	struct fab_name_map *map = NULL;
	struct fab_fabric *f;

	if (!rc && options && options->subnet)
		rc = take_lids(b, source, options->subnet, err);
	if (!rc && options && options->node_name_map)
		rc = fab_name_map_open(options->node_name_map, &map, err);
	if (rc) {
		fab_builder_free(b);
		return rc;
	}
	if (map) {
		fab_name_map_apply(map, b);
		hosts.name_map = map;
		hosts.is_mapped = is_mapped;
	}
	rc = fab_builder_finish(b, source, format, &hosts, &f, err);
	hosts.hca = NULL;
	if (!rc && options && options->n_edits)
		rc = edit(options, &hosts, f, &f, err);
	if (!rc)
		*out = f;
	fab_name_map_free(map);
	return rc;
}

static int parse(const char *source, const char *name, const char *text, size_t n,
		 const struct fab_source_options *options, struct fab_fabric **out,
		 struct fab_err *err)
{
	bool is_cache = fab_is_cache(text, n);
	const char *nul = n && !is_cache ? memchr(text, '\0', n) : NULL;
	const struct format *format = is_cache ? &cache_format
				      : nul    ? NULL
					       : find_text_format(text, n);
	struct fab_lines lines = {.at = text, .end = nul ? nul + 1 : text + n};
	struct fab_span line, first = {NULL, NULL};
	struct fab_builder *b;
	int rc;

	while (!format && fab_lines_next(&lines, &line))
		if (first.p == first.end)
			first = line;
	if (nul)
		return fab_fail_line(err, name, lines.line,
				     "binary data (a NUL byte), " EXPECTED);
	if (!format && first.p == first.end)
		return fab_fail(err, EINVAL, "%s:1: the input is empty, " EXPECTED, name);
	if (!format)
		return fab_fail_line(
			err, name, lines.line,
			"no record in %llu lines (the first is \"%.*s\"), " EXPECTED,
			(unsigned long long)lines.line, fab_shown(&first), first.p);
	b = fab_builder_new();
	rc = format->read(b, name, text, n, err);
	return finish(rc, b, source, format->name, options, out, err);
}

int fab_source_parse(const char *name, const void *bytes, size_t n,
		     const struct fab_source_options *options, struct fab_fabric **out,
		     struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_unpack(name, bytes, n, &in, err);

	return rc ? rc : parse(name, name, in.bytes, in.n, options, out, err);
}

static bool is_fabric(const char *text, size_t n)
{
	return find_text_format(text, n) != NULL;
}

/* Cabling plans in several files, with commas between the paths. */
static int open_plans(const char *paths, const struct fab_source_options *options,
		      struct fab_fabric **out, struct fab_err *err)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_cabling c;
	int rc = 0;

	fab_cabling_init(&c);
	for (const char *at = paths, *end; at && !rc; at = *end ? end + 1 : NULL) {
		FAB_AUTO(fab_input_fini) struct fab_input in = {0};
		char *path;

		end = strchrnul(at, ',');
		path = fab_arena_format(&c.arena, "%.*s", (int)(end - at), at);
		rc = fab_input_read_known(path, is_fabric, &in, err);
		if (rc)
			break;
		if (fab_is_cache(in.bytes, in.n) || !find_text_format(in.bytes, in.n) ||
		    find_text_format(in.bytes, in.n)->read != fab_cabling_csv_read)
			rc = fab_fail(
				err, EINVAL,
				"%s: no header line of a cabling plan, expected one, as in all files of a list with commas",
				fab_input_name(path));
		else
			rc = fab_cabling_csv_add(&c, path, in.bytes, in.n, err);
	}
	if (!rc)
		rc = fab_cabling_build(&c, b, err);
	fab_cabling_fini(&c);
	return finish(rc, b, paths, FAB_CABLING_FORMAT, options, out, err);
}

static int open_file(const char *path, const struct fab_source_options *options,
		     struct fab_fabric **out, struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "<stdin>";
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc;

	if (strchr(path, ',') && !fab_input_exists(path))
		return open_plans(path, options, out, err);
	rc = fab_input_read_known(path, is_fabric, &in, err);
	return rc ? rc : parse(path, name, in.bytes, in.n, options, out, err);
}

/* Something that fills a builder from the text behind the prefix of the argument. */
typedef int (*fill_fn)(struct fab_builder *b, const char *text, struct fab_err *err);

static int open_filled(const char *spec, const char *format, fill_fn fill,
		       const struct fab_source_options *options, struct fab_fabric **out,
		       struct fab_err *err)
{
	struct fab_builder *b = fab_builder_new();
	int rc = fill(b, strchr(spec, ':') + 1, err);

	return finish(rc, b, spec, format, options, out, err);
}

int fab_source_open(const char *spec, const struct fab_source_options *options,
		    struct fab_fabric **out, struct fab_err *err)
{
	if (!strncmp(spec, "gen:", 4))
		return open_filled(spec, "generated", fab_gen_fill, options, out, err);
	if (!strncmp(spec, "ib:", 3))
		return open_filled(spec, "live", fab_netdisc_read, options, out, err);
	return open_file(spec, options, out, err);
}
