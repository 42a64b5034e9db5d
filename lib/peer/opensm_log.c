/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "peer/opensm.h"
#include "source/scan.h"

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
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (file && fseek(file, (long)log->n_read, SEEK_SET) == 0)
		while ((n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
			fab_opensm_log_take(log, line, (size_t)n);
			log->n_read += (size_t)n;
		}
	free(line);
	if (file)
		fclose(file);
}
