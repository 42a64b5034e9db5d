/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cabling plans as comma-separated values: the network description table (NDT) of UFM and
 * any table with its four columns.
 *
 *   #StartDevice,StartPort,EndDevice,EndPort,LinkType
 *   leaf1,Port 21,core1,Blade 16_Port 2/20,Data
 *   node7,node7 HCA-1,leaf1,Port 1,Data
 *
 * The header line names the columns, in any order; others are ignored. Fields are
 * separated by commas, semicolons or tabs and may be quoted. A file may be several ones
 * after each other, each with its header line.
 */
#include "fabric/hosts.h"
#include "source/cabling.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { START_DEVICE, START_PORT, END_DEVICE, END_PORT, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {"StartDevice", "StartPort",
						    "EndDevice", "EndPort"};
static const char separators[] = {',', ';', '\t'};

#define COLUMNS_EXPECTED "expected StartDevice, StartPort, EndDevice and EndPort"
#define PORT_EXPECTED                                                                    \
	"expected \"Port N\", \"Blade N_Port CHIP/PORT\" or an adapter such "            \
	"as \"HCA-1\" or \"node1 mlx5_0\""

/* Which fields of a line are what; `line` is that of the header, 0: none was read. */
struct layout {
	char separator;
	uint32_t at[N_COLUMNS], n_fields, n_found;
	uint64_t line;
};

struct csv {
	struct fab_cabling *c;
	const char *name;
	struct fab_lines lines;
	struct layout layout;
	struct fab_err *err;
};

/*
 * The next field, without blanks and quotes around it; *is_last if nothing is behind it.
 * A doubled quote means one quote: such a field is unquoted in `arena` (NULL: left so).
 * False: a quote is not closed, or text is behind it.
 */
static bool take_field(struct fab_span *s, char separator, struct fab_arena *arena,
		       struct fab_span *field, bool *is_last)
{
	const char *close;
	bool has_quotes = false;

	while (s->p < s->end && fab_is_blank(*s->p) && *s->p != separator)
		s->p++;
	*field = (struct fab_span){s->p, s->p};
	if (fab_take_char(s, FAB_QUOTE)) {
		for (field->p = s->p;; s->p++) {
			if (s->p == s->end)
				return false;
			if (*s->p != FAB_QUOTE)
				continue;
			if (s->p + 1 == s->end || s->p[1] != FAB_QUOTE)
				break;
			has_quotes = true;
			s->p++;
		}
		field->end = s->p++;
		while (s->p < s->end && fab_is_blank(*s->p) && *s->p != separator)
			s->p++;
	} else {
		close = memchr(s->p, separator, fab_span_len(s));
		s->p = field->end = close ? close : s->end;
	}
	while (field->p < field->end && fab_is_blank(field->end[-1]))
		field->end--;
	fab_skip_blanks(field);
	if (has_quotes && arena) {
		char *text = fab_arena_alloc(arena, fab_span_len(field), 1);
		size_t n = 0;

		for (const char *p = field->p; p < field->end; p++) {
			text[n++] = *p;
			p += *p == FAB_QUOTE;
		}
		*field = (struct fab_span){text, text + n};
	}
	*is_last = s->p == s->end;
	return *is_last || fab_take_char(s, separator);
}

/* "#StartDevice", "#Fields:Start Device", "start_device": the column, N_COLUMNS: none. */
static uint32_t column_of(struct fab_span field)
{
	static const char prefix[] = "fields:";
	char plain[32];
	size_t n = 0;

	for (; field.p < field.end && n + 1 < sizeof(plain); field.p++)
		if (!memchr(" \t#_-", *field.p, 5))
			plain[n++] = (char)tolower((unsigned char)*field.p);
	plain[n] = '\0';
	for (uint32_t i = 0; i < N_COLUMNS && field.p == field.end; i++) {
		const char *text = plain;

		if (!strncmp(text, prefix, sizeof(prefix) - 1))
			text += sizeof(prefix) - 1;
		if (!strcasecmp(text, column_names[i]))
			return i;
	}
	return N_COLUMNS;
}

/* The columns that a line names with this separator. */
static struct layout layout_of(struct fab_span line, char separator)
{
	struct layout layout = {.separator = separator};
	struct fab_span field;
	bool is_last = false;

	memset(layout.at, 0xff, sizeof(layout.at));
	while (!is_last && take_field(&line, separator, NULL, &field, &is_last)) {
		uint32_t column = column_of(field);

		if (column < N_COLUMNS) {
			layout.at[column] = layout.n_fields;
			layout.n_found++;
		}
		layout.n_fields++;
	}
	return layout;
}

/* Does the line name columns, at least half of them? */
static bool is_header(struct fab_span line, struct layout *out)
{
	(void)FAB_TAKE(&line, "\xef\xbb\xbf"); /* byte order mark */
	for (size_t i = 0; i < sizeof(separators); i++) {
		*out = layout_of(line, separators[i]);
		if (out->n_found >= N_COLUMNS / 2)
			return true;
	}
	return false;
}

bool fab_is_cabling_csv_line(struct fab_span line)
{
	struct layout layout;

	return memmem(line.p, fab_span_len(&line), "evice", 5) &&
	       is_header(line, &layout);
}

static int csv_fail(const struct csv *x, const char *what, const struct fab_span *text,
		    const char *expected)
{
	return fab_fail_line(x->err, x->name, x->lines.line, "%s \"%.*s\", %s", what,
			     fab_shown(text), text->p, expected);
}

/* A number behind one of these words, in any case, and blanks or underscores. */
static bool take_numbered(struct fab_span *s, const char *word, uint32_t *number)
{
	size_t n = strlen(word);
	struct fab_span at = *s;

	if (fab_span_len(&at) <= n || strncasecmp(at.p, word, n) != 0)
		return false;
	at.p += n;
	while (at.p < at.end && (fab_is_blank(*at.p) || *at.p == '_'))
		at.p++;
	if (!fab_take_dec(&at, number) || !*number)
		return false;
	*s = at;
	return true;
}

/* The whole text is a port number: "Port 21", "P21", "21". */
static bool is_port(struct fab_span s, uint32_t *port)
{
	return (take_numbered(&s, "port", port) || take_numbered(&s, "p", port) ||
		take_numbered(&s, "", port)) &&
	       s.p == s.end;
}

/* "Blade 16_Port 2/20", of boards with one chip "Blade 16_Port 20". */
static bool is_board(struct fab_span s, uint32_t *board, uint32_t *chip, uint32_t *port)
{
	if (!take_numbered(&s, "blade", board) || s.p == s.end ||
	    !(fab_is_blank(*s.p) || *s.p == '_'))
		return false;
	s.p++;
	*chip = 1;
	if (!take_numbered(&s, "port", port))
		return false;
	if (fab_take_char(&s, '/')) {
		*chip = *port;
		if (!fab_take_dec(&s, port) || !*port)
			return false;
	}
	return s.p == s.end;
}

/* "HCA-1", "node1 HCA-1", each also with "/2" or " port 2" behind it, of this host. */
static bool take_adapter(struct csv *x, struct fab_span device, struct fab_span text,
			 struct fab_cabling_end *end)
{
	struct fab_span rest, words, first, second, host, adapter;
	uint32_t port = 1, id;
	const char *name;

	rest = text;
	for (const char *p = text.p; p < text.end; p++) {
		struct fab_span tail = {p + 1, text.end};

		if ((*p == '/' && fab_take_dec(&tail, &port) && tail.p == tail.end) ||
		    (fab_is_blank(*p) && is_port(tail, &port))) {
			rest.end = p;
			break;
		}
		port = 1;
	}
	words = rest;
	first = fab_take_word(&words);
	second = fab_take_word(&words);
	if (words.p != words.end || !port || port > FAB_MAX_PORT)
		return false;
	host = second.p < second.end ? first : device;
	adapter = second.p < second.end ? second : first;
	if (!fab_hosts_is_adapter(adapter.p, fab_span_len(&adapter)))
		return false;
	name = fab_arena_format(&x->c->arena, "%.*s %.*s",
				(int)fab_name_cut(fab_span_len(&host)), host.p,
				(int)fab_name_cut(fab_span_len(&adapter)), adapter.p);
	id = fab_cabling_device(x->c, name, strlen(name), x->lines.line);
	x->c->devices.v[id].is_kind_known = true;
	x->c->devices.v[id].kind = FAB_ADAPTER;
	*end = (struct fab_cabling_end){id, (uint16_t)port};
	return true;
}

/* The device and port that two fields name. */
static int read_end(struct csv *x, struct fab_span device, struct fab_span text,
		    struct fab_cabling_end *end)
{
	uint32_t board, chip, port;
	struct fab_span words = device, second;

	if (is_port(text, &port)) {
		if (port > FAB_MAX_PORT)
			return csv_fail(x, "port", &text, "expected at most 65534");
		*end = (struct fab_cabling_end){fab_cabling_device(x->c, device.p,
								   fab_span_len(&device),
								   x->lines.line),
						(uint16_t)port};
		/* a device that is called as an adapter is one */
		(void)fab_take_word(&words);
		second = fab_take_word(&words);
		if (second.p < second.end && words.p == words.end &&
		    fab_hosts_is_adapter(second.p, fab_span_len(&second))) {
			x->c->devices.v[end->device].is_kind_known = true;
			x->c->devices.v[end->device].kind = FAB_ADAPTER;
		}
		return 0;
	}
	if (is_board(text, &board, &chip, &port)) {
		if (board > 99 || chip > 99 || port > FAB_MAX_PORT)
			return csv_fail(x, "port", &text,
					"expected boards and chips up to 99");
		*end = (struct fab_cabling_end){
			fab_cabling_module(x->c, device.p, fab_span_len(&device),
					   (uint16_t)board, (uint16_t)chip,
					   x->lines.line),
			(uint16_t)port};
		return 0;
	}
	if (take_adapter(x, device, text, end))
		return 0;
	return csv_fail(x, "port", &text, PORT_EXPECTED);
}

/* A cable: split the line, then read both ends. */
static int read_cable(struct csv *x, struct fab_span line)
{
	struct fab_span field, found[N_COLUMNS] = {0};
	struct fab_cabling_end a, b;
	struct fab_span rest = line;
	uint32_t n = 0, n_empty = 0, least = 0;
	bool is_last = false;
	int rc;

	while (!is_last) {
		if (!take_field(&rest, x->layout.separator, &x->c->arena, &field,
				&is_last))
			return csv_fail(
				x, "a quote is not closed in", &line,
				"expected a quoted field to end with a quote and the separator");
		for (int i = 0; i < N_COLUMNS; i++)
			if (x->layout.at[i] == n)
				found[i] = field;
		n_empty += field.p == field.end;
		n++;
	}
	if (n_empty == n)
		return 0;
	for (int i = 0; i < N_COLUMNS; i++)
		if (x->layout.at[i] >= least)
			least = x->layout.at[i] + 1;
	if (n < least && x->lines.is_open)
		return fab_cut_off(x->name, &x->lines, &line, x->err);
	if (n < least)
		return fab_fail_line(
			x->err, x->name, x->lines.line,
			"%u field%s in \"%.*s\", expected at least %u: the columns of line %" PRIu64,
			n, n == 1 ? "" : "s", fab_shown(&line), line.p, least,
			x->layout.line);
	for (int i = 0; i < N_COLUMNS; i++)
		if (found[i].p == found[i].end)
			return fab_fail_line(
				x->err, x->name, x->lines.line,
				"%s is empty in \"%.*s\", expected the name of a %s",
				column_names[i], fab_shown(&line), line.p,
				i % 2 ? "port" : "device");
	rc = read_end(x, found[START_DEVICE], found[START_PORT], &a);
	if (!rc)
		rc = read_end(x, found[END_DEVICE], found[END_PORT], &b);
	return rc ? rc : fab_cabling_add(x->c, a, b, x->lines.line, x->err);
}

static int check_layout(struct csv *x, struct fab_span line)
{
	for (int i = 0; i < N_COLUMNS; i++)
		if (x->layout.at[i] == FAB_NONE)
			return fab_fail_line(
				x->err, x->name, x->lines.line,
				"no column %s in \"%.*s\", " COLUMNS_EXPECTED,
				column_names[i], fab_shown(&line), line.p);
	if (x->layout.n_found > N_COLUMNS)
		return csv_fail(x, "a column is there twice in", &line, COLUMNS_EXPECTED);
	return 0;
}

int fab_cabling_csv_add(struct fab_cabling *c, const char *name, const char *text,
			size_t n, struct fab_err *err)
{
	struct csv x = {
		.c = c, .name = name, .lines = {.at = text, .end = text + n}, .err = err};
	struct fab_span line;
	int rc = 0;

	FAB_PUSH(&c->files, fab_arena_strdup(&c->arena, name));
	while (!rc && fab_lines_next(&x.lines, &line)) {
		struct layout layout;

		fab_lines_tell(&x.lines, text);
		if (line.p == line.end)
			continue;
		/* a name can look like columns: other separators need all of them */
		if (fab_is_cabling_csv_line(line) && is_header(line, &layout) &&
		    (!x.layout.line || layout.separator == x.layout.separator ||
		     layout.n_found == N_COLUMNS)) {
			layout.line = x.lines.line;
			x.layout = layout;
			rc = check_layout(&x, line);
		} else if (*line.p != '#' && x.layout.line) {
			rc = read_cable(&x, line);
		}
	}
	return rc;
}

int fab_cabling_csv_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, struct fab_err *err)
{
	FAB_AUTO(fab_cabling_fini) struct fab_cabling c;
	int rc;

	fab_cabling_init(&c);
	rc = fab_cabling_csv_add(&c, name, text, n, err);
	return rc ? rc : fab_cabling_build(&c, b, err);
}
