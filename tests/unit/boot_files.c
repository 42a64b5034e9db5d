/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/boot.h"
#include "support/boots.h"
#include "support/test.h"

#include <jansson.h>

static const char two_hosts[] = "n1 - 1 node\nv1 - 1 server\n";

static enum fab_boot_format format_of(const char *name)
{
	return (enum fab_boot_format)fab_choices_find(&fab_boot_format_choices, name,
						      strlen(name));
}

/* Networks of either family, NULL: none. */
static struct fab_subnets subnets_of(const char *four, const char *six)
{
	struct fab_subnets s = {0};
	struct fab_ip_network net;

	if (four) {
		MUST(fab_ip_network_parse(four, &net, ERR));
		fab_subnets_add(&s, NULL, &net);
	}
	if (six) {
		MUST(fab_ip_network_parse(six, &net, ERR));
		fab_subnets_add(&s, NULL, &net);
	}
	return s;
}

/* What a format writes with the addresses of `book`; NULL when it is refused. */
static char *exported(const char *machine, const char *format, const char *book,
		      struct fab_boot_site *site, struct fab_err *err)
{
	struct fab_host_addresses *addresses = NULL;
	OWN(fab_machine) *m = NULL;
	OWN(fab_batch) all;
	FAB_AUTOFREE uint32_t *of = NULL;
	struct fab_boot_written written = {0};
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int rc;

	cr_assert_eq(fab_machine_read("m", machine, strlen(machine), &m, err), 0, "%s",
		     err->text);
	all = boots_batch(m, "all");
	of = boots_map(m, "bcda", &all);
	rc = book ? fab_host_addresses_read("book", book, strlen(book), &addresses, err)
		  : 0;
	site->addresses = addresses;
	if (!rc)
		rc = fab_export_boot(&(struct fab_boot_target){.out = out},
				     format_of(format), m, &all, of, site, &written, err);
	fab_boot_written_fini(&written);
	fclose(out);
	cr_expect(!rc || !*text, "nothing is written on failure");
	if (rc) {
		free(text);
		text = NULL;
	}
	fab_host_addresses_free(addresses);
	return text;
}

/* Every format, of one node and one server. */
Test(boot_files, formats)
{
	static const struct {
		const char *format, *expected;
	} cases[] = {
		{"csv", "node,server,mac,ip,ip6,client_id\n"
			"n1,v1,02:00:00:00:00:01,10.0.0.1,fd00::1,\n"},
		{"json",
		 "{\"node\":\"n1\",\"server\":\"v1\",\"mac\":\"02:00:00:00:00:01\","
		 "\"ip\":\"10.0.0.1\",\"ip6\":\"fd00::1\",\"client_id\":null}\n"},
		{"hosts", "10.0.0.9 v1\n10.0.0.1 n1\nfd00::1 n1\n"},
		{"ethers", "02:00:00:00:00:01 n1\n"},
		{"ansible",
		 "# Ansible: nodes by the server that they boot from\n\n[boot_servers]\n"
		 "v1 ansible_host=10.0.0.9\n\n[boot_v1]\nn1 ansible_host=10.0.0.1\n\n"
		 "[boot_v1:vars]\nboot_server=v1\nboot_server_address=10.0.0.9\n\n"
		 "[boot_nodes:children]\nboot_v1\n"},
		{"ipxe",
		 "#!ipxe\n# v1 serves 1\n:again\nimgfree\nkernel http://10.0.0.9/vmlinuz initrd=initrd quiet || goto wait\n"
		 "initrd --name initrd http://v1/initrd || goto wait\n"
		 "boot || goto wait\n:wait\nsleep 10\ngoto again\n"},
		{"openchami",
		 "ochami bss boot params set -d @- <<'END'\n{\n \"macs\": [\n"
		 "  \"02:00:00:00:00:01\"\n ],\n \"kernel\": \"http://10.0.0.9/vmlinuz\",\n"
		 " \"initrd\": \"http://v1/initrd\",\n \"params\": \"quiet\"\n}\nEND\n"},
	};
	static const char book[] =
		"# three forms\n2:0:0:0:0:1 n1\n10.0.0.1 n1 x\n::1 lo\nfd00:0::1 n1\n"
		"v1 02-00-00-00-00-09 10.0.0.9\n";
	struct fab_boot_site site = {.kernel = "http://{address}/vmlinuz",
				     .initrd = "http://{server}/initrd",
				     .params = "quiet"};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FAB_AUTOFREE char *text =
			exported(two_hosts, cases[i].format, book, &site, ERR);

		cr_assert_not_null(text, "%s: %s", cases[i].format, test_err.text);
		cr_expect_str_eq(text, cases[i].expected, "%s", text);
	}
}

static void expect_in(const char *machine, const char *format, const char *book,
		      struct fab_boot_site *site, const char *const *lines, size_t n)
{
	FAB_AUTOFREE char *text = exported(machine, format, book, site, ERR);

	cr_assert_not_null(text, "%s: %s", format, test_err.text);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(strstr(text, lines[i]), "%s lacks %s:\n%s", format,
				   lines[i], text);
}
#define EXPECT_IN(machine, format, book, site, ...)                                      \
	expect_in(machine, format, book, site, (const char *const[]){__VA_ARGS__},       \
		  FAB_COUNT(((const char *const[]){__VA_ARGS__})))

Test(boot_files, what_a_node_loads)
{
	static const char book[] = "n1 02:00:00:00:00:01 10.0.0.1 fd00::1\n"
				   "v1 02:00:00:00:00:09 10.0.0.9 fd00::9\n";
	FAB_AUTO(fab_subnets_fini)
	struct fab_subnets subnets = subnets_of("10.0.0.0/24", "fd00::/64");
	struct fab_boot_site site = {.subnets = &subnets};

	EXPECT_IN(
		two_hosts, "dnsmasq", book, &site,
		"dhcp-boot=tag:boot-v1,tag:!ipxe,tag:!http,tag:efi64,ipxe.efi,v1,10.0.0.9\n",
		"dhcp-boot=tag:boot-v1,tag:ipxe,v1.ipxe,v1,10.0.0.9\n",
		"dhcp-boot=tag:boot-v1,tag:!ipxe,tag:http,tag:arm64,http://10.0.0.9/ipxe-arm64.efi,v1,10.0.0.9\n",
		"dhcp-host=02:00:00:00:00:01,set:boot-v1,10.0.0.1,[fd00::1],n1,infinite\n",
		"option6:bootfile-url,tftp://[fd00::9]/ipxe.efi\n",
		"option6:bootfile-url,tftp://[fd00::9]/v1.ipxe\n",
		"dhcp-range=set:net1,10.0.0.0,static,255.255.255.0,infinite\n",
		"dhcp-range=set:net2,fd00::,static,64,infinite\n");
	EXPECT_IN(
		two_hosts, "dhcpd", book, &site, "end of life", "filename \"v1.ipxe\";",
		"filename \"http://10.0.0.9/ipxe.efi\";",
		"host n1 { hardware ethernet 02:00:00:00:00:01; fixed-address 10.0.0.1; }");
	EXPECT_IN(two_hosts, "kea4", book, &site, "\"boot-file-name\": \"undionly.kpxe\"",
		  "\"next-server\": \"10.0.0.9\"", "\"match-client-id\": false",
		  "\"hw-address\": \"02:00:00:00:00:01\"");
	EXPECT_IN(two_hosts, "kea6", book, &site,
		  "\"data\": \"tftp://[fd00::9]/ipxe.efi\"",
		  "\"data\": \"http://[fd00::9]/ipxe-arm64.efi\"", "\"fd00::1\"");
	site.boot_file[FAB_ARCH_X86_64] = "snponly.efi";
	site.boot_url = "https://{server}:8443/{file}";
	site.script = "http://{address}/ipxe/${mac:hexhyp}?from={server}";
	EXPECT_IN(two_hosts, "dnsmasq", book, &site,
		  "tag:efi64,snponly.efi,v1,10.0.0.9\n",
		  "tag:efi64,https://v1:8443/snponly.efi,v1,10.0.0.9\n",
		  "tag:ipxe,http://10.0.0.9/ipxe/${mac:hexhyp}?from=v1,v1,10.0.0.9\n",
		  "http://[fd00::9]/ipxe/${mac:hexhyp}?from=v1\n");
}

/* One command a server, not one a node. */
Test(boot_files, commands)
{
	static const char machine[] = "n9 - 1 node\nn10 - 1 node\nn11 - 1 node\n"
				      "login - 1 node\nv1 - 1 server\n";
	static const char book[] = "10.0.0.9 v1\n";
	struct fab_boot_site site = {0};

	EXPECT_IN(
		machine, "xcat", NULL, &site,
		"chdef -t node 'login,n[9-11]' servicenode=v1 xcatmaster=v1 tftpserver=v1 nfsserver=v1\n");
	EXPECT_IN(
		machine, "warewulf", book, &site,
		"wwctl node set --yes --tagadd Tag=boot-v1 'login,n[9-11]'\n",
		"dhcp-boot=tag:boot-v1,tag:!iPXE,tag:!efi-http,tag:x86PC,/warewulf/ipxe-snponly-x86_64.efi,v1,10.0.0.9\n",
		"dhcp-boot=tag:boot-v1,tag:iPXE,http://10.0.0.9:9873/ipxe/${mac:hexhyp}?assetkey=${asset}&uuid=${uuid}\n");
}

/* What is wrong, and a part of the sentence that says so. */
Test(boot_files, refusals)
{
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
					&site, ERR));
		HAS(test_err.text, cases[i].wrong);
	}
}

/* Two nodes with one address never get into a file. */
Test(boot_files, twice)
{
	static const char machine[] = "n1 - 1 node\nN1 - 1 node\nv1 - 1 server\n";
	struct fab_boot_site site = {0};

	/* one name but for the letters' case: both are what is told of it */
	cr_expect_null(exported(machine, "ethers", "02:00:00:00:00:01 n1\n", &site, ERR));
	cr_expect_str_eq(
		test_err.text,
		"nodes 'N1' and 'n1' have the same MAC address, 02:00:00:00:00:01");
	cr_expect_null(
		exported(machine, "hosts", "10.0.0.1 n1\n10.0.0.9 v1\n", &site, ERR));
	HAS(test_err.text, "the same IP address");
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

		text = exported(hostile, format, "10.0.0.9 v1\nfd00::9 v1\n", &site, ERR);
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
	static const char *const bad[] = {"{node}\n",
					  "%nodes\n{nod}\n%end\n",
					  "%if node\n%end\n",
					  "%unless nothing\n%end\n",
					  "%nodes\n",
					  "%end\n",
					  "%other\n",
					  "{server}\n",
					  "%names any\n%nodes\n{node}\n%end\n",
					  "%needs love\n",
					  "%lists\n{list}\n%end\n",
					  "%servers\n{server;}\n%end\n"};
	struct fab_boot_site site = {.template_name = "own",
				     .template_text = own,
				     .template_bytes = sizeof(own) - 1};
	char *text;

	text = exported("n1 - 1 node\nn\"2 - 1 node\nv1 - 1 server\n", "template",
			"n1 02:00:00:00:00:01 10.0.0.1 fd00::1\nv1 02:00:00:00:00:09\n",
			&site, ERR);
	cr_assert_null(text);
	cr_expect_str_eq(test_err.text,
			 "no IP address is known for node 'n\"2', which own needs");
	text = exported(two_hosts, "template",
			"n1 02:00:00:00:00:01 10.0.0.1 fd00::1\nv1 02:00:00:00:00:09\n",
			&site, ERR);
	cr_assert_not_null(text, "%s", test_err.text);
	cr_expect_str_eq(text, "%head {x\nall\nnone 1\n\"n1\" fd00::1\n", "%s", text);
	free(text);
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		site.template_text = bad[i];
		site.template_bytes = strlen(bad[i]);
		text = exported(two_hosts, "template", NULL, &site, ERR);
		cr_expect_null(text, "%s", bad[i]);
		cr_expect(!strncmp(test_err.text, "own:", 4), "%s", test_err.text);
	}
}
