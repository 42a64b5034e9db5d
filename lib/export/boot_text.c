/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of the command line that differ from server to server: file names, URLs, kernel
 * parameters. */

#include "base/mem.h"
#include "export/boot_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEMPLATE_MAX_BYTES = 1024 };

static const char *const words[] = {"{server}", "{address}", "{file}", "{script}"};

/* Which word stands at `at`; FAB_COUNT(words): none. */
static size_t word_at(const char *at)
{
	size_t i = 0;

	while (i < FAB_COUNT(words) && strncmp(at, words[i], strlen(words[i])) != 0)
		i++;
	return i;
}

/* Bytes of ${...} at `at`; 0: none. */
static size_t setting_at(const char *at)
{
	return strncmp(at, "${", 2) != 0 || !strchr(at, '}')
		       ? 0
		       : (size_t)(strchr(at, '}') + 1 - at);
}

static int check_text(const char *text, bool has_blanks, struct fab_err *err)
{
	if (!*text || strlen(text) > TEMPLATE_MAX_BYTES)
		return fab_fail(err, EINVAL, "'%.60s' is empty or longer than %d bytes",
				text, TEMPLATE_MAX_BYTES);
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;
		size_t word = *at == '{' ? word_at(at) : 0;

		if (c < ' ' || c >= 0x7f ||
		    (!has_blanks && (c == ' ' || strchr("\"'\\,;`<>|#", *at))))
			return fab_fail(
				err, EINVAL,
				"'%.80s' has a character that cannot stand in configuration",
				text);
		if (setting_at(at))
			at += setting_at(at) - 1;
		else if (*at == '{' && word == FAB_COUNT(words))
			return fab_fail(
				err, EINVAL,
				"'%.80s': braces hold {server}, {address}, {script} or {file} only",
				text);
	}
	return 0;
}

int fab_boot_template_check(const char *text, struct fab_err *err)
{
	return check_text(text, false, err);
}

int fab_boot_params_check(const char *text, struct fab_err *err)
{
	return check_text(text, true, err);
}

bool boot_names_address(const char *text)
{
	return text && strstr(text, words[1]);
}

char *boot_expand(const char *text, const struct boot_server *server, const char *file,
		  bool is_ip6)
{
	const char *name = strstr(text, "://") ? server->host : server->name;
	/* where both families use one text, the one that is there */
	bool is_six = is_ip6 || !*server->ip.ip;
	char *out = NULL;
	size_t n;
	FILE *stream = fab_text_stream(&out, &n);

	for (const char *at = text; *at; at++) {
		size_t word = *at == '{' && (at == text || at[-1] != '$')
				      ? word_at(at)
				      : FAB_COUNT(words);

		if (word == FAB_COUNT(words)) {
			putc(*at, stream);
			continue;
		}
		if (word == 1)
			fprintf(stream, is_six ? "[%s]" : "%s",
				is_six ? server->ip.ip6 : server->ip.ip);
		else
			fputs(word == 3 ? server->label : word ? file : name, stream);
		at += strlen(words[word]) - 1;
	}
	fclose(stream);
	return out;
}

const char *boot_file_of(const struct fab_boot_site *site, enum fab_boot_arch arch)
{
	static const char *const usual[FAB_N_BOOT_ARCHS] = {
		"undionly.kpxe", "ipxe.efi", "ipxe-arm64.efi", "ipxe-ia32.efi"};

	return site->boot_file[arch] ? site->boot_file[arch] : usual[arch];
}

char *boot_http_url(const struct fab_boot_site *site, const struct boot_server *server,
		    enum fab_boot_arch arch, bool is_ip6)
{
	const char *url = site->boot_url;
	const char *file = boot_file_of(site, arch);

	if (!url && strstr(file, "://"))
		return fab_strdup(file);
	while (!url && *file == '/')
		file++;
	return boot_expand(url ? url : "http://{address}/{file}", server, file, is_ip6);
}

char *boot_as_url6(char *name, const struct boot_server *server)
{
	char *url;

	if (strstr(name, "://"))
		return name;
	url = fab_format("tftp://[%s]/%s", server->ip.ip6, name + strspn(name, "/"));
	free(name);
	return url;
}

struct boot_server boot_next_server(const struct boot_plan *plan,
				    const struct boot_server *s)
{
	size_t at = (size_t)(s - plan->server), i = at;
	struct boot_server other;

	do
		i = (i + 1) % plan->n_servers;
	while (i != at &&
	       (plan->server[i].first == s->first ||
		(s->second && !strcmp(plan->server[i].name, s->second->name))));
	other = plan->server[i];
	other.label = s->label;
	return other;
}

/* Names of hosts that a file would have for something else. */

/*
 * xCAT reads a name that is no node of its tables as a group, or as a range when it has
 * an odd number of hyphens and both sides of the middle one differ in numbers only;
 * groups of its own are called so.
 */
bool boot_is_noderange(const char *name)
{
	static const char *const groups[] = {"all", "compute", "service"};
	const char *low = name, *high = name, *middle;
	size_t hyphens = 0;

	for (const char *at = name; *at; at++)
		hyphens += *at == '-';
	for (size_t i = 0; i < FAB_COUNT(groups); i++)
		if (!strcasecmp(name, groups[i]))
			return true;
	if (strspn(name, "0123456789") == strlen(name))
		return true;
	if (hyphens % 2 == 0)
		return false;
	for (size_t i = 0; i <= hyphens / 2; i++)
		high = strchr(high, '-') + 1;
	middle = high - 1;
	if (strlen(high) == (size_t)(middle - low) && !strncmp(low, high, strlen(high)))
		return false;
	while (low < middle && *high) {
		size_t n = strspn(low, "0123456789"), k = strspn(high, "0123456789");

		if (!n != !k || (!n && *low != *high))
			return false;
		low += n ? n : 1;
		high += k ? k : 1;
	}
	return low == middle && !*high;
}

/*
 * dnsmasq takes a word of dhcp-host for a lease time, an address or an order when it
 * looks like one, and a name with an empty label ends dhcpd's parser.
 */
bool boot_is_dhcp_word(const char *name)
{
	size_t digits = strspn(name, "0123456789"), n = strlen(name);
	struct in_addr ip;

	return !strcmp(name, "ignore") || !strcmp(name, "infinite") ||
	       inet_pton(AF_INET, name, &ip) == 1 || digits == n ||
	       (digits && digits + 1 == n && strchr("wdhmsWDHMS", name[digits])) ||
	       strstr(name, "..") || name[n - 1] == '.';
}
