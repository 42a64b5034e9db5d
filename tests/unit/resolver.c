/* SPDX-License-Identifier: BSD-2-Clause */
/* What is printed is found again; lists, patterns, and names that are none. */
#include "fabric/resolver.h"
#include "base/progress.h"
#include "base/text.h"
#include "fabric/builder.h"
#include "fabric/label.h"
#include "support/node.h"
#include "support/test.h"

static const char *const dumps[] = {
	"ibnetdiscover/selene-compute-hdr.txt", "ibnetdiscover/ufm-director-puttylog.txt",
	"ibnetdiscover/topograph-ndr.txt",	"ibnetdiscover/stage-qdr.txt",
	"ibnetdiscover/psmn-x5-qdr.txt",	"ibnetdiscover/ufm-lab-mixed.txt",
	"ibnetdiscover/ibtopotool-1.txt",	"ibnetdiscover/ibtopotool-2.txt",
	"opensm-dumps/ibutils-subnet.lst",	"ibsim/net.2sw2path4hca2port",
};
static const char *const specs[] = {
	"fattree:radix=8,levels=3",
	"torus:dims=4x3x2,hosts=2",
	"kfat:dims=4x3,hosts=2",
	"dragonfly:a=4,p=2,h=2",
	"hyperx:dims=3x3,hosts=2",
	"kfat:dims=3x3x3,hosts=1",
	"kfat:dims=4x4,hosts=2,name-prefix=X_",
};

/* The text finds the id, or is said to have several meanings. */
static void expect(const struct fab_resolver *r, enum fab_want want, const char *text,
		   uint32_t wanted)
{
	uint32_t id = FAB_NONE;
	int rc = fab_resolve_text(r, want, text, strlen(text), &id, ERR);

	if (!rc)
		cr_assert_eq(id, wanted, "'%s': %u, not %u", text, id, wanted);
	else
		cr_assert(rc == -EINVAL && strstr(test_err.text, "can be each of"),
			  "'%s': %s", text, test_err.text);
}

/* By these the thing must be found, alone. */
static void expect_alone(const struct fab_resolver *r, enum fab_want want,
			 const char *text, uint32_t wanted)
{
	uint32_t id = FAB_NONE;

	cr_assert_eq(fab_resolve_text(r, want, text, strlen(text), &id, ERR), 0,
		     "'%s': %s", text, test_err.text);
	cr_assert_eq(id, wanted, "'%s': %u, not %u", text, id, wanted);
}

static void expect_printed(const struct fab_resolver *r, enum fab_want want,
			   const char *name, uint32_t wanted)
{
	char safe[1024];

	expect(r, want, name, wanted);
	expect(r, want, fab_text_safe(name, safe, sizeof(safe)), wanted);
}

static void check_switches(const struct fab_fabric *f, const struct fab_resolver *r,
			   const struct fab_plain_names *plain)
{
	for (uint32_t s = 0; s < f->n_switches; s++) {
		const char *name = fab_node_name(f, s);
		uint32_t port0 = fab_port_find(f, s, 0);
		char text[FAB_LABEL_SIZE];

		expect_printed(r, FAB_WANT_SWITCH, name, s);
		expect_printed(r, FAB_WANT_ENDPOINT, name, port0);
		expect_printed(r, FAB_WANT_SWITCH,
			       fab_label_short(name, text, sizeof(text)), s);
		expect_alone(r, FAB_WANT_SWITCH, plain->of_switch[s], s);
		if (!f->node_guid[s])
			continue;
		snprintf(text, sizeof(text), "0x%016llx",
			 (unsigned long long)f->node_guid[s]);
		expect_alone(r, FAB_WANT_SWITCH, text, s);
		expect_alone(r, FAB_WANT_ENDPOINT, text, port0);
		snprintf(text, sizeof(text), "S-%016llX",
			 (unsigned long long)f->node_guid[s]);
		expect_alone(r, FAB_WANT_SWITCH, text, s);
		snprintf(text, sizeof(text), "lid:%u", f->port_lid[port0]);
		if (f->port_lid[port0] && f->port_lid[port0] < 0xc000)
			expect(r, FAB_WANT_SWITCH, text, s);
	}
}

static void check_adapter(const struct fab_fabric *f, const struct fab_resolver *r,
			  uint32_t node)
{
	uint32_t first = fab_node_first_connected_port(f, node);
	const char *name = fab_node_name(f, node);
	char text[400];

	if (first == FAB_NONE || !*name)
		return;
	if (f->node_host[node] != FAB_NONE) {
		expect_printed(r, FAB_WANT_HOST, name, f->node_host[node]);
		if (strcmp(name, fab_host_name(f, f->node_host[node])) != 0)
			expect_printed(r, FAB_WANT_ADAPTER, name, first);
	}
	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		if (f->port_cable[p] == FAB_NONE)
			continue;
		snprintf(text, sizeof(text), "%s/%u", name, f->port_num[p]);
		expect(r, FAB_WANT_ENDPOINT, text, p);
		expect(r, FAB_WANT_CABLE, text, f->port_cable[p]);
		if (!f->port_guid[p])
			continue;
		snprintf(text, sizeof(text), "0x%016llx",
			 (unsigned long long)f->port_guid[p]);
		expect(r, FAB_WANT_ENDPOINT, text, p);
	}
}

static void check_hosts(const struct fab_fabric *f, const struct fab_resolver *r,
			const struct fab_plain_names *plain)
{
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		const char *name = fab_host_name(f, h);
		uint32_t end = fab_host_endpoint(f, h);
		char upper[300];
		size_t i;

		expect_printed(r, FAB_WANT_HOST, name, h);
		expect(r, FAB_WANT_HOST, plain->of_host[h], h);
		if (end != FAB_NONE)
			expect_printed(r, FAB_WANT_ENDPOINT, name, end);
		for (i = 0; name[i] && i < sizeof(upper) - 1; i++)
			upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32
									   : name[i]);
		upper[i] = '\0';
		expect(r, FAB_WANT_HOST, upper, h);
	}
}

static void check_cables(const struct fab_fabric *f, const struct fab_resolver *r)
{
	for (uint32_t c = 0; c < f->n_cables; c++)
		for (int end = 0; end < 2; end++) {
			uint32_t p = end ? f->cable_b[c] : f->cable_a[c];
			const char *name = fab_node_name(f, f->port_node[p]);
			char text[400];

			snprintf(text, sizeof(text), "%s:%u", name, f->port_num[p]);
			expect(r, FAB_WANT_CABLE, text, c);
			snprintf(text, sizeof(text), "%s port %u", name, f->port_num[p]);
			expect(r, FAB_WANT_CABLE, text, c);
			snprintf(text, sizeof(text), "0x%016llx:%u",
				 (unsigned long long)f->node_guid[f->port_node[p]],
				 f->port_num[p]);
			if (f->node_guid[f->port_node[p]])
				expect(r, FAB_WANT_CABLE, text, c);
		}
}

static void check_fabric(struct fab_fabric *f)
{
	OWN(fab_resolver) *r = fab_resolver_new(f);
	FAB_AUTO(fab_plain_names_fini) struct fab_plain_names plain;

	fab_plain_names_init(&plain, f);
	check_switches(f, r, &plain);
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
		check_adapter(f, r, i);
	check_hosts(f, r, &plain);
	check_cables(f, r);
	fab_fabric_free(f);
}

Test(resolver, finds_what_is_printed_of_real_fabrics)
{
	for (size_t i = 0; i < FAB_COUNT(dumps); i++)
		check_fabric(data_open(dumps[i]));
}

Test(resolver, finds_what_is_printed_of_generated_fabrics)
{
	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_fabric(test_gen_raw(specs[i]));
}

/* A switch and hosts n1 .. n16, some with odd names. */
static struct fab_fabric *odd_fabric(void)
{
	static const char *const names[] = {
		"n1 HCA-1",  "n2 HCA-1",  "n3 HCA-1", "n01 HCA-1", "n02 HCA-1",
		"Big HCA-1", "big HCA-1", "BOX",      "twin",	   "twin",
		"a[1-2]",    "a1",	  "a2",	      "x,y",	   "x*",
		"xz",	     "r\033[2J",  "0x51",     "ib8"};
	struct fab_builder *b = fab_builder_new();
	uint32_t s = test_node(b, FAB_SWITCH, 0x51, 0, "MF0;ib8:SX6036/U1"), two;
	uint32_t t = test_node(b, FAB_SWITCH, 0x52, 0, "ib9");
	struct fab_fabric *f = NULL;

	fab_builder_set_port(b, s, 0, 0x51, 40, 0);
	fab_builder_add_cable(b, s, 30, t, 30, 4, FAB_HDR);
	for (uint16_t i = 0; i < FAB_COUNT(names); i++) {
		uint32_t node = test_node(b, FAB_ADAPTER, 0xa0u + 16u * i, 0, names[i]);

		fab_builder_set_port(b, node, 1, 0xa1u + 16u * i, (uint16_t)(i + 1), 0);
		fab_builder_add_cable(b, node, 1, s, (uint16_t)(i + 1), 4, FAB_HDR);
	}
	two = test_node(b, FAB_ADAPTER, 0x900, 0, "n2 HCA-2");
	fab_builder_set_port(b, two, 1, 0x901, 60, 1);
	fab_builder_add_cable(b, two, 1, t, 1, 4, FAB_HDR);
	fab_builder_add_cable(b, two, 2, t, 2, 4, FAB_HDR);
	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

static uint32_t host_called(const struct fab_fabric *f, const char *name)
{
	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (!strcmp(fab_host_name(f, h), name))
			return h;
	cr_assert_fail("no host %s", name);
	return FAB_NONE;
}

Test(resolver, all_notations)
{
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);
	uint32_t n1 = host_called(f, "n1"), n2 = host_called(f, "n2");
	uint32_t end = fab_host_endpoint(f, n1);
	static const char *const ways[] = {"n1",
					   "N1",
					   "n1 HCA-1",
					   "n1 hca-1  ",
					   "n1/1",
					   "0xa1",
					   "0XA1",
					   "lid:1",
					   "00000000000000a1",
					   "0000:0000:0000:00a1",
					   "fe80::a1",
					   "LID:1",
					   "fe80:0:0:0:0:0:0:A1"};

	for (size_t i = 0; i < FAB_COUNT(ways); i++) {
		expect_alone(r, FAB_WANT_ENDPOINT, ways[i], end);
		expect_alone(r, FAB_WANT_HOST, ways[i], n1);
	}
	expect_alone(r, FAB_WANT_HOST, "H-0000000000000900", n2);
	expect_alone(r, FAB_WANT_HOST, "lid:61", n2); /* by its LMC */
	expect_alone(
		r, FAB_WANT_ENDPOINT, "n2 HCA-2/2",
		fab_port_find(f, fab_port_find(f, 0, 0) == FAB_NONE ? 0 : f->n_nodes - 1,
			      2));
	expect_alone(r, FAB_WANT_SWITCH, "ib8", 0);
	expect_alone(r, FAB_WANT_SWITCH, "IB8", 0);
	expect_alone(r, FAB_WANT_SWITCH, "lid:40", 0);
	expect_alone(r, FAB_WANT_HOST, "Big", host_called(f, "Big"));
	expect_alone(r, FAB_WANT_HOST, "big", host_called(f, "big"));
	expect_alone(r, FAB_WANT_HOST, "box", host_called(f, "BOX"));
	expect_alone(r, FAB_WANT_HOST, "r\\x1b[2J", host_called(f, "r\033[2J"));
}

Test(resolver, names_that_are_none)
{
	static const struct {
		enum fab_want want;
		const char *text, *said;
	} cases[] = {
		{FAB_WANT_HOST, "", "expected a name"},
		{FAB_WANT_HOST, "n7", "no host is called 'n7'; did you mean 'n"},
		{FAB_WANT_HOST, "boxx", "no host is called 'boxx'; did you mean 'BOX'?"},
		{FAB_WANT_SWITCH, "nothing like it",
		 "no switch is called 'nothing like it'"},
		{FAB_WANT_SWITCH, "n1", "'n1' is a host: expected a switch"},
		{FAB_WANT_SWITCH, "n1 HCA-1",
		 "'n1 HCA-1' is an adapter: expected a switch"},
		{FAB_WANT_HOST, "ib9", "'ib9' is a switch: expected a host"},
		{FAB_WANT_HOST, "BIG",
		 "'BIG' can be each of 2: Big (0x00000000000000f0), "
		 "big (0x0000000000000100); expected one"},
		{FAB_WANT_ENDPOINT, "ib8", "'ib8' can be each of 2: "},
		{FAB_WANT_ENDPOINT, "twin", "'twin' can be each of 2: twin (0x"},
		{FAB_WANT_ENDPOINT, "0x51", "'0x51' can be each of 2: "},
		{FAB_WANT_ENDPOINT, "0x77", "has the GUID or name '0x77'"},
		{FAB_WANT_ENDPOINT, "lid:99", "no port has LID 99"},
		{FAB_WANT_ENDPOINT, "lid:0", "expected lid:N, N from 1 to 49151"},
		{FAB_WANT_ENDPOINT, "lid:x", "expected lid:N, N from 1 to 49151"},
		{FAB_WANT_CABLE, "ib9", "'ib9': expected a link as SWITCH:PORT"},
		{FAB_WANT_CABLE, "ib9:0", "expected a link as SWITCH:PORT"},
		{FAB_WANT_CABLE, "ib9:7", "'ib9:7': no cable at port 7"},
		{FAB_WANT_CABLE, "ib7:7", "no switch or host is called 'ib7'; did you "},
		{FAB_WANT_CABLE, "n2:1", "'n2:1' can be each of 2: "},
	};
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const char *text = cases[i].text;
		uint32_t id;

		FAILS(fab_resolve_text(r, cases[i].want, text, strlen(text), &id, ERR), 0,
		      cases[i].said);
		cr_assert_neq(
			fab_resolve_text(r, cases[i].want, text, strlen(text), &id, NULL),
			0);
	}
}

Test(resolver, lists)
{
	/* names of the hosts, in the order in which the list names them */
	static const struct {
		const char *list, *hosts;
	} good[] = {
		{"n[1-3]", "n1 n2 n3"},	 {"n[3,1-2],box", "n3 n1 n2 BOX"},
		{"n[01-02]", "n01 n02"}, {"N[1-2] , \"x,y\"", "n1 n2 x,y"},
		{"x,y", "x,y"},		 {"x,y,n1", NULL},
		{"n?", "n1 n2 n3"},	 {"n[1-2]*", NULL}, /* n1 matches n1, n2 n2 */
		{"x*", "x,y x* xz"},	 {"\"x*\"", "x*"},
		{"[x]z", "xz"},		 {"0x900,lid:1", "n2 n1"},
	};
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);
	struct fab_lookup hosts = fab_resolver_lookup(r, FAB_WANT_HOST);

	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		FAB_AUTOFREE struct fab_ids ids = {0};
		char text[400] = "";
		int rc = fab_lookup_list(&hosts, good[i].list, strlen(good[i].list), &ids,
					 NULL, ERR);

		if (!good[i].hosts)
			continue;
		cr_assert_eq(rc, 0, "%s: %s", good[i].list, test_err.text);
		for (size_t k = 0; k < ids.of.n; k++) {
			strcat(text, k ? " " : "");
			strcat(text, fab_host_name(f, ids.of.v[k]));
		}
		cr_assert_str_eq(text, good[i].hosts, "%s: %s", good[i].list, text);
	}
}

Test(resolver, lists_that_are_wrong)
{
	static const struct {
		const char *list, *said;
	} bad[] = {
		{"", "expected a name, found nothing"},
		{"n1,,n2", "expected a name, found nothing before a comma"},
		{"n1,", "expected a name, found nothing"},
		{"\"n1", "expected \" and ,"},
		{"n[1-4]", "'n[1-4]': no host is called 'n4'; did you mean"},
		{"n[1-6]", "'n[1-6]': 3 of its 6 names are no host: 'n4', 'n5', 'n6'"},
		{"n[1-9]", "6 of its 9 names are no host: 'n4', 'n5', 'n6' and 3 more"},
		{"n[3-1]", "'3-1' is no range"},
		{"n[]", "'' is no range"},
		{"n[1-]", "'1-' is no range"},
		{"n[0-999999999999]", "stands for more names than can be meant"},
		{"n[0-99999999999999999999]", "is no range"},
		{"n[1-300][1-300][1-300]", "stands for more names than can be meant"},
		{"q*", "no host matches 'q*'"},
		{"n[7-8]*", "'n[7-8]*': 2 of its 2 names are no host: 'n7*', 'n8*'"},
		{"a[1-2]", "'a[1-2]' is the name of a host, and a host list of others"},
		{"twin", "'twin' can be each of 2"},
	};
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);
	struct fab_lookup hosts = fab_resolver_lookup(r, FAB_WANT_HOST);

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		FAB_AUTOFREE struct fab_ids ids = {0};

		FAILS(fab_lookup_list(&hosts, bad[i].list, strlen(bad[i].list), &ids,
				      NULL, ERR),
		      0, bad[i].said);
	}
}

Test(resolver, matches_are_told)
{
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);
	struct fab_lookup hosts = fab_resolver_lookup(r, FAB_WANT_HOST);
	struct fab_lookup links = fab_resolver_lookup(r, FAB_WANT_CABLE);
	struct fab_matches matches = {.with_names = true};
	struct fab_ids ids = {0};

	MUST(fab_lookup_list(&hosts, "n[1-2],x*,box", 13, &ids, &matches, ERR));
	cr_assert_eq(matches.of.n, 2);
	cr_assert_str_eq(matches.of.v[0].item, "n[1-2]");
	cr_assert_eq(matches.of.v[0].n, 2);
	cr_assert_str_eq(matches.of.v[0].which, "n1,n2");
	cr_assert_str_eq(matches.of.v[1].which, "\"x,y\",x*,xz");
	cr_assert_str_eq(matches.many, "hosts");
	fab_matches_fini(&matches);
	ids.of.n = 0;
	MUST(fab_lookup_list(&links, "ib9:[1-2]", 9, &ids, &matches, ERR));
	cr_assert_eq(ids.of.n, 2);
	MUST(fab_lookup_list(&links, "ib9:*", 5, &ids, &matches, ERR));
	cr_assert_eq(ids.of.n, 5);
	fab_matches_fini(&matches);
	free(ids.of.v);
}

/* SWITCH:* of hosts are those with an adapter on the switch, by any name of it. */
Test(resolver, hosts_of_switches)
{
	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen_raw(specs[i]);
		OWN(fab_resolver) *r = fab_resolver_new(f);
		struct fab_lookup hosts = fab_resolver_lookup(r, FAB_WANT_HOST);
		uint32_t n_found = 0;

		for (uint32_t s = 0; s < f->n_switches; s++) {
			char text[2][400];
			uint32_t n = 0;

			snprintf(text[0], sizeof(text[0]), "%s:*", fab_node_name(f, s));
			snprintf(text[1], sizeof(text[1]), "lid:%u:*",
				 f->port_lid[fab_port_find(f, s, 0)]);
			for (uint32_t h = 0; h < f->n_hosts; h++)
				n += fab_port_switch(f, fab_host_endpoint(f, h)) == s;
			for (int k = 0; k < 2; k++) {
				FAB_AUTOFREE struct fab_ids ids = {0};
				int rc = fab_lookup_list(&hosts, text[k], strlen(text[k]),
							 &ids, NULL, ERR);

				cr_assert_eq(!rc, n > 0, "%s", text[k]);
				cr_assert_eq(ids.of.n, n, "%s", text[k]);
				for (size_t m = 0; m < ids.of.n; m++)
					cr_assert_eq(fab_port_switch(
							     f, fab_host_endpoint(
									f, ids.of.v[m])),
						     s);
			}
			n_found += n;
		}
		cr_assert_eq(n_found, f->n_hosts);
	}
}

/* A million names of 16 000 hosts take about as long each as a thousand. */
Test(resolver, is_quick)
{
	OWN(fab_fabric) *f = test_gen_raw("fattree:radix=40,levels=3");
	OWN(fab_resolver) *r = fab_resolver_new(f);
	double start = fab_now(), took;
	uint32_t id;

	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t h = i * 7919U % f->n_hosts;
		const char *name = fab_host_name(f, h);

		MUST(fab_resolve_text(r, FAB_WANT_HOST, name, strlen(name), &id, ERR));
		cr_assert_eq(id, h);
	}
	took = fab_now() - start;
	cr_assert_lt(took, 20, "%g s", took);
}
