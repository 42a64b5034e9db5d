/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/mem.h"
#include "peer/opensm.h"
#include "source/scan.h"
#include "source/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
	VALUE,
	GUIDS, /* a file that routing cannot do without */
	FILE_IF_THERE
};

/* Options of OpenSM 3.3 that tables, service levels and lanes depend on. */
static const struct option {
	const char *name;
	enum kind kind;
} options[] = {
	{"max_op_vls", VALUE},
	{"sm_sl", VALUE},
	{"partition_config_file", FILE_IF_THERE},
	{"no_partition_enforcement", VALUE},
	{"part_enforce", VALUE},
	{"port_profile_switch_nodes", VALUE},
	{"port_prof_ignore_file", GUIDS},
	{"hop_weights_file", GUIDS},
	{"port_search_ordering_file", GUIDS},
	{"avoid_throttled_links", VALUE},
	{"connect_roots", VALUE},
	{"root_guid_file", GUIDS},
	{"cn_guid_file", GUIDS},
	{"io_guid_file", GUIDS},
	{"quasi_ftree_indexing", VALUE},
	{"max_reverse_hops", VALUE},
	{"ids_guid_file", GUIDS},
	{"guid_routing_order_file", GUIDS},
	{"guid_routing_order_no_scatter", VALUE},
	{"do_mesh_analysis", VALUE},
	{"lash_start_vl", VALUE},
	{"nue_max_num_vls", VALUE},
	{"nue_include_switches", VALUE},
	{"port_shifting", VALUE},
	{"scatter_ports", VALUE},
	{"torus_config", FILE_IF_THERE},
	{"use_optimized_slvl", VALUE},
	{"qos", VALUE},
	{"qos_policy_file", FILE_IF_THERE},
};

/* Options for kinds of ports: qos_ca_sl2vl and the like. */
static bool is_of_qos(const struct fab_span *name)
{
	static const char *const ports[] = {"qos_", "qos_ca_", "qos_sw0_", "qos_swe_",
					    "qos_rtr_"};
	static const char *const what[] = {"max_vls", "high_limit", "vlarb_high",
					   "vlarb_low", "sl2vl"};

	for (size_t i = 0; i < FAB_COUNT(ports); i++)
		for (size_t k = 0; k < FAB_COUNT(what); k++) {
			struct fab_span rest = *name;

			if (fab_take_bytes(&rest, ports[i], strlen(ports[i])) &&
			    fab_take_bytes(&rest, what[k], strlen(what[k])) &&
			    rest.p == rest.end)
				return true;
		}
	return false;
}

static const struct option *find(const struct fab_span *name)
{
	static const struct option value = {NULL, VALUE};

	for (size_t i = 0; i < FAB_COUNT(options); i++)
		if (strlen(options[i].name) == fab_span_len(name) &&
		    fab_begins(name, options[i].name, fab_span_len(name)))
			return &options[i];
	return is_of_qos(name) ? &value : NULL;
}

static int copy_file(const char *where, const struct option *option, const char *value,
		     FILE *out, struct fab_err *err)
{
	FAB_AUTOFREE char *here = *value == '/' ? NULL : getcwd(NULL, 0);
	FAB_AUTOFREE char *path =
		here ? fab_format("%s/%s", here, value) : fab_strdup(value);
	int rc = 0;

	if (access(path, R_OK) == 0)
		fprintf(out, "%s %s\n", option->name, path);
	else if (option->kind == GUIDS)
		rc = fab_fail(err, errno, "%s: %s %s: %s", where, option->name, value,
			      strerror(errno));
	return rc;
}

int fab_opensm_conf_copy(const char *path, FILE *out, bool *sets_qos, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	struct fab_lines lines;
	struct fab_span rest;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	lines = (struct fab_lines){.at = in.bytes, .end = in.bytes + in.n};
	while (!rc && fab_lines_next(&lines, &rest)) {
		struct fab_span name;
		const struct option *option;
		FAB_AUTOFREE char *where = NULL, *value = NULL;

		if (rest.p == rest.end || *rest.p == '#')
			continue;
		name = fab_take_word(&rest);
		option = find(&name);
		if (!option)
			continue;
		where = fab_format("%s:%llu", path, (unsigned long long)lines.line);
		value = fab_strndup(rest.p, fab_span_len(&rest));
		if (!*value || memchr(rest.p, '\0', fab_span_len(&rest)))
			rc = fab_fail(err, EINVAL, "%s: expected a value of %.*s", where,
				      (int)fab_span_len(&name), name.p);
		else if (!strcmp(value, "(null)"))
			; /* as if it were not there */
		else if (option->kind != VALUE)
			rc = copy_file(where, option, value, out, err);
		else
			fprintf(out, "%.*s %s\n", (int)fab_span_len(&name), name.p,
				value);
		*sets_qos |= option->name && !strcmp(option->name, "qos");
	}
	return rc;
}

/* Text of a log line behind time, thread and level: *level, the rest. false: no line of
 * the log. "Nov 28 00:49:50 777295 [875786C0] 0x01 -> ucast_mgr_route: ..." */
static bool take_log_line(struct fab_span *line, unsigned *level)
{
	const char *at = memmem(line->p, fab_span_len(line), "] 0x", 4);
	uint64_t value;

	if (!at)
		return false;
	line->p = at + 4;
	if (!fab_take_hex(line, &value) || !FAB_TAKE(line, " -> "))
		return false;
	*level = (unsigned)value;
	return true;
}

/* "construct_fabric: ERR AB2B: Found more" without function and number. */
static struct fab_span message_of(struct fab_span line)
{
	const char *at = memmem(line.p, fab_span_len(&line), ": ", 2);

	if (at)
		line.p = at + 2;
	if (FAB_BEGINS(&line, "ERR ")) {
		at = memmem(line.p, fab_span_len(&line), ": ", 2);
		line.p = at ? at + 2 : line.p;
	}
	return line;
}

void fab_opensm_log_fini(struct fab_opensm_log *log)
{
	FAB_FREE_ALL(log->version, log->used, log->why, log->error, log->reason);
	*log = (struct fab_opensm_log){0};
}

static void set_text(char **to, struct fab_span text)
{
	size_t n = fab_span_len(&text);

	free(*to);
	*to = fab_strndup(text.p, n < 300 ? n : 300);
}

static void take_line(struct fab_opensm_log *log, struct fab_span line)
{
	static const char configured[] = " tables configured";
	struct fab_span message;
	unsigned level;
	const char *at;

	if (!take_log_line(&line, &level))
		return;
	message = message_of(line);
	at = memmem(line.p, fab_span_len(&line), configured, sizeof(configured) - 1);
	if (FAB_TAKE(&line, "OpenSM ")) {
		set_text(&log->version, line);
	} else if (at && message.p <= at) {
		message.end = at;
		set_text(&log->used, message);
	} else if (FAB_BEGINS(&line, "SUBNET UP")) {
		log->is_up = true;
	} else if (FAB_BEGINS(&line, "fabkit-path-sl: loaded")) {
		log->has_plugin = true;
	} else if (FAB_BEGINS(&line, "Entering MASTER")) {
		free(log->reason);
		log->reason = NULL;
	} else if (FAB_BEGINS(&line, "ucast_mgr_route: ")) {
		/* "ftree: cannot build lid matrices", after its reason */
		if (level & 1 && !log->why)
			log->why = log->reason ? fab_strdup(log->reason)
					       : fab_strndup(message.p,
							     fab_span_len(&message));
	} else if (!log->reason || level & 1) {
		set_text(&log->reason, message);
	}
	log->n_failed += memmem(line.p, fab_span_len(&line),
				"rrors during initialization", 27) != NULL;
	if (level & 1)
		set_text(&log->error, message);
}

void fab_opensm_log_take(struct fab_opensm_log *log, const char *text, size_t n)
{
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_span line;

	while (fab_lines_next(&lines, &line))
		if (!lines.is_open)
			take_line(log, line);
}

void fab_opensm_log_read(struct fab_opensm_log *log, const char *path)
{
	FILE *file = fopen(path, "re");
	FAB_AUTOFREE char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (file && fseek(file, (long)log->n_read, SEEK_SET) == 0)
		while ((n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
			fab_opensm_log_take(log, line, (size_t)n);
			log->n_read += (size_t)n;
		}
	if (file)
		fclose(file);
}
