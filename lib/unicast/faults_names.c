/* SPDX-License-Identifier: BSD-2-Clause */
/* Which switch or cable a text names. */
#include "unicast/faults.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, TEXT_MAX = 120 };

static int shown(size_t len)
{
	return len > TEXT_MAX ? TEXT_MAX : (int)len;
}

static int expect_switch(const struct fab_fabric *f, uint32_t node, const char *text,
			 size_t len, uint32_t *out, struct fab_err *err)
{
	if (!fab_node_is_switch(f, node))
		return fab_fail(err, EINVAL,
				"'%.*s' is an adapter: a switch can die here, or a link",
				shown(len), text);
	*out = node;
	return 0;
}

static int find_lid(const struct fab_fabric *f, const char *text, size_t len,
		    uint32_t *out, struct fab_err *err)
{
	uint64_t lid;

	if (!fab_parse_u64(text + 4, len - 4, 1, 0xbfff, &lid))
		return fab_fail(err, EINVAL, "'%.*s': expected lid:N, N from 1 to 49151",
				shown(len), text);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_lid[p] && lid >= f->port_lid[p] &&
		    lid < f->port_lid[p] + (UINT64_C(1) << (f->port_lmc[p] & 7)))
			return expect_switch(f, f->port_node[p], text, len, out, err);
	return fab_fail(err, ENOENT, "no port has LID %" PRIu64, lid);
}

static int find_guid(const struct fab_fabric *f, const char *text, size_t len,
		     uint32_t *out, struct fab_err *err)
{
	uint64_t guid;

	if (!fab_parse_guid(text, len, &guid))
		return fab_fail(err, EINVAL, "'%.*s' is no GUID", shown(len), text);
	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (f->node_guid[n] == guid)
			return expect_switch(f, n, text, len, out, err);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p] == guid)
			return expect_switch(f, f->port_node[p], text, len, out, err);
	return fab_fail(err, ENOENT, "no switch has the GUID %.*s", shown(len), text);
}

static bool is_coordinates(const char *text, size_t len)
{
	bool has_dot = false;

	for (size_t i = 0; i < len; i++) {
		bool is_dot = text[i] == '.';

		if (!is_dot && (text[i] < '0' || text[i] > '9'))
			return false;
		if (is_dot && (i == 0 || i + 1 == len || text[i - 1] == '.'))
			return false;
		has_dot = has_dot || is_dot;
	}
	return has_dot;
}

static bool ends_in_leaf(const char *name, const char *text, size_t len)
{
	static const char leaf[] = "leaf-";
	size_t all = strlen(name), want = len + sizeof(leaf) - 1;

	return all >= want && !memcmp(name + all - len, text, len) &&
	       !memcmp(name + all - want, leaf, sizeof(leaf) - 1);
}

static bool is_named(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

static int find_name(const struct fab_fabric *f, const char *text, size_t len,
		     uint32_t *out, struct fab_err *err)
{
	bool by_leaf = is_coordinates(text, len);
	uint32_t found = FAB_NONE, n_found = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const char *name = fab_node_name(f, sw);

		if (is_named(name, text, len) ||
		    (by_leaf && ends_in_leaf(name, text, len))) {
			found = sw;
			n_found++;
		}
	}
	if (n_found > 1)
		return fab_fail(err, EINVAL,
				"%u switches are named '%.*s': name one by its GUID",
				n_found, shown(len), text);
	if (n_found) {
		*out = found;
		return 0;
	}
	for (uint32_t n = f->n_switches; n < f->n_nodes; n++)
		if (is_named(fab_node_name(f, n), text, len))
			return expect_switch(f, n, text, len, out, err);
	return fab_fail(err, ENOENT, "no switch is named '%.*s'", shown(len), text);
}

int fab_faults_find_switch(const struct fab_fabric *f, const char *text, size_t len,
			   uint32_t *out, struct fab_err *err)
{
	struct fab_err ignored;

	if (!len)
		return fab_fail(err, EINVAL, "expected the name of a switch");
	if (len > 4 && !memcmp(text, "lid:", 4))
		return find_lid(f, text, len, out, err);
	if (!find_name(f, text, len, out, &ignored))
		return 0;
	if (len > 2 && !memcmp(text, "0x", 2))
		return find_guid(f, text, len, out, err);
	return find_name(f, text, len, out, err);
}

int fab_faults_find_cable(const struct fab_fabric *f, const char *text, size_t len,
			  uint32_t *out, struct fab_err *err)
{
	size_t colon = len;
	uint32_t sw, port;
	uint64_t number;
	int rc;

	while (colon > 0 && text[colon - 1] != ':')
		colon--;
	if (colon < 2 || !fab_parse_u64(text + colon, len - colon, 1, 255, &number))
		return fab_fail(err, EINVAL,
				"'%.*s': expected a link as SWITCH:PORT, PORT from 1 "
				"to 255",
				shown(len), text);
	rc = fab_faults_find_switch(f, text, colon - 1, &sw, err);
	if (rc)
		return rc;
	port = fab_port_find(f, sw, (unsigned)number);
	if (port == FAB_NONE || f->port_cable[port] == FAB_NONE)
		return fab_fail(err, ENOENT, "'%.*s': no cable at port %" PRIu64,
				shown(len), text, number);
	*out = f->port_cable[port];
	return 0;
}

typedef int add_fn(struct fab_faults *faults, const char *text, size_t len,
		   struct fab_err *err);

static int add_switch(struct fab_faults *faults, const char *text, size_t len,
		      struct fab_err *err)
{
	uint32_t sw;
	int rc = fab_faults_find_switch(faults->f, text, len, &sw, err);

	if (!rc)
		fab_faults_kill_switch(faults, sw);
	return rc;
}

static int add_cable(struct fab_faults *faults, const char *text, size_t len,
		     struct fab_err *err)
{
	uint32_t cable;
	int rc = fab_faults_find_cable(faults->f, text, len, &cable, err);

	if (!rc)
		fab_faults_kill_cable(faults, cable);
	return rc;
}

/* Items between commas; one in "" may hold commas and ends at the next ". */
static int add_list(struct fab_faults *faults, const char *text, add_fn *add,
		    struct fab_err *err)
{
	for (;;) {
		const char *end;
		int rc;

		if (*text == '"') {
			end = strchr(++text, '"');
			if (!end || (end[1] && end[1] != ','))
				return fab_fail(err, EINVAL,
						"'%.80s': expected \" and , at the end "
						"of a name in \"\"",
						text);
			rc = add(faults, text, (size_t)(end - text), err);
			end++;
		} else {
			end = strchrnul(text, ',');
			rc = add(faults, text, (size_t)(end - text), err);
		}
		if (rc || !*end)
			return rc;
		text = end + 1;
	}
}

int fab_faults_add_switches(struct fab_faults *faults, const char *text,
			    struct fab_err *err)
{
	return add_list(faults, text, add_switch, err);
}

int fab_faults_add_cables(struct fab_faults *faults, const char *text,
			  struct fab_err *err)
{
	return add_list(faults, text, add_cable, err);
}

static int add_line(struct fab_faults *faults, const char *line, size_t len,
		    struct fab_err *err)
{
	static const char link[] = "link ";

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r' ||
		       line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	if (!len || *line == '#')
		return 0;
	if (memchr(line, '\0', len))
		return fab_fail(err, EINVAL, "expected text, found a zero byte");
	if (len > sizeof(link) - 1 && !memcmp(line, link, sizeof(link) - 1))
		return add_cable(faults, line + sizeof(link) - 1,
				 len - (sizeof(link) - 1), err);
	return add_switch(faults, line, len, err);
}

static int add_lines(struct fab_faults *faults, FILE *file, const char *path,
		     struct fab_err *err)
{
	char *line = NULL, prefix[TEXT_MAX + 40];
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	for (uint64_t number = 1; !rc && (len = getline(&line, &cap, file)) >= 0;
	     number++) {
		if (len > LINE_MAX_BYTES)
			rc = fab_fail(err, EINVAL, "expected a line of at most %d bytes",
				      LINE_MAX_BYTES);
		else
			rc = add_line(faults, line, (size_t)len, err);
		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, TEXT_MAX, path, number);
		fab_err_prefix(err, prefix);
	}
	free(line);
	if (!rc && ferror(file))
		rc = fab_fail(err, EIO, "%s: cannot read: %s", path, strerror(errno));
	return rc;
}

int fab_faults_add_file(struct fab_faults *faults, const char *path, struct fab_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (!file)
		return fab_fail(err, errno, "%s: cannot open: %s", path, strerror(errno));
	rc = add_lines(faults, file, is_stdin ? "(stdin)" : path, err);
	if (!is_stdin)
		fclose(file);
	return rc;
}
