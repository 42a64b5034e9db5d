/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/subnets.h"
#include "support/boots.h"
#include "support/test.h"

static int read_book(const char *text, struct fab_host_addresses **addresses,
		     struct fab_err *err)
{
	*addresses = NULL;
	return fab_host_addresses_read("b", text, strlen(text), addresses, err);
}

/* Of both families; what /etc/hosts has besides is skipped. */
Test(addresses, files)
{
	static const char text[] =
		"127.0.0.1 localhost\n127.0.1.1 n1\n::1 ip6-localhost ip6-loopback\n"
		"fe00::0 ip6-localnet\nff02::1 ip6-allnodes\nfe80::1 n1\n"
		"10.0.0.1\tn1 n1.site\nFD00:0:0::1 n1.site n1\n"
		"n2 2:0:0:0:0:A 10.0.0.2 fd00::2\n10.0.0.2 n2-alias n2\n"
		"n3 02:00:00:00:00:0b fd00::3\n";
	struct fab_host_addresses *a;

	MUST(read_book(text, &a, ERR));
	cr_expect_str_eq(fab_host_addresses_find(a, "N1")->ip, "10.0.0.1");
	cr_expect_str_eq(fab_host_addresses_find(a, "n1.site")->ip6, "fd00::1");
	cr_expect_str_eq(fab_host_addresses_find(a, "n2")->mac, "02:00:00:00:00:0a");
	cr_expect_str_eq(fab_host_addresses_find(a, "n2-alias")->ip, "10.0.0.2");
	cr_expect_str_eq(fab_host_addresses_find(a, "n3")->ip6, "fd00::3");
	cr_expect_str_eq(fab_host_addresses_find(a, "n3")->ip, "");
	cr_expect_null(fab_host_addresses_find(a, "localhost"));
	fab_host_addresses_set_ip(a, "N3", "10.0.0.3");
	cr_expect_str_eq(fab_host_addresses_find(a, "n3")->ip, "10.0.0.3");
	cr_expect(fab_host_addresses_has_ip(a, "10.0.0.3"));
	cr_expect_not(fab_host_addresses_has_ip(a, "10.0.0.4"));
	fab_host_addresses_free(a);
}

/* 63 characters. */
#define LONGEST_NAME "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

/* One line that names file and line. Texts with | between them. */
Test(addresses, refusals)
{
	static const struct {
		const char *wrong, *texts;
	} cases[] = {
		{"b:2: 02:00:00:00:00:01 is of 'n1' already, by line 1: ",
		 "n1 02:00:00:00:00:01\nn2 02:00:00:00:00:01\n"},
		{"b:3: 10.0.0.1 is of 'n1' already", "10.0.0.1 n1\n\n10.0.0.1 n2\n"},
		{"b:2: fd00::1 is of 'n1' already", "fd00::1 n1\nfd00:0::1 n2\n"},
		{"b:2: 10.0.0.1 is of", "n1 2:0:0:0:0:1 10.0.0.1\n10.0.0.1 n2\n"},
		{"b:1: ",
		 "10.0.0.256 n1\n|10.0.0 n1\n|fd00::g n1\n|fd00:::1 n1\n|"
		 "n1 2:0:0:0:0:1 10.0.0.300\n|n1 2:0:0:0:0:1 fd00::12345\n|"
		 "n1 -2:00:00:00:00:01\n|n1 02:00-00:00:00:01\n|n1 02:00:00:00:00:01:02\n|" LONGEST_NAME
		 "n 2:0:0:0:0:1\n"},
		{"one IP address of a family",
		 "n1 2:0:0:0:0:1 10.0.0.1 10.0.0.2\n|n1 2:0:0:0:0:1 fd00::1 fd00::2\n"},
		{"no host has this IP address",
		 "n1 2:0:0:0:0:1 0.0.0.0\n|n1 2:0:0:0:0:1 224.0.0.1\n|"
		 "n1 2:0:0:0:0:1 127.0.0.1\n|n1 2:0:0:0:0:1 ff02::1\n|"
		 "n1 2:0:0:0:0:1 ::\n|255.255.255.255 n1\n"},
		{"no host has this MAC address",
		 "n1 01:00:00:00:00:01\n|n1 ff:ff:ff:ff:ff:ff\n|00:00:00:00:00:00 n1\n"},
		{"b:2: the name has another IP address",
		 "10.0.0.1 n1\n10.0.0.2 n1\n|"
		 "n1 2:0:0:0:0:1 10.0.0.1\nn1 2:0:0:0:0:1 10.0.0.2\n|"
		 "n1 2:0:0:0:0:1 10.0.0.1\n10.0.0.2 n1\n"},
		{"b:2: the name has another MAC",
		 "n1 2:0:0:0:0:1\nn1 2:0:0:0:0:2\n|n1 2:0:0:0:0:2\nn1 2:0:0:0:0:1\n"},
		{"b:1: this is no host name", "10.0.0.1 n1;x\n"},
	};
	struct fab_host_addresses *a;

	MUST(read_book(LONGEST_NAME " 2:0:0:0:0:1\n", &a, ERR));
	fab_host_addresses_free(a);
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *copy = fab_strdup(cases[i].texts);

		for (char *text, *rest = copy; (text = strsep(&rest, "|"));) {
			cr_expect_neq(read_book(text, &a, ERR), 0, "%s", text);
			cr_expect_null(a);
			HAS(test_err.text, cases[i].wrong);
		}
	}
}

Test(addresses, networks)
{
	static const struct {
		const char *text;
		uint64_t hosts;
		const char *first, *last;
	} good[] = {
		{"10.8.0.0/16", 65534, "10.8.0.1", "10.8.255.254"},
		{"192.168.1.4/30", 2, "192.168.1.5", "192.168.1.6"},
		{"192.168.1.4/31", 2, "192.168.1.4", "192.168.1.5"},
		{"10.0.0.0/8", 16777214, "10.0.0.1", "10.255.255.254"},
		{"fd00:8::/64", UINT64_C(1) << 32, "fd00:8::1", "fd00:8::1:0:0"},
		{"fd00:8::/120", 255, "fd00:8::1", "fd00:8::ff"},
		{"fd00:8::/127", 1, "fd00:8::1", "fd00:8::1"},
	};
	char bad[] =
		"|10.8.0.0|10.8.0.1/16|10.8.0.0/32|10.8.0.0/33|10.8.0.0/0|10.8/16|"
		"224.0.0.0/8|127.0.0.0/8|0.0.0.0/8|fd00::1/64|fd00::/128|fd00::/129|"
		"ff00::/16|fe80::/64|fd00::/64x|n1/24|10.8.0.0/-1|10.8.0.0/ 16|10.8.0.0/";
	struct fab_ip_network net;
	char ip[FAB_IP_BYTES];

	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		MUST(fab_ip_network_parse(good[i].text, &net, ERR));
		cr_expect_str_eq(net.text, good[i].text);
		cr_expect_eq(fab_ip_network_hosts(&net), good[i].hosts, "%s", net.text);
		fab_ip_network_host(&net, 0, ip);
		cr_expect_str_eq(ip, good[i].first);
		cr_expect(fab_ip_network_has(&net, ip));
		fab_ip_network_host(&net, good[i].hosts - 1, ip);
		cr_expect_str_eq(ip, good[i].last);
		cr_expect(fab_ip_network_has(&net, ip), "%s %s", net.text, ip);
		cr_expect_not(fab_ip_network_has(&net, "11.0.0.0"));
	}
	for (char *text, *rest = bad; (text = strsep(&rest, "|"));)
		cr_expect_neq(fab_ip_network_parse(text, &net, ERR), 0, "%s", text);
}

/* The forms of the adapters' manual. */
Test(addresses, identities)
{
	const uint64_t guid = UINT64_C(0x0002c903000c7811);
	struct fab_boot_id id;

	cr_expect(fab_boot_id_of(FAB_IDENTITY_AUTO, "", guid, &id));
	cr_expect_str_eq(id.client_id,
			 "ff:00:00:00:00:00:02:00:00:02:c9:00:00:02:c9:03:00:0c:78:11");
	cr_expect_str_eq(id.duid, "00:02:00:00:02:c9:00:00:02:c9:03:00:0c:78:11");
	cr_expect(fab_boot_id_of(FAB_IDENTITY_CLIENT_ID_20, "", guid, &id));
	cr_expect_str_eq(id.client_id, "20:00:02:c9:03:00:0c:78:11");
	cr_expect_str_eq(id.duid, "00:03:00:20:00:02:c9:03:00:0c:78:11");
	cr_expect(fab_boot_id_of(FAB_IDENTITY_HARDWARE_32, "", guid, &id));
	cr_expect_str_eq(id.mac, "00:02:c9:0c:78:11");
	cr_expect_str_eq(id.client_id, "");
	cr_expect(fab_boot_id_of(FAB_IDENTITY_AUTO, "02:00:00:00:00:01", guid, &id));
	cr_expect_eq(id.kind, FAB_IDENTITY_MAC);
	cr_expect_str_eq(id.mac, "02:00:00:00:00:01");
	cr_expect_not(fab_boot_id_of(FAB_IDENTITY_AUTO, "", 0, &id));
	cr_expect_not(fab_boot_id_of(FAB_IDENTITY_MAC, "", guid, &id));
}

/* The plan after a machine has got its addresses, as text; NULL: refused. */
static char *planned(const struct fab_machine *m, const char *network, const char *hosts,
		     const char *before)
{
	struct fab_host_addresses *told = NULL, *plan = NULL;
	FAB_AUTO(fab_subnets_fini) struct fab_subnets subnets = {0};
	struct fab_ip_network net;
	char *text = NULL;

	MUST(fab_ip_network_parse(network, &net, ERR));
	MUST(fab_host_addresses_read("h", hosts, strlen(hosts), &told, ERR));
	MUST(fab_address_plan_read(m, "b", before, strlen(before), &plan, ERR));
	fab_subnets_add(&subnets, m, &net);
	if (!fab_address_plan_assign(m, &subnets, told, plan, ERR))
		text = TEXT_BY(out, fab_address_plan_write(out, m, plan));
	fab_host_addresses_free(told);
	fab_host_addresses_free(plan);
	return text;
}

/* By name, whatever the order of the machine; the same after a change. */
Test(addresses, same_host_same_address)
{
	static const char others[] = "10.0.0.5 n3\n10.0.0.4 gateway\n";
	OWN(fab_machine) *m = boots_read("n10 - 1 node\nn2 - 1 node\nv1 - 1 server\n");
	OWN(fab_machine) *more =
		boots_read("n1 - 1 node\nv1 - 1 server\nn2 - 1 node\nn3 - 1 node\n");
	OWN_HEAP char *first = planned(m, "10.0.0.0/24", "", "");
	OWN_HEAP char *second = planned(more, "10.0.0.0/24", others, first);
	OWN_HEAP char *third = planned(more, "10.0.0.0/24", others, second);
	OWN_HEAP char *six = planned(more, "fd00::/64", "", second);

	cr_expect_str_eq(first, "10.0.0.2 n2\n10.0.0.3 n10\n10.0.0.1 v1\n");
	/* n10 may come back; n3 has one of its own */
	cr_expect_str_eq(second, "10.0.0.6 n1\n10.0.0.2 n2\n10.0.0.3 n10\n10.0.0.1 v1\n");
	cr_expect_str_eq(third, second);
	HAS(six, "fd00::1 v1\n");
	HAS(six, "10.0.0.3 n10\n");
	cr_expect_null(planned(more, "10.0.0.0/30", "", ""));
	HAS(test_err.text, "10.0.0.0/30 has no address left for 'n2'");
	cr_expect_null(planned(m, "10.0.0.0/24", "10.0.0.2 gateway\n", first));
	HAS(test_err.text, "10.0.0.2, kept for 'n2'");
}

/* Every host in one network of a family at most; addresses of it only, none twice, none
 * of a gateway or server; what is kept stays where nothing forces a change. */
Test(addresses, subnets)
{
	static const char sites[] = "10.0.0.0/29 10.0.0.2 dns=10.0.0.3 : v1,n1,n3\n"
				    "fd00::/64 - : *\n# other\n"
				    "10.0.1.0/30 10.0.1.1 ntp=10.9.9.9 : rack2\n";
	static const struct {
		const char *text, *wrong;
	} bad[] = {
		{"", "f: no network is in it"},
		{"10.0.0.0/24 - n1\n", "f:1: expected CIDR GATEWAY"},
		{"10.0.0.0/24 : n1\n", "f:1: expected CIDR GATEWAY"},
		{"10.0.0.0/24 10.0.0.1 :\n", "f:1: "},
		{"10.0.0.0/24 - x=1 : n1\n", "f:1: 'x=1'"},
		{"10.0.0.0/24 - dns=fd00::1 : n1\n", "f:1: 'fd00::1' is no address"},
		{"10.0.0.0/24 - dns= : n1\n", "f:1: '' is no address"},
		{"\n10.0.0.0/24 10.0.1.1 : n1\n", "f:2: the gateway 10.0.1.1"},
		{"10.0.0.0/24 10.0.0.0 : n1\n", "f:1: the gateway 10.0.0.0"},
		{"10.0.0.0/24 10.0.0.255 : n1\n", "f:1: the gateway 10.0.0.255"},
		{"10.0.0.0/24 gw : n1\n", "f:1: 'gw' is no gateway"},
		{"10.1.0.0/24 - : n1\n10.0.0.0/8 - : n2\n", "f:2: 10.0.0.0/8 overlaps"},
		{"10.0.0.0/8 - : n1\n10.1.0.0/24 - : n2\n", "f:2: 10.1.0.0/24 overlaps"},
		{"10.0.0.0/24 - : n1\n10.0.1.0/24 - : n*\n",
		 "f:2: 'n1' is in 10.0.0.0/24 already, by line 1"},
		{"10.0.0.0/24 - : n7\n", "f:1: no node, server or unit is called 'n7'"},
	};
	OWN(fab_machine) *m = boots_read("rack2 - 1G\nn1 - 1 node\nn2 rack2 1 node\n"
					 "n3 - 1 node\nv1 - 1 server\n");
	struct fab_host_addresses *given = fab_host_addresses_new(), *plan = NULL;
	FAB_AUTO(fab_subnets_fini) struct fab_subnets s = {0};
	static const char before[] = "10.0.0.6 n3\n10.0.0.4 n2\n10.0.0.3 n1\n";

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		FAB_AUTO(fab_subnets_fini) struct fab_subnets other = {0};

		cr_expect_neq(fab_subnets_read(m, "f", bad[i].text, strlen(bad[i].text),
					       &other, ERR),
			      0, "%s", bad[i].text);
		HAS(test_err.text, bad[i].wrong);
	}
	MUST(fab_subnets_read(m, "f", sites, sizeof(sites) - 1, &s, ERR));
	cr_expect_eq(s.of.v[2].line, 4);
	MUST(fab_address_plan_read(m, "b", before, strlen(before), &plan, ERR));
	MUST(fab_address_plan_assign(m, &s, given, plan, ERR));
	/* n3 keeps its own; that of n2 is of another network, that of n1 a DNS server */
	cr_expect_str_eq(fab_host_addresses_find(given, "v1")->ip, "10.0.0.1");
	cr_expect_str_eq(fab_host_addresses_find(given, "n1")->ip, "10.0.0.5");
	cr_expect_str_eq(fab_host_addresses_find(given, "n2")->ip, "10.0.1.2");
	cr_expect_str_eq(fab_host_addresses_find(given, "n3")->ip, "10.0.0.6");
	cr_expect_str_eq(fab_host_addresses_find(given, "n2")->ip6, "fd00::3");
	fab_host_addresses_set_ip(given, "n1", "10.0.0.2");
	FAILS(fab_address_plan_assign(m, &s, given, plan, ERR), -EINVAL,
	      "f:1: the gateway 10.0.0.2 is the address of 'n1'");
	fab_host_addresses_set_ip(given, "n1", "10.0.1.2");
	FAILS(fab_address_plan_assign(m, &s, given, plan, ERR), -EINVAL,
	      "f:1: 10.0.1.2, the address of 'n1', is not in 10.0.0.0/29");
	fab_host_addresses_free(given);
	fab_host_addresses_free(plan);
}

/* On a fabric a host that was renamed is known by its GUID. */
Test(addresses, renamed_host)
{
	const char *servers = "h0", *at;
	struct fab_machine_servers asked = {.patterns = &servers, .n = 1};
	OWN(fab_fabric) *f = test_gen("fattree:radix=4,levels=2");
	OWN(fab_machine) *m = NULL;
	FAB_AUTOFREE char *first = NULL, *second = NULL, *old = NULL;

	MUST(fab_machine_of_fabric(f, &asked, &m, ERR));
	first = planned(m, "10.0.0.0/24", "", "");
	at = strstr(first, " h3 # 0x");
	old = fab_format("%.*s was # 0x%s", (int)(at - first), first, at + 8);
	second = planned(m, "10.0.0.0/24", "", old);
	cr_expect_str_eq(second, first);
}
