/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Templates of files with a line for each node or server (data/boot, or a site's own).
 *
 * A file is read into lines; those that begin with % are headers or open and close
 * blocks. To write, blocks are walked for the servers and nodes of a part, and each line
 * of text is put together in a buffer: {names} become values, and a part in [[ ]] is
 * dropped where a value in it is empty. Grammar: fabric-formats(5), TEMPLATES OF BOOT
 * FILES.
 */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#include "export/boot_impl.h"
#include "export/slurm.h"
#include "present/jsonl.h"

enum { BLOCKS_MAX = 8, LIST_MAX_BYTES = 60000 /* an argument has up to 128 KiB */ };

enum line_kind {
	TEXT,
	SERVERS,
	ALL_SERVERS,
	NODES,
	LISTS,
	NETWORKS4,
	NETWORKS6,
	SECONDS,
	IF,
	UNLESS,
	END
};

struct boot_line {
	const char *at;
	size_t n;
	enum line_kind kind;
	size_t end;		   /* of a block: its %end */
	const struct value *value; /* of IF and UNLESS */
};

static const struct {
	const char *name;
	enum line_kind kind;
} blocks[] = {
	{"servers", SERVERS},	  {"servers all", ALL_SERVERS},
	{"nodes", NODES},	  {"lists", LISTS},
	{"networks4", NETWORKS4}, {"networks6", NETWORKS6},
	{"seconds", SECONDS},	  {"end", END},
};

static const struct {
	const char *name;
	unsigned flags;
} needs[] = {
	{"id", NEEDS_ID},
	{"mac", NEEDS_MAC},
	{"ip", NEEDS_IP | USES_IP},
	{"distinct-ip", USES_IP},
	{"server-ip", NEEDS_SERVER_IP},
	{"server-ip4", NEEDS_SERVER_IP4},
	{"server-ip6", NEEDS_SERVER_IP6},
	{"network", NEEDS_NETWORK},
	{"network4", NEEDS_NETWORK4},
	{"network6", NEEDS_NETWORK6},
	{"server-in-network", SERVERS_INSIDE},
	{"ipxe-scripts", NAMES_SCRIPT},
	{"kernel", NEEDS_KERNEL},
	{"image-name", NAMES_IMAGE},
	{"http-kernel", NEEDS_KERNEL | NEEDS_URL},
	{"one-server", BY_SERVER},
};

/* Where values are taken from. */
enum source { OF_SITE, OF_LIST, OF_SERVER, OF_NODE, OF_NETWORK, OF_SECOND };
/* A member that is a text, an array of char, both addresses of a host, or a text of the
 * command line for each server; a member of the first network of a family, its bits,
 * addresses of a network in brackets; the file of an architecture, by
 * TFTP, HTTP and TFTP over IPv6, and the script of iPXE; values that are computed. */
enum form {
	POINTER,
	CHARS,
	EITHER,
	GIVEN,
	GIVEN_BY_SECOND,
	GIVEN_BY_OTHER,
	GIVEN_BY_OWN,
	NETWORK4,
	NETWORK6,
	PREFIX6,
	PREFIX,
	BRACKETS,
	DNS_OR_NTP,
	NUMBER,
	NETWORK_COMMA,
	LOCAL,
	UNICAST,
	BOOT_FILE,
	HTTP_URL,
	HTTP_URL6,
	TFTP_URL6,
	SCRIPT,
	SCRIPT6,
	HARDWARE,
	ALL_BY_MAC,
	LEASES,
	COUNT,
	COMMA,
	SERVER_COMMA,
	SHARED,
	N_SERVERS,
	STANDS_IN,
	HAS_SECONDS,
	TAG,
	IMAGE,
	IMAGE_KERNEL,
	HAS_IMAGES,
	NAMES_SECOND,
	NEWLINE,
};

#define SITE(member) offsetof(struct fab_boot_site, member)
#define NODE(member) offsetof(struct boot_node, member)
#define SERVER(member) offsetof(struct boot_server, member)
#define SUBNET(member) offsetof(struct fab_subnet, member)
#define NET(member) offsetof(struct fab_ip_network, member)
static const struct value {
	const char *name;
	enum source of;
	enum form form;
	size_t at;
} values[] = {
	{"node", OF_NODE, POINTER, NODE(name)},
	{"mac", OF_NODE, CHARS, NODE(ip.mac)},
	{"id_mac", OF_NODE, CHARS, NODE(id.mac)},
	{"ip", OF_NODE, CHARS, NODE(ip.ip)},
	{"ip6", OF_NODE, CHARS, NODE(ip.ip6)},
	{"any_ip", OF_NODE, EITHER, NODE(ip)},
	{"client_id", OF_NODE, CHARS, NODE(id.client_id)},
	{"duid", OF_NODE, CHARS, NODE(id.duid)},
	{"hardware", OF_NODE, HARDWARE, 0},
	{"comma", OF_NODE, COMMA, 0},
	{"list", OF_LIST, POINTER, 0},
	{"server", OF_SERVER, POINTER, SERVER(name)},
	{"server_ip", OF_SERVER, CHARS, SERVER(ip.ip)},
	{"server_ip6", OF_SERVER, CHARS, SERVER(ip.ip6)},
	{"server_any_ip", OF_SERVER, EITHER, SERVER(ip)},
	{"group", OF_SERVER, POINTER, SERVER(group)},
	{"tag", OF_SERVER, TAG, 0},
	{"image", OF_SERVER, IMAGE, 0},
	{"image_kernel", OF_NODE, IMAGE_KERNEL, 0},
	{"images", OF_SITE, HAS_IMAGES, 0},
	{"count", OF_SERVER, COUNT, 0},
	{"server_comma", OF_SERVER, SERVER_COMMA, 0},
	{"ipxe", OF_SERVER, SCRIPT, 0},
	{"ipxe6", OF_SERVER, SCRIPT6, 0},
	{"file_bios", OF_SERVER, BOOT_FILE, FAB_ARCH_BIOS},
	{"file_x86_64", OF_SERVER, BOOT_FILE, FAB_ARCH_X86_64},
	{"file_arm64", OF_SERVER, BOOT_FILE, FAB_ARCH_ARM64},
	{"file_ia32", OF_SERVER, BOOT_FILE, FAB_ARCH_IA32},
	{"url_ia32", OF_SERVER, HTTP_URL, FAB_ARCH_IA32},
	{"file6_ia32", OF_SERVER, TFTP_URL6, FAB_ARCH_IA32},
	{"url6_ia32", OF_SERVER, HTTP_URL6, FAB_ARCH_IA32},
	{"url_x86_64", OF_SERVER, HTTP_URL, FAB_ARCH_X86_64},
	{"url_arm64", OF_SERVER, HTTP_URL, FAB_ARCH_ARM64},
	{"file6_x86_64", OF_SERVER, TFTP_URL6, FAB_ARCH_X86_64},
	{"file6_arm64", OF_SERVER, TFTP_URL6, FAB_ARCH_ARM64},
	{"url6_x86_64", OF_SERVER, HTTP_URL6, FAB_ARCH_X86_64},
	{"url6_arm64", OF_SERVER, HTTP_URL6, FAB_ARCH_ARM64},
	{"kernel", OF_SERVER, GIVEN, SITE(kernel)},
	{"initrd", OF_SERVER, GIVEN, SITE(initrd)},
	{"params", OF_SERVER, GIVEN, SITE(params)},
	{"boot_url", OF_SERVER, GIVEN, SITE(boot_url)},
	{"script", OF_SERVER, GIVEN, SITE(script)},
	{"boot_file_bios", OF_SERVER, GIVEN, SITE(boot_file[0])},
	{"boot_file_x86_64", OF_SERVER, GIVEN, SITE(boot_file[1])},
	{"boot_file_arm64", OF_SERVER, GIVEN, SITE(boot_file[2])},
	{"boot_file_ia32", OF_SERVER, GIVEN, SITE(boot_file[3])},
	{"shared", OF_SITE, SHARED, 0},
	{"servers", OF_SITE, N_SERVERS, 0},
	{"all_by_mac", OF_SITE, ALL_BY_MAC, 0},
	{"leases", OF_SITE, LEASES, 0},
	{"unicast", OF_SITE, UNICAST, 0},
	{"interface", OF_SITE, POINTER, SITE(interface)},
	{"network4", OF_SITE, NETWORK4, NET(text)},
	{"network4_first", OF_SITE, NETWORK4, NET(first)},
	{"network4_mask", OF_SITE, NETWORK4, NET(mask)},
	{"network6", OF_SITE, NETWORK6, NET(text)},
	{"network6_first", OF_SITE, NETWORK6, NET(first)},
	{"network6_prefix", OF_SITE, PREFIX6, NET(text)},
	{"newline", OF_SITE, NEWLINE, 0},
	{"seconds", OF_SITE, HAS_SECONDS, 0},
	{"second", OF_SECOND, POINTER, SERVER(name)},
	{"second_any_ip", OF_SECOND, EITHER, SERVER(ip)},
	{"host", OF_SERVER, POINTER, SERVER(host)},
	{"stands_in", OF_SERVER, STANDS_IN, 0},
	{"kernel_of_answering", OF_SERVER, GIVEN_BY_SECOND, SITE(kernel)},
	{"initrd_of_answering", OF_SERVER, GIVEN_BY_SECOND, SITE(initrd)},
	{"params_of_answering", OF_SERVER, GIVEN_BY_SECOND, SITE(params)},
	{"kernel_of_second", OF_SERVER, GIVEN_BY_OWN, SITE(kernel)},
	{"initrd_of_second", OF_SERVER, GIVEN_BY_OWN, SITE(initrd)},
	{"params_of_second", OF_SERVER, GIVEN_BY_OWN, SITE(params)},
	{"names_second", OF_SERVER, NAMES_SECOND, 0},
	{"kernel_of_next", OF_SERVER, GIVEN_BY_OTHER, SITE(kernel)},
	{"initrd_of_next", OF_SERVER, GIVEN_BY_OTHER, SITE(initrd)},
	{"params_of_next", OF_SERVER, GIVEN_BY_OTHER, SITE(params)},
	{"net", OF_NETWORK, CHARS, SUBNET(net.text)},
	{"net_first", OF_NETWORK, CHARS, SUBNET(net.first)},
	{"net_mask", OF_NETWORK, CHARS, SUBNET(net.mask)},
	{"net_prefix", OF_NETWORK, PREFIX, 0},
	{"net_number", OF_NETWORK, NUMBER, 0},
	{"net_comma", OF_NETWORK, NETWORK_COMMA, 0},
	{"net_interface", OF_NETWORK, LOCAL, 0},
	{"gateway", OF_NETWORK, CHARS, SUBNET(gateway)},
	{"dns", OF_NETWORK, POINTER, SUBNET(dns)},
	{"ntp", OF_NETWORK, POINTER, SUBNET(ntp)},
	{"dns_or_ntp", OF_NETWORK, DNS_OR_NTP, 0},
	{"dns_in_brackets", OF_NETWORK, BRACKETS, SUBNET(dns)},
	{"ntp_in_brackets", OF_NETWORK, BRACKETS, SUBNET(ntp)},
};

/* A value in a text: {[csv:|json:]NAME[?][:FILE][|DEFAULT]} */
struct place {
	const struct value *value; /* NULL: unknown name */
	bool is_csv, is_json, is_test;
	const char *file, *otherwise; /* NULL: none */
	size_t n_file, n_otherwise;
};

static const struct value *find_value(const char *name, size_t n)
{
	for (size_t v = 0; v < FAB_COUNT(values); v++)
		if (strlen(values[v].name) == n && !strncmp(values[v].name, name, n))
			return &values[v];
	return NULL;
}

/* Bytes of the value at `at`, a brace; 0: plain text.  */
static size_t place_at(const char *at, const char *end, bool is_ipxe, struct place *out)
{
	const char *stop = at, *name = at + 1;
	size_t depth = 0, n;

	do {
		depth += *stop == '{';
		depth -= *stop == '}';
	} while (depth && ++stop < end);
	if (stop == end || is_ipxe || !islower((unsigned char)*name))
		return 0;
	*out = (struct place){.is_csv = !strncmp(name, "csv:", 4),
			      .is_json = !strncmp(name, "json:", 5)};
	name += out->is_csv ? 4 : out->is_json ? 5 : 0;
	n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
	out->value = find_value(name, n);
	name += n;
	out->is_test = *name == '?';
	name += out->is_test;
	if (*name == ':') {
		out->file = name + 1;
		out->n_file = strcspn(name + 1, "|}");
		name += 1 + out->n_file;
	}
	if (*name == '|') {
		out->otherwise = name + 1;
		out->n_otherwise = (size_t)(stop - name - 1);
		name = stop;
	}
	if (name != stop)
		out->value = NULL;
	return (size_t)(stop + 1 - at);
}

static int bad_line(const char *file, size_t number, const char *wrong, const char *at,
		    size_t n, struct fab_err *err)
{
	return fab_fail_line(err, file, number, "%s: '%.*s'", wrong, n > 60 ? 60 : (int)n,
			     at);
}

/* A sentence on a value that cannot stand here; NULL: it can. `open` has a bit for each
 * kind of block around it. */
static const char *wrong_value(const struct value *v, unsigned open)
{
	static const struct {
		unsigned inside; /* one of these; 0: it stands anywhere */
		const char *wrong;
	} places[] = {
		[OF_SITE] = {0},
		[OF_NODE] = {1U << NODES,
			     "a value of a node, expected between %nodes and %end"},
		[OF_LIST] = {1U << LISTS, "a list, expected between %lists and %end"},
		[OF_SERVER] = {1U << SERVERS | 1U << ALL_SERVERS | 1U << NODES,
			       "a value of a server, expected between %servers and %end"},
		[OF_SECOND] =
			{1U << SECONDS | 1U << NODES,
			 "a second server, expected between %seconds or %nodes and %end"},
		[OF_NETWORK] =
			{1U << NETWORKS4 | 1U << NETWORKS6,
			 "a value of a network, expected between %networks4 or %networks6 and %end"},
	};

	if (!v)
		return "an unknown value";
	return places[v->of].inside && !(open & places[v->of].inside)
		       ? places[v->of].wrong
		       : NULL;
}

/* May nodes of one server that load several images have several of these values? */
static bool is_by_image(const struct value *v)
{
	return v->form == TAG || v->form == IMAGE || v->form == SCRIPT ||
	       v->form == SCRIPT6 || v->form == GIVEN_BY_SECOND ||
	       v->form == GIVEN_BY_OTHER || v->form == GIVEN_BY_OWN ||
	       (v->form == GIVEN && (v->at == SITE(kernel) || v->at == SITE(initrd)));
}

/* A sentence on the first such value of a line; NULL: all can be there. */
static const char *wrong_values(struct boot_template *t, const char *at, size_t n,
				unsigned open)
{
	const char *end = at + n, *wrong = NULL;
	struct place p;

	for (const char *c = at; c < end && !wrong; c++) {
		size_t len = *c != '{' ? 0 : place_at(c, end, c > at && c[-1] == '$', &p);

		if (!len)
			continue;
		wrong = wrong_value(p.value, open);
		if (!wrong && (p.value->of == OF_SECOND || p.value->form == HAS_SECONDS))
			t->flags |= HAS_SECOND;
		if (!wrong && is_by_image(p.value))
			t->flags |= BY_IMAGE;
		if (!wrong && t->flags & QUOTES && p.value->form == POINTER &&
		    !p.is_csv && !p.is_json)
			wrong = "with %names any expected csv: or json: before names";
		c += len - 1;
	}
	return wrong;
}

/* A header; false: not a header. */
static bool take_header(struct boot_template *t, const char *at, size_t n)
{
	char line[80] = "", *rest = line, *word;

	memcpy(line, at, n < sizeof(line) ? n : sizeof(line) - 1);
	word = strsep(&rest, " ");
	if (!strcmp(word, "extension") && rest && *rest &&
	    strlen(rest) < sizeof(t->extension) &&
	    strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(rest)) {
		strcpy(t->extension, rest);
		return true;
	}
	if (!strcmp(word, "default") && rest && !strcmp(rest, "no")) {
		t->flags |= NO_DEFAULT;
		return true;
	}
	if (!strcmp(word, "twice") && !rest) {
		t->flags |= TWICE | HAS_SECOND;
		return true;
	}
	if (!strcmp(word, "names") && rest) {
		t->flags |= strcmp(rest, "any") ? 0 : QUOTES;
		t->is_ambiguous = !strcmp(rest, "noderange") ? boot_is_noderange
				  : !strcmp(rest, "dhcp")    ? boot_is_dhcp_word
							     : NULL;
		return t->flags & QUOTES || t->is_ambiguous || !strcmp(rest, "host");
	}
	if (strcmp(word, "needs") != 0)
		return false;
	while ((word = strsep(&rest, " ")) != NULL) {
		size_t i = 0;

		while (i < FAB_COUNT(needs) && strcmp(needs[i].name, word) != 0)
			i++;
		if (i == FAB_COUNT(needs))
			return false;
		t->flags |= needs[i].flags;
	}
	return true;
}

int boot_template_read(const char *file, const char *text, size_t len,
		       struct boot_template *out, struct fab_err *err)
{
	size_t number = 0, depth = 0, open[BLOCKS_MAX];
	unsigned kinds = 0;

	*out = (struct boot_template){.extension = "txt"};
	for (const char *at = text, *end = text + len; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)), *wrong = NULL;
		size_t n = (size_t)((stop ? stop : end) - at), block;
		struct boot_line line = {.at = at, .n = n};

		number++;
		at += n + 1;
		if (memchr(line.at, 0, n))
			return bad_line(file, number, "a NUL byte", "", 0, err);
		if (!n || *line.at != '%' || (n > 1 && line.at[1] == '%')) {
			line.n -= n && *line.at == '%';
			line.at += n - line.n;
			wrong = wrong_values(out, line.at, line.n, kinds);
			if (wrong)
				return bad_line(file, number, wrong, line.at, n, err);
			FAB_PUSH(&out->lines, line);
			continue;
		}
		/* Kind of a line behind its %; FAB_COUNT(blocks): none. */
		block = 0;
		while (block < FAB_COUNT(blocks) &&
		       (strlen(blocks[block].name) != (n - 1) ||
			strncmp(blocks[block].name, line.at + 1, n - 1) != 0))
			block++;
		if (block < FAB_COUNT(blocks)) {
			line.kind = blocks[block].kind;
		} else if ((n > 4 && !memcmp(line.at, "%if ", 4)) ||
			   (n > 8 && !memcmp(line.at, "%unless ", 8))) {
			size_t skipped = line.at[1] == 'i' ? 4 : 8;

			line.kind = line.at[1] == 'i' ? IF : UNLESS;
			line.value = find_value(line.at + skipped, n - skipped);
			wrong = wrong_value(line.value, kinds);
			if (!wrong && line.value->form == HAS_SECONDS)
				out->flags |= HAS_SECOND;
			if (wrong)
				return bad_line(file, number, wrong, line.at, n, err);
		} else {
			if (line.at[1] != '#' && !take_header(out, line.at + 1, n - 1))
				return bad_line(file, number,
						"no header and no block of a template",
						line.at, n, err);
			continue;
		}
		if (line.kind == END && !depth)
			return bad_line(file, number, "nothing to end", line.at, n, err);
		if ((line.kind == LISTS || line.kind == SECONDS) &&
		    !(kinds & 1U << SERVERS))
			return bad_line(file, number, "expected inside %servers", line.at,
					n, err);
		if (line.kind == END) {
			out->lines.v[open[--depth]].end = out->lines.n;
			kinds = 0;
			for (size_t i = 0; i < depth; i++)
				kinds |= 1U << out->lines.v[open[i]].kind;
		} else if (depth == BLOCKS_MAX) {
			return bad_line(file, number, "too many blocks", line.at, n, err);
		} else {
			open[depth++] = out->lines.n;
			kinds |= 1U << line.kind;
		}
		FAB_PUSH(&out->lines, line);
	}
	return depth ? fab_fail(err, EINVAL, "%s: a block has no %%end", file) : 0;
}

void boot_template_fini(struct boot_template *t)
{
	free(t->lines.v);
}

/* ---- writing ---- */

struct text {
	char *v;
	size_t n, cap;
};

/* Values at one place of the file, and the line that is being put together. */
struct scope {
	const struct boot_part *part;
	const struct boot_server *server, *second;
	uint32_t n_server; /* its place in the part */
	const struct boot_node *node;
	const struct fab_subnet *subnet;
	const char *list;
	bool is_last; /* of the nodes */
	struct text *text;
};

static void put(const struct scope *x, const char *text, size_t n)
{
	FAB_RESERVE(x->text, n + 1);
	memcpy(x->text->v + x->text->n, text, n);
	x->text->n += n;
}

/* Are all nodes known by the MAC of an Ethernet or InfiniBand port? */
static bool are_all_by_mac(const struct boot_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		if (*plan->node[i].id.client_id)
			return false;
	return true;
}

/* Addresses with commas between, each in brackets; on the heap, NULL: none. */
static char *in_brackets(const char *list)
{
	char *out = NULL;

	while (list && *list) {
		size_t n = strcspn(list, ",");
		char *longer = fab_format("%s%s[%.*s]", out ? out : "", out ? "," : "",
					  (int)n, list);

		free(out);
		out = longer;
		list += n + (list[n] != 0);
	}
	return out;
}

static bool is_last_network(const struct fab_subnets *s, const struct fab_subnet *net)
{
	for (const struct fab_subnet *other = net + 1; other < s->of.v + s->of.n; other++)
		if (other->net.is_ip6 == net->net.is_ip6)
			return false;
	return true;
}

/* Is one of the DHCP server's addresses in the network? */
static bool has_server(const struct boot_part *part, const struct fab_subnet *net)
{
	bool is_ip6 = net->net.is_ip6;

	for (uint32_t i = part->first; i < part->end; i++) {
		const struct fab_host_address *ip = &part->plan->server[i].ip;

		if (fab_ip_network_has(&net->net, is_ip6 ? ip->ip6 : ip->ip))
			return true;
	}
	return false;
}

/* Values by which entries of one server, and nodes with several images, differ; else one
 * text or none. */
static const char *image_value(const struct scope *x, const struct value *v, char **owned)
{
	const struct boot_part *part = x->part;
	const struct fab_boot_site *site = part->plan->site;
	const char *kernel = NULL;

	switch (v->form) {
	case COMMA:
		return x->is_last ? NULL : ",";
	case SERVER_COMMA:
		return x->n_server + 1 == boot_part_count(part) ? NULL : ",";
	case HARDWARE:
		return x->node->id.kind == FAB_IDENTITY_HARDWARE_32 ? "infiniband" : NULL;
	case ALL_BY_MAC:
		return are_all_by_mac(part->plan) ? "yes" : NULL;
	case SHARED:
		return part->has_shared ? "yes" : NULL;
	case STANDS_IN:
		return x->server->stands_in ? "yes" : NULL;
	case HAS_SECONDS:
		return site->second_of ? "yes" : NULL;
	case TAG:
		return *owned = fab_format("boot-%s", x->server->label);
	case NAMES_SECOND:
		return x->server->second ? x->server->second->name : NULL;
	case IMAGE: /* by its name, not that of --kernel */
		kernel = x->server->image ? x->server->image->kernel : NULL;
		break;
	case IMAGE_KERNEL:
		kernel = site->image_of ? boot_kernel(site, x->node->image) : NULL;
		break;
	case HAS_IMAGES:
		return site->image_of ? "yes" : NULL;
	default: /* NEWLINE */
		return "\n";
	}
	return kernel ? *owned = boot_expand(kernel, x->server, "", false) : NULL;
}

/* Value of the networks of the site, or of the one at hand; or those above. */
static const char *network_value(const struct scope *x, const struct value *v,
				 char **owned)
{
	const struct boot_part *part = x->part;
	const struct fab_boot_site *site = part->plan->site;
	const struct fab_subnet *net =
		fab_subnets_first(site->subnets, v->form != NETWORK4);

	switch (v->form) {
	case PREFIX6:
		return net ? strchr(net->net.text, '/') + 1 : NULL;
	case PREFIX:
		return strchr(x->subnet->net.text, '/') + 1;
	case DNS_OR_NTP:
		return x->subnet->dns ? x->subnet->dns : x->subnet->ntp;
	case NUMBER:
		return *owned = fab_format("%u", x->subnet->number);
	case NETWORK_COMMA:
		return is_last_network(site->subnets, x->subnet) ? NULL : ",";
	case LOCAL:
		return has_server(part, x->subnet) ? site->interface : NULL;
	case UNICAST:
		if (!site->interface || !boot_part_is_single(part) || !net ||
		    is_last_network(site->subnets, net))
			return NULL;
		return *owned = fab_format("%s/%s", site->interface,
					   part->plan->server[part->first].ip.ip6);
	case NETWORK4:
	case NETWORK6:
		return net ? (const char *)&net->net + v->at : NULL;
	default:
		return image_value(x, v, owned);
	}
}

/* Text of the command line, or the default of the template, for a server. */
static char *given_value(const struct scope *x, const struct value *v,
			 const struct place *p)
{
	const struct boot_plan *plan = x->part->plan;
	const struct fab_boot_site *site = plan->site;
	const char *text =
		v->at == SITE(kernel) ? boot_kernel(site, x->server->image)
		: v->at == SITE(initrd)
			? boot_initrd(site, x->server->image)
			: *(const char *const *)(const void *)((const char *)site +
							       v->at);
	FAB_AUTOFREE char *file =
		fab_strndup(p && p->file ? p->file : "", p ? p->n_file : 0);
	FAB_AUTOFREE char *otherwise = fab_strndup(p && p->otherwise ? p->otherwise : "",
						   p ? p->n_otherwise : 0);
	/* names that iPXE replaces by those of the server that answered */
	struct boot_server server = {
		.name = "${next-server}",
		.host = "${next-server}",
		.ip.ip = "${next-server}",
		.label = x->server->label,
	};

	if (v->form == GIVEN)
		server = *x->server;
	else if (v->form == GIVEN_BY_OTHER)
		server = boot_next_server(plan, x->server);
	else if (v->form == GIVEN_BY_OWN) {
		server = *x->server->second;
		server.label = x->server->label;
	}
	return boot_expand(text ? text : otherwise, &server, file, false);
}

/* A value as text, NULL or "" without one; *owned is freed by the caller. */
static const char *value_of(const struct scope *x, const struct value *v,
			    const struct place *p, char **owned)
{
	const struct boot_part *part = x->part;
	const struct fab_boot_site *site = part->plan->site;
	const void *const bases[] = {site,    &x->list,	 x->server,
				     x->node, x->subnet, x->second};
	const void *base = bases[v->of];
	const char *at = base ? (const char *)base + v->at : NULL;
	const struct fab_host_address *ip = (const void *)at;
	enum fab_boot_arch arch = (enum fab_boot_arch)v->at;
	uint32_t n = 0;

	if (v->of == OF_SECOND && !x->second)
		return NULL;
	switch (v->form) {
	case POINTER:
		return *(const char *const *)(const void *)at;
	case CHARS:
		return at;
	case EITHER:
		return *ip->ip ? ip->ip : ip->ip6;
	case BRACKETS:
		return *owned = in_brackets(*(const char *const *)(const void *)at);
	case BOOT_FILE:
		return boot_file_of(site, arch);
	case HTTP_URL:
	case HTTP_URL6:
		return *owned =
			       boot_http_url(site, x->server, arch, v->form == HTTP_URL6);
	case TFTP_URL6:
		return *owned = boot_as_url6(fab_strdup(boot_file_of(site, arch)),
					     x->server);
	case SCRIPT:
	case SCRIPT6:
		*owned = boot_expand(site->script ? site->script : "{script}.ipxe",
				     x->server, "", v->form == SCRIPT6);
		if (v->form == SCRIPT6)
			*owned = boot_as_url6(*owned, x->server);
		return *owned;
	case LEASES:
		return *owned = fab_format("%u", part->plan->n_nodes * 2 + 1000);
	case COUNT:
		return *owned = fab_format("%u", x->server->n);
	case N_SERVERS:
		for (uint32_t i = part->first; i < part->end; i++)
			n += part->plan->server[i].first == i;
		return n ? *owned = fab_format("%u", n) : NULL;
	case GIVEN_BY_OWN:
		if (!x->server->second)
			return NULL;
		/* fall through */
	case GIVEN_BY_SECOND:
	case GIVEN_BY_OTHER:
	case GIVEN:
		return *owned = given_value(x, v, p);
	default:
		return network_value(x, v, owned);
	}
}

/* False: it is empty. */
static bool put_value(const struct scope *x, const struct place *p)
{
	FAB_AUTOFREE char *owned = NULL;
	const char *value = value_of(x, p->value, p, &owned);
	bool is_there = value && *value;

	value = value ? value : "";

	if (p->is_json && !p->is_test) {
		json_t *json = fab_json_text(*value ? value : NULL);
		char *text = json_dumps(json, JSON_ENCODE_ANY | FAB_JSON_FLAGS);

		/* null where it is empty; DEL, which jansson does not escape, as an
		 * escape. */
		if (!text)
			fab_oom(strlen(value));
		for (const char *at = text; *at; at++)
			if (*at == 0x7f)
				put(x, "\\u007f", 6);
			else
				put(x, at, 1);
		free(text);
		json_decref(json);
		is_there = true;
	} else if (p->is_csv && !p->is_test) {
		size_t size = 4 * strlen(value) + 8;
		char *safe = fab_text_safe(value, fab_alloc(size, 1), size);
		bool is_quoted = *safe == ' ' || safe[strcspn(safe, ",\"\r\n")];

		put(x, "\"", is_quoted);
		for (const char *at = safe; *at; at++) {
			put(x, "\"", *at == '"');
			put(x, at, 1);
		}
		put(x, "\"", is_quoted);
		free(safe);
	} else if (!p->is_test) {
		put(x, value, strlen(value));
	}
	return is_there;
}

static const char *find(const char *at, const char *end, const char *text)
{
	return memmem(at, (size_t)(end - at), text, strlen(text));
}

/* Put a text together; false: a value in it is empty. [[A~~B]] is A, or B where a value
 * in A is empty. */
static bool put_text(const struct scope *x, const char *at, const char *end)
{
	const char *from = at;
	bool is_whole = true;

	while (at < end) {
		const char *close = at[0] == '[' && end - at > 3 && at[1] == '['
					    ? find(at, end, "]]")
					    : NULL;
		struct place p;
		size_t n = 1;

		if (close) {
			const char *other = find(at, close, "~~");
			size_t before = x->text->n;

			if (!put_text(x, at + 2, other ? other : close)) {
				x->text->n = before;
				if (other)
					put_text(x, other + 2, close);
			}
			n = (size_t)(close + 2 - at);
		} else if (*at == '{' &&
			   (n = place_at(at, end, at > from && at[-1] == '$', &p)) > 0) {
			is_whole &= put_value(x, &p);
		} else {
			n = 1;
			put(x, at, 1);
		}
		at += n;
	}
	return is_whole;
}

static void write_lines(const struct scope *x, size_t from, size_t to);

/* Host lists of the server's nodes: all in one, but where it would grow too long. */
static void write_lists(struct scope x, size_t from, size_t to)
{
	const struct boot_server *s = x.server;
	const struct boot_plan *plan = x.part->plan;
	FAB_AUTOFREE const char **name = FAB_NEW((size_t)s->n + 1, const char *);

	for (uint32_t i = 0, n; i < s->n;) {
		size_t bytes = 0;
		FAB_AUTOFREE char *list = NULL;

		for (n = 0; i < s->n && bytes < LIST_MAX_BYTES; i++) {
			const struct boot_node *node = boot_node_of(plan, s, i);

			if (x.second && x.second != &plan->server[node->second])
				continue;
			name[n] = node->name;
			bytes += strlen(name[n++]) + 1;
		}
		if (!n)
			continue;
		x.list = list = fab_hostlist_fold(name, n);
		write_lines(&x, from, to);
	}
}

/* One node of those that are written; the one before is written now, as the last one if
 * there is no more. */
static void write_node(struct scope *x, const struct boot_node *node,
		       const struct boot_server *server, size_t from, size_t to)
{
	if (node && x->subnet && node->subnet[x->subnet->net.is_ip6] != x->subnet)
		return;
	if (x->node) {
		x->is_last = !node;
		x->second = x->node->second == FAB_NONE
				    ? NULL
				    : &x->part->plan->server[x->node->second];
		write_lines(x, from, to);
	}
	x->node = node;
	x->server = server;
}

/* The nodes of a server; without one those of the part: all of them in the order of the
 * batch, else server by server. In a network those that are in it. */
static void write_nodes(struct scope x, size_t from, size_t to)
{
	const struct boot_part *part = x.part;
	const struct boot_plan *plan = part->plan;
	const struct boot_server *own = x.server;
	bool is_all = !own && !part->first && part->end == plan->n_servers;

	x.node = NULL;
	for (uint32_t i = 0; i < plan->n_nodes && is_all; i++)
		write_node(&x, &plan->node[i], &plan->server[plan->node[i].server], from,
			   to);
	for (uint32_t s = 0; s < boot_part_count(part) && !is_all && !own; s++) {
		const struct boot_server *server = boot_part_server(part, s);

		for (uint32_t i = 0; i < server->n; i++)
			write_node(&x, boot_node_of(plan, server, i), server, from, to);
	}
	for (uint32_t i = 0; own && i < own->n; i++)
		write_node(&x, boot_node_of(plan, own, i), own, from, to);
	write_node(&x, NULL, NULL, from, to);
}

static void write_networks(struct scope x, bool is_ip6, size_t from, size_t to)
{
	const struct fab_subnets *s = x.part->plan->site->subnets;

	for (size_t i = 0; s && i < s->of.n; i++) {
		x.subnet = &s->of.v[i];
		if (x.subnet->net.is_ip6 == is_ip6)
			write_lines(&x, from, to);
	}
}

/* A second server of the server's nodes, if any of them has it. */
static void write_second(struct scope x, size_t from, size_t to)
{
	const struct boot_plan *plan = x.part->plan;
	uint32_t i = 0;

	while (i < x.server->n &&
	       &plan->server[boot_node_of(plan, x.server, i)->second] != x.second)
		i++;
	if (i < x.server->n)
		write_lines(&x, from, to);
}

static void write_block(struct scope x, const struct boot_line *line, size_t from)
{
	const struct boot_part *part = x.part;
	const struct boot_plan *plan = part->plan;
	bool is_all = line->kind == ALL_SERVERS;

	if (line->kind == NODES) {
		write_nodes(x, from, line->end);
	} else if (line->kind == LISTS) {
		write_lists(x, from, line->end);
	} else if (line->kind == SECONDS) {
		for (uint32_t i = 0; i < plan->n_servers && plan->site->second_of; i++) {
			x.second = &plan->server[i];
			write_second(x, from, line->end);
		}
	} else if (line->kind == NETWORKS4 || line->kind == NETWORKS6) {
		write_networks(x, line->kind == NETWORKS6, from, line->end);
	} else if (line->kind == IF || line->kind == UNLESS) {
		FAB_AUTOFREE char *owned = NULL;
		const char *value = value_of(&x, line->value, NULL, &owned);

		if ((value && *value) == (line->kind == IF))
			write_lines(&x, from, line->end);
	} else {
		uint32_t n = is_all ? plan->n_servers : boot_part_count(part);

		for (x.n_server = 0; x.n_server < n; x.n_server++) {
			x.server = is_all ? &plan->server[x.n_server]
					  : boot_part_server(part, x.n_server);
			/* once, whatever its images */
			if (is_all && x.server->first != x.n_server)
				continue;
			write_lines(&x, from, line->end);
		}
	}
}

static void write_lines(const struct scope *x, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct boot_line *line = &x->part->template->lines.v[i];

		if (line->kind != TEXT) {
			write_block(*x, line, i + 1);
			i = line->end;
			continue;
		}
		x->text->n = 0;
		put_text(x, line->at, line->at + line->n);
		/* a line of nothing but parts that are dropped is dropped, too */
		if (!x->text->n && line->n)
			continue;
		put(x, "\n", 1);
		fwrite(x->text->v, 1, x->text->n, x->part->out);
	}
}

void boot_write_template(const struct boot_part *part)
{
	struct text text = {0};
	const struct scope x = {.part = part, .text = &text};

	write_lines(&x, 0, part->template->lines.n);
	free(text.v);
}
