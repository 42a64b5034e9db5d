/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/label.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Length without the blanks at the end. */
static size_t trimmed_len(const char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return n;
}

/* `MF0;name:model/module`: a letter pair, digits, a semicolon. */
static const char *skip_chassis(const char *s)
{
	const char *p = s;

	if (!isupper((unsigned char)p[0]) || !isupper((unsigned char)p[1]))
		return NULL;
	p += 2;
	if (!isdigit((unsigned char)*p))
		return NULL;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == ';' ? p + 1 : NULL;
}

char *fab_label_short(const char *description, char *out, size_t size)
{
	size_t len = trimmed_len(description);
	const char *end = description + len, *name = skip_chassis(description);
	const char *colon = name ? memrchr(name, ':', (size_t)(end - name)) : NULL;
	const char *slash = colon ? memchr(colon, '/', (size_t)(end - colon)) : NULL;

	if (!slash || colon == name)
		snprintf(out, size, "%.*s", (int)len, description);
	else if (end - slash == 3 && !memcmp(slash, "/U1", 3))
		snprintf(out, size, "%.*s", (int)(colon - name), name);
	else
		snprintf(out, size, "%.*s%.*s", (int)(colon - name), name,
			 (int)(end - slash), slash);
	return out;
}

/* End of the description of a chip that begins at `s`; NULL: none begins there. */
static const char *chip_end(const char *s)
{
	const char *name = skip_chassis(s), *p;

	p = name ? name + strcspn(name, ":/ ") : NULL;
	if (!p || p == name || *p != ':')
		return NULL;
	p += 1 + strcspn(p + 1, ":/ ");
	if (*p != '/')
		return NULL;
	while (*p == '/' || isalnum((unsigned char)*p))
		p++;
	return p;
}

char *fab_label_shorten(const char *text)
{
	char *out = fab_alloc(strlen(text) + 1, 1), *to = out;
	bool is_inside = false; /* a word has begun before `text` */

	while (*text) {
		const char *end = is_inside ? NULL : chip_end(text);

		if (end && end - text < FAB_LABEL_SIZE) {
			char description[FAB_LABEL_SIZE], label[FAB_LABEL_SIZE];

			snprintf(description, sizeof(description), "%.*s",
				 (int)(end - text), text);
			to = stpcpy(to,
				    fab_label_short(description, label, sizeof(label)));
			text = end;
			continue;
		}
		is_inside = isalnum((unsigned char)*text);
		*to++ = *text++;
	}
	*to = '\0';
	return out;
}

bool fab_host_is_unnamed(const struct fab_fabric *f, fab_host_id host)
{
	char guid[24];
	uint32_t adapter = f->host_adapter[f->host_first_adapter[host]];

	snprintf(guid, sizeof(guid), "0x%016llx",
		 (unsigned long long)f->node_guid[adapter]);
	return !strcmp(guid, fab_host_name(f, host));
}

static bool is_only_one(const struct fab_fabric *f, fab_node_id node)
{
	const char *name = fab_node_name(f, node);

	for (fab_node_id other = 0; other < f->n_nodes; other++)
		if (other != node && strcmp(fab_node_name(f, other), name) == 0)
			return false;
	return true;
}

char *fab_node_text(const struct fab_fabric *f, fab_node_id node)
{
	if (is_only_one(f, node) || !f->node_guid[node])
		return fab_strdup(fab_node_name(f, node));
	return fab_format("%s (0x%016" PRIx64 ")", fab_node_name(f, node),
			  f->node_guid[node]);
}

char *fab_cable_text(const struct fab_fabric *f, fab_port_id port)
{
	fab_port_id peer = port == FAB_NONE ? FAB_NONE : fab_port_peer(f, port);
	char *from, *to, *text;

	if (peer == FAB_NONE)
		return NULL;
	from = fab_node_text(f, f->port_node[port]);
	to = fab_node_text(f, f->port_node[peer]);
	text = fab_format("%s:%u -> %s:%u", from, f->port_num[port], to,
			  f->port_num[peer]);
	free(from);
	free(to);
	return text;
}
