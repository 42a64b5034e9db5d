/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/boot.h"
#include "support/boots.h"
#include "support/test.h"

static const char two_hosts[] = "n1 - 1 node\nv1 - 1 server\n";

/* Networks of either family, NULL: none. */
static struct fab_subnets subnets_of(const char *four, const char *six)
{
	struct fab_subnets s = {0};

	for (int i = 0; i < 2; i++) {
		const char *text = i ? six : four;
		struct fab_ip_network net;

		if (!text)
			continue;
		MUST(fab_ip_network_parse(text, &net, ERR));
		fab_subnets_add(&s, NULL, &net);
	}
	return s;
}

/* What a format writes with the addresses of `book`; NULL when it is refused. */
static char *exported(const char *machine, const char *format, const char *book,
		      struct fab_boot_site *site)
{
	OWN(fab_machine) *m = boots_read(machine);
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTOFREE uint32_t *of = boots_map(m, "bcda", &all);
	uint32_t row = fab_choices_find(&fab_boot_format_choices, format, strlen(format));
	struct fab_host_addresses *addresses = NULL;
	struct fab_boot_written written = {0};
	int rc = book ? fab_host_addresses_read("book", book, strlen(book), &addresses,
						ERR)
		      : 0;
	char *text = NULL;

	site->addresses = addresses;
	if (!rc)
		text = TEXT_BY(
			out, rc = fab_export_boot(&(struct fab_boot_target){.out = out},
						  row, m, &all, of, site, &written, ERR));
	cr_expect(!rc || !text || !*text, "nothing is written on failure");
	fab_boot_written_fini(&written);
	fab_host_addresses_free(addresses);
	if (!rc)
		return text;
	free(text);
	return NULL;
}

/* Addresses of both families, and files, URLs and scripts of the site. Whole files are in
 * golden cases. */
Test(boot_files, what_a_node_loads)
{
	static const char book[] = "n1 02:00:00:00:00:01 10.0.0.1 fd00::1\n"
				   "v1 02:00:00:00:00:09 10.0.0.9 fd00::9\n";
	enum { PLAIN, KERNEL, OF_SITE };
	static const struct {
		const char *format;
		int site;
		const char *part;
	} rows[] = {
		{"csv", PLAIN, "\nn1,v1,02:00:00:00:00:01,10.0.0.1,fd00::1,\n"},
		{"json", PLAIN,
		 "\"ip\":\"10.0.0.1\",\"ip6\":\"fd00::1\",\"client_id\":null}\n"},
		{"hosts", PLAIN, "10.0.0.9 v1\nfd00::9 v1\n10.0.0.1 n1\nfd00::1 n1\n"},
		{"dnsmasq", PLAIN,
		 "dhcp-host=02:00:00:00:00:01,set:boot-v1,10.0.0.1,[fd00::1],n1,infinite\n"},
		{"dnsmasq", PLAIN, "option6:bootfile-url,tftp://[fd00::9]/ipxe.efi\n"},
		{"dnsmasq", PLAIN, "option6:bootfile-url,tftp://[fd00::9]/v1.ipxe\n"},
		{"dnsmasq", PLAIN, "dhcp-range=set:net2,fd00::,static,64,infinite\n"},
		{"ipxe", KERNEL,
		 "kernel http://10.0.0.9/vmlinuz initrd=initrd quiet || goto wait\n"
		 "initrd --name initrd http://v1/initrd || goto wait\n"},
		{"kea6", PLAIN, "\"data\": \"tftp://[fd00::9]/ipxe.efi\""},
		{"kea6", PLAIN, "\"data\": \"http://[fd00::9]/ipxe-arm64.efi\""},
		{"kea6", PLAIN, "\"fd00::1\""},
		{"dnsmasq", OF_SITE, "tag:efi64,snponly.efi,v1,10.0.0.9\n"},
		{"dnsmasq", OF_SITE,
		 "tag:efi64,https://v1:8443/snponly.efi,v1,10.0.0.9\n"},
		{"dnsmasq", OF_SITE,
		 "tag:ipxe,http://10.0.0.9/ipxe/${mac:hexhyp}?from=v1,v1,10.0.0.9\n"},
		{"dnsmasq", OF_SITE, "http://[fd00::9]/ipxe/${mac:hexhyp}?from=v1\n"},
	};
	FAB_AUTO(fab_subnets_fini)
	struct fab_subnets subnets = subnets_of("10.0.0.0/24", "fd00::/64");
	struct fab_boot_site sites[] = {
		[PLAIN] = {.subnets = &subnets},
		[KERNEL] = {.subnets = &subnets,
			    .kernel = "http://{address}/vmlinuz",
			    .initrd = "http://{server}/initrd",
			    .params = "quiet"},
		[OF_SITE] = {
			.subnets = &subnets,
			.boot_file[FAB_ARCH_X86_64] = "snponly.efi",
			.boot_url = "https://{server}:8443/{file}",
			.script = "http://{address}/ipxe/${mac:hexhyp}?from={server}"}};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		FAB_AUTOFREE char *text =
			exported(two_hosts, rows[i].format, book, &sites[rows[i].site]);

		cr_assert_not_null(text, "%s: %s", rows[i].format, test_err.text);
		HAS(text, rows[i].part);
	}
}

/* What is wrong, and a part of the sentence that says so. */
Test(boot_files, refusals)
{
	static const char twins[] = "n1 - 1 node\nN1 - 1 node\nv1 - 1 server\n";
	static const struct {
		const char *format, *machine, *book, *wrong, *network4, *network6;
	} cases[] = {
		{"dnsmasq", two_hosts, NULL, "no IP address is known for server 'v1'",
		 "10.0.0.0/24"},
		{"dnsmasq", two_hosts, "10.0.0.9 v1\n",
		 "no MAC address and no port GUID is known for node 'n1'", "10.0.0.0/24"},
		/* files by which the programs would open no port */
		{"dnsmasq", two_hosts, "10.0.0.9 v1\n", "dnsmasq opens no port"},
		{"dhcpd", two_hosts, "10.0.0.9 v1\n", "no IPv4 network is given"},
		{"dhcpd", two_hosts, "10.0.1.9 v1\n",
		 "10.0.1.9, the address of server 'v1', is not in 10.0.0.0/24",
		 "10.0.0.0/24"},
		/* addresses for nodes, and nothing to load */
		{"dnsmasq", two_hosts, "fd00::9 v1\n",
		 "no IP address is known for server 'v1'", "10.0.0.0/24"},
		{"dnsmasq", two_hosts, "10.0.0.9 v1\n",
		 "no IPv6 address is known for server 'v1'", "10.0.0.0/24", "fd00::/64"},
		{"ethers", two_hosts, NULL, "no MAC address is known for node 'n1'"},
		{"hosts", two_hosts, "10.0.0.9 v1\n", "no IP address is known for node"},
		{"warewulf", two_hosts, NULL, "no IP address is known for server 'v1'"},
		{"kea4", two_hosts, "10.0.0.9 v1\n", "no IPv4 network is given"},
		{"kea6", two_hosts, "10.0.0.9 v1\n", "no IPv6 network is given"},
		{"openchami", two_hosts, "10.0.0.9 v1\n", "no kernel is given"},
		{"ipxe", two_hosts, NULL, "no kernel is given"},
		{"csv", two_hosts, "n1 what\n",
		 "book:1: expected NAME MAC [IP], MAC NAME or IP NAME...: 'n1 what'"},
		{"csv", two_hosts, "n1;x 02:00:00:00:00:01\n", "book:1: "},
		{"xcat", "n1$(reboot) - 1 node\nv1 - 1 server\n", NULL,
		 "'n1$(reboot)' is no host name"},
		{"ansible", "n1=x - 1 node\nv1 - 1 server\n", NULL, "is no host name"},
		/* one name but for the letters' case: both are what is told of it */
		{"ethers", twins, "02:00:00:00:00:01 n1\n",
		 "nodes 'N1' and 'n1' have the same MAC address, 02:00:00:00:00:01"},
		{"hosts", twins, "10.0.0.1 n1\n10.0.0.9 v1\n", "the same IP address"},
		{"xcat", "17 - 1 node\nv1 - 1 server\n", NULL, "something else"},
		{"dnsmasq", "10m - 1 node\nv1 - 1 server\n", "10.0.0.9 v1\n",
		 "something else", "10.0.0.0/24"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FAB_AUTO(fab_subnets_fini)
		struct fab_subnets subnets =
			subnets_of(cases[i].network4, cases[i].network6);
		struct fab_boot_site site = {.subnets = subnets.of.n ? &subnets : NULL};

		cr_expect_null(exported(cases[i].machine, cases[i].format, cases[i].book,
					&site));
		HAS(test_err.text, cases[i].wrong);
	}
}

/* A node may call itself what it likes: only what quotes can hold it. */
Test(boot_files, hostile_names)
{
	static const char hostile[] = "n1\"}; - 1 node\nv1 - 1 server\n";
	FAB_AUTO(fab_subnets_fini)
	struct fab_subnets subnets = subnets_of("10.0.0.0/24", "fd00::/64");
	struct fab_boot_site site = {.kernel = "http://v1/vmlinuz", .subnets = &subnets};

	for (int f = 0; f < FAB_BOOT_TEMPLATE; f++) {
		const char *format = fab_boot_format_choices.at((size_t)f).form;
		FAB_AUTOFREE char *text = NULL;

		text = exported(hostile, format, "10.0.0.9 v1\nfd00::9 v1\n", &site);
		cr_expect_eq(text != NULL, f == FAB_BOOT_CSV || f == FAB_BOOT_JSON);
	}
}

Test(boot_files, templates)
{
	static const char *const bad[] = {"",	  "{node}",  "a b",  "a\"b", "a,b",
					  "a\nb", "{server", "a\\b", "a#b",  "\303\244"};
	static const char *const good[] = {"{server}.ipxe", "http://{address}/{file}",
					   "http://h/${mac:hexhyp}?a=b&c=d", "a/b-c_d"};

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_expect_neq(fab_boot_template_check(bad[i], ERR), 0, "%s", bad[i]);
	for (size_t i = 0; i < FAB_COUNT(good); i++)
		MUST(fab_boot_template_check(good[i], ERR));
	MUST(fab_boot_params_check("ip=dhcp a=\"b c\"", ERR));
	cr_expect_neq(fab_boot_params_check("ip=dhcp\nreboot", ERR), 0);
}

/* A site's own template: blocks, optional parts, quoting; and what is refused. */
Test(boot_files, own_templates)
{
	static const char own[] = "%# mine\n%extension lst\n%names any\n%needs ip\n"
				  "%%head {x\n%if shared\nall\n%servers all\n"
				  "[[{json:server} at {server_any_ip}]]\n%end\n%end\n"
				  "%servers\n[[k {kernel}~~none {count}]]\n%nodes\n"
				  "{json:node}[[ {ip6}]]{comma}\n%end\n%end\n";
	char bad[] =
		"{node}\n|%nodes\n{nod}\n%end\n|%if node\n%end\n|%unless nothing\n%end\n|"
		"%nodes\n|%end\n|%other\n|{server}\n|%names any\n%nodes\n{node}\n%end\n|"
		"%needs love\n|%lists\n{list}\n%end\n|%servers\n{server;}\n%end\n";
	struct fab_boot_site site = {.template_name = "own",
				     .template_text = own,
				     .template_bytes = sizeof(own) - 1};
	static const char book[] =
		"n1 02:00:00:00:00:01 10.0.0.1 fd00::1\nv1 02:00:00:00:00:09\n";
	FAB_AUTOFREE char *text = exported(two_hosts, "template", book, &site);

	cr_assert_not_null(text, "%s", test_err.text);
	cr_expect_str_eq(text, "%head {x\nall\nnone 1\n\"n1\" fd00::1\n", "%s", text);
	cr_expect_null(exported("n1 - 1 node\nn\"2 - 1 node\nv1 - 1 server\n", "template",
				book, &site));
	cr_expect_str_eq(test_err.text,
			 "no IP address is known for node 'n\"2', which own needs");
	for (char *one, *rest = bad; (one = strsep(&rest, "|"));) {
		site.template_text = one;
		site.template_bytes = strlen(one);
		cr_expect_null(exported(two_hosts, "template", NULL, &site), "%s", one);
		cr_expect(!strncmp(test_err.text, "own:", 4), "%s", test_err.text);
	}
}
