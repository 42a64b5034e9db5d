/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { NS = 1000000000 };

/* Would the name be read as one token that is no comment? */
static bool is_plain(const char *name)
{
	return *name && *name != '"' && *name != '#' && !strpbrk(name, " \t\r");
}

static void write_name(FILE *out, const char *name, bool is_quoted)
{
	size_t size = 4 * strlen(name) + 8;
	char *safe = fab_text_safe(name, fab_alloc(size, 1), size);

	fprintf(out, is_quoted ? "\"%s\"" : "%s", safe);
	free(safe);
}

static void write_group(FILE *out, const char *name)
{
	write_name(out, name, !is_plain(name));
}

static void write_member(FILE *out, const struct fab_fabric *f, uint32_t port)
{
	if (f->port_guid[port])
		fprintf(out, "0x%016" PRIx64, f->port_guid[port]);
	else
		write_name(out, fab_node_name(f, f->port_node[port]), true);
}

int fab_export_events(FILE *out, const struct fab_fabric *f,
		      const struct fab_events *events, struct fab_err *err)
{
	fputs("# TIME join GROUP MEMBER COUNT [lost] | TIME leave GROUP MEMBER [lost]\n",
	      out);
	for (size_t i = 0; i < events->n && !ferror(out); i++) {
		const struct fab_event *e = &events->v[i];

		fprintf(out, "%" PRIu64 ".%09" PRIu64 "s %s ", e->time_ns / NS,
			e->time_ns % NS, e->is_leave ? "leave" : "join");
		write_group(out, fab_group_name(events->groups, e->group));
		fputc(' ', out);
		write_member(out, f, events->groups->member[e->seat]);
		if (!e->is_leave)
			fprintf(out, " %" PRIu32, e->count);
		fputs(e->is_lost ? " lost\n" : "\n", out);
	}
	if (ferror(out))
		return fab_fail(err, errno ? errno : EIO, "cannot write: %s",
				strerror(errno ? errno : EIO));
	return 0;
}
