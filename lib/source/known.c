/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/known.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "source/scan.h"
#include "source/unpack.h"

#include <stdlib.h>

enum { CODE_MAX = 40, SHOWN = 60 };

struct line {
	const char *id; /* "CODE KEY" */
	uint64_t number;
};

struct fab_known {
	const char *name;
	struct fab_arena memory;  /* texts */
	struct fab_strmap *by_id; /* index into lines */
	FAB_VEC(struct line) lines;
};

/* GUID or GUID/PORT, by has_port. */
struct about {
	uint64_t guid;
	uint32_t port;
	bool has_port;
};

struct parser {
	struct fab_known *known;
	struct fab_lines lines;
	struct fab_err *err;
	FAB_VEC(struct about) about; /* of the line at hand */
};

static int bad_line(const struct parser *p, const struct fab_span *line,
		    const char *expected)
{
	size_t len = fab_span_len(line);

	return fab_fail_line(p->err, p->known->name, p->lines.line,
			     "expected %s, found \"%.*s\"", expected,
			     len < SHOWN ? (int)len : SHOWN, line->p);
}

static bool is_end(const struct fab_span *s)
{
	return s->p == s->end || *s->p == '#';
}

/* A quoted text with both quotes. */
static bool take_quoted(struct fab_span *s, struct fab_span *text)
{
	text->p = s->p++;
	while (s->p < s->end && *s->p != FAB_QUOTE)
		s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
	if (!fab_take_char(s, FAB_QUOTE))
		return false;
	text->end = s->p;
	fab_skip_blanks(s);
	return is_end(s);
}

static bool take_about(struct fab_span *s, struct about *out)
{
	*out = (struct about){.port = 0};
	if (!FAB_TAKE(s, "0x") || !fab_take_hex(s, &out->guid))
		return false;
	out->has_port = fab_take_char(s, '/');
	if (out->has_port && (!fab_take_dec(s, &out->port) || out->port > UINT16_MAX))
		return false;
	return s->p == s->end || fab_is_blank(*s->p) || *s->p == '#';
}

FAB_ORDER(by_guid, struct about, guid, port)

static void keep(struct parser *p, const char *id)
{
	struct fab_known *k = p->known;
	struct line line = {.id = id, .number = p->lines.line};

	/* the first one if it is listed twice */
	if (fab_strmap_put(k->by_id, id, strlen(id), (uint32_t)k->lines.n) == k->lines.n)
		FAB_PUSH(&k->lines, line);
}

static int parse_line(struct parser *p, const struct fab_span *line)
{
	struct fab_span s = *line, code, text;
	struct about about;

	if (is_end(&s))
		return 0;
	/* The code: a-z, digits and dashes. */
	code.p = s.p;
	while (s.p < s.end &&
	       ((*s.p >= 'a' && *s.p <= 'z') || *s.p == '-' || fab_is_digit(*s.p)))
		s.p++;
	code.end = s.p;
	if (!(code.p != code.end && fab_span_len(&code) <= CODE_MAX &&
	      (s.p == s.end || fab_is_blank(*s.p))))
		return bad_line(p, line, "the code of a problem and a GUID");
	fab_skip_blanks(&s);
	if (s.p < s.end && *s.p == FAB_QUOTE) {
		if (!take_quoted(&s, &text))
			return bad_line(p, line, "one text in quotes behind the code");
		keep(p, fab_arena_format(&p->known->memory, "%.*s %.*s",
					 (int)fab_span_len(&code), code.p,
					 (int)fab_span_len(&text), text.p));
		return 0;
	}
	for (p->about.n = 0; !is_end(&s); fab_skip_blanks(&s)) {
		if (!take_about(&s, &about))
			return bad_line(
				p, line,
				"GUIDs (0x...), GUID/PORT or a text in quotes behind the code");
		FAB_PUSH(&p->about, about);
	}
	if (!p->about.n)
		return bad_line(p, line, "a GUID (0x...) behind the code");
	/* "CODE KEY" with the key as the check writes it. */
	enum { ABOUT_BYTES = 32 };
	size_t size = fab_span_len(&code) + p->about.n * ABOUT_BYTES + 1;
	char *id = FAB_ARENA_NEW(&p->known->memory, size, char), *at = id;
	qsort(p->about.v, p->about.n, sizeof(*p->about.v), by_guid);
	at += snprintf(at, size, "%.*s", (int)fab_span_len(&code), code.p);
	for (size_t i = 0; i < p->about.n; i++) {
		const struct about *a = &p->about.v[i];

		at += snprintf(at, ABOUT_BYTES, " 0x%016llx",
			       (unsigned long long)a->guid);
		if (a->has_port)
			at += snprintf(at, ABOUT_BYTES, "/%u", a->port);
	}
	keep(p, id);
	return 0;
}

int fab_known_parse(const char *name, const char *text, size_t len,
		    struct fab_known **out, struct fab_err *err)
{
	struct parser p = {.lines = {.at = text, .end = text + len}, .err = err};
	struct fab_span line;
	int rc = 0;

	p.known = FAB_NEW0(1, struct fab_known);
	p.known->name = fab_arena_strdup(&p.known->memory, fab_input_name(name));
	p.known->by_id = fab_strmap_new(64);
	while (!rc && fab_lines_next(&p.lines, &line))
		rc = parse_line(&p, &line);
	free(p.about.v);
	if (rc)
		fab_known_free(p.known);
	else
		*out = p.known;
	return rc;
}

int fab_known_read(const char *path, struct fab_known **out, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	return rc ? rc : fab_known_parse(path, in.bytes, in.n, out, err);
}

void fab_known_free(struct fab_known *known)
{
	if (!known)
		return;
	free(known->lines.v);
	fab_strmap_free(known->by_id);
	fab_arena_free(&known->memory);
	free(known);
}

/* A note for each line that was not met. */
static uint32_t add_gone(const struct fab_known *known, const bool *is_met,
			 struct fab_check *check)
{
	uint32_t n = 0, at = check->n_findings;

	for (size_t i = 0; i < known->lines.n; i++)
		n += !is_met[i];
	check->findings = fab_realloc(check->findings, at + n, sizeof(*check->findings));
	for (size_t i = 0; i < known->lines.n; i++) {
		const struct line *line = &known->lines.v[i];

		if (is_met[i])
			continue;
		check->findings[at++] = (struct fab_finding){
			.code = "known-gone",
			.message = fab_arena_format(
				&check->arena,
				"known, but not found any more: %s (%s:%llu)", line->id,
				known->name, (unsigned long long)line->number),
			.key = fab_arena_strdup(&check->arena, line->id),
			.node = FAB_NONE,
			.port = FAB_NONE,
			.cable = FAB_NONE,
			.peer_node = FAB_NONE,
			.peer_port = FAB_NONE,
		};
	}
	check->n_findings = at;
	return n;
}

struct fab_known_counts fab_known_leave_out(const struct fab_known *known,
					    struct fab_check *check)
{
	struct fab_known_counts counts = {0};
	FAB_AUTOFREE bool *is_met = FAB_NEW0(known->lines.n, bool);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < check->n_findings; i++) {
		struct fab_finding *x = &check->findings[i];
		FAB_AUTOFREE char *id = fab_format("%s %s", x->code, x->key);
		uint32_t line = fab_strmap_get(known->by_id, id, strlen(id));

		if (line == FAB_NONE) {
			check->findings[kept++] = *x;
			continue;
		}
		is_met[line] = true;
		if (!check->known)
			check->known = FAB_NEW(check->n_findings, struct fab_finding);
		check->known[check->n_known++] = *x;
		counts.n_left_out++;
		check->n_problems -= x->severity == FAB_PROBLEM;
	}
	check->n_findings = kept;
	counts.n_gone = add_gone(known, is_met, check);
	return counts;
}

static int by_code(const void *x, const void *y)
{
	const struct fab_finding *a = *(const struct fab_finding *const *)x;
	const struct fab_finding *b = *(const struct fab_finding *const *)y;
	int order = strcmp(a->code, b->code);

	return order ? order : strcmp(a->key, b->key);
}

void fab_known_write(FILE *out, const struct fab_check *check)
{
	FAB_AUTOFREE const struct fab_finding **v =
		FAB_NEW(check->n_problems, const struct fab_finding *);
	char safe[4096];

	for (uint32_t i = 0; i < check->n_problems; i++)
		v[i] = &check->findings[i];
	qsort(v, check->n_problems, sizeof(const struct fab_finding *), by_code);
	fputs("# Problems that are accepted, for fabric-topo --check --known=FILE\n"
	      "# code, then GUIDs of nodes or GUID/PORT of ports; # begins a comment\n",
	      out);
	for (uint32_t i = 0; i < check->n_problems; i++)
		if (!i || by_code(&v[i - 1], &v[i]) != 0)
			fprintf(out, "%s %s  # %s\n", v[i]->code, v[i]->key,
				fab_text_safe(v[i]->message, safe, sizeof(safe)));
}
