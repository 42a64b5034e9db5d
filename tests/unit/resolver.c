/* SPDX-License-Identifier: BSD-2-Clause */
/* What is printed is found again; lists, patterns, and names that are none. */
#include "fabric/resolver.h"

#include "base/text.h"
#include "fabric/label.h"
#include "support/test.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

static const char *const specs[] = {
	"fattree:radix=8,levels=3",
	"torus:dims=4x3x2,hosts=2",
	"kfat:dims=4x3,hosts=2",
	"dragonfly:a=4,p=2,h=2",
	"hyperx:dims=3x3,hosts=2",
	"kfat:dims=3x3x3,hosts=1",
	"kfat:dims=4x4,hosts=2,name-prefix=X_",
};

/* The text finds the id, or (an error) is said to have several meanings. */
__attribute__((format(printf, 4, 5))) static int expect(const struct fab_resolver *r,
							enum fab_want want,
							uint32_t wanted,
							const char *format, ...)
{
	uint32_t id = FAB_NONE;
	char text[1024];
	va_list args;
	int rc;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rc = fab_resolve_text(r, want, text, strlen(text), &id, ERR);
	if (!rc)
		cr_assert_eq(id, wanted, "'%s': %u, not %u", text, id, wanted);
	else
		cr_assert(rc == -EINVAL && strstr(test_err.text, "can be each of"),
			  "'%s': %s", text, test_err.text);
	return rc;
}

/* As it is and with its control characters made visible. */
static void expect_printed(const struct fab_resolver *r, enum fab_want want,
			   uint32_t wanted, const char *name)
{
	char safe[1024];

	expect(r, want, wanted, "%s", name);
	expect(r, want, wanted, "%s", fab_text_safe(name, safe, sizeof(safe)));
}

/* By its GUID or its plain name it is found, alone. */
static void check_switches(const struct fab_fabric *f, const struct fab_resolver *r,
			   const struct fab_plain_names *plain)
{
	for (uint32_t s = 0; s < f->n_switches; s++) {
		const char *name = fab_node_name(f, s);
		const uint64_t guid = f->node_guid[s];
		uint32_t port0 = fab_port_find(f, s, 0);
		char text[FAB_LABEL_SIZE];

		expect_printed(r, FAB_WANT_SWITCH, s, name);
		expect_printed(r, FAB_WANT_ENDPOINT, port0, name);
		fab_label_short(name, text, sizeof(text));
		expect_printed(r, FAB_WANT_SWITCH, s, text);
		MUST(expect(r, FAB_WANT_SWITCH, s, "%s", plain->of_switch[s]));
		if (guid) {
			MUST(expect(r, FAB_WANT_SWITCH, s, "0x%016" PRIx64, guid));
			MUST(expect(r, FAB_WANT_ENDPOINT, port0, "0x%016" PRIx64, guid));
			MUST(expect(r, FAB_WANT_SWITCH, s, "S-%016" PRIX64, guid));
		}
		if (f->port_lid[port0] && f->port_lid[port0] < 0xc000)
			expect(r, FAB_WANT_SWITCH, s, "lid:%u", f->port_lid[port0]);
	}
}

static void check_hosts(const struct fab_fabric *f, const struct fab_resolver *r,
			const struct fab_plain_names *plain)
{
	for (uint32_t node = f->n_switches; node < f->n_nodes; node++) {
		uint32_t first = fab_node_first_connected_port(f, node);
		uint32_t host = f->node_host[node];
		const char *name = fab_node_name(f, node);

		if (first == FAB_NONE || host == FAB_NONE)
			continue;
		expect_printed(r, FAB_WANT_HOST, host, name);
		if (strcmp(name, fab_host_name(f, host)) != 0)
			expect_printed(r, FAB_WANT_ADAPTER, first, name);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		const char *name = fab_host_name(f, h);
		uint32_t end = fab_host_endpoint(f, h);
		char upper[300];

		expect_printed(r, FAB_WANT_HOST, h, name);
		expect(r, FAB_WANT_HOST, h, "%s", plain->of_host[h]);
		if (end != FAB_NONE)
			expect_printed(r, FAB_WANT_ENDPOINT, end, name);
		snprintf(upper, sizeof(upper), "%s", name);
		for (char *c = upper; *c; c++)
			*c = (char)toupper(*c);
		expect(r, FAB_WANT_HOST, h, "%s", upper);
	}
}

static void check_cables(const struct fab_fabric *f, const struct fab_resolver *r)
{
	for (uint32_t p = 0; p < f->n_ports; p++) {
		const uint32_t c = f->port_cable[p], node = f->port_node[p];
		const char *name = fab_node_name(f, node);
		const unsigned port = f->port_num[p];

		if (c == FAB_NONE)
			continue;
		expect(r, FAB_WANT_CABLE, c, "%s:%u", name, port);
		expect(r, FAB_WANT_CABLE, c, "%s/%u", name, port);
		expect(r, FAB_WANT_CABLE, c, "%s port %u", name, port);
		if (f->node_guid[node])
			expect(r, FAB_WANT_CABLE, c, "0x%016" PRIx64 ":%u",
			       f->node_guid[node], port);
		if (fab_node_is_switch(f, node))
			continue;
		expect(r, FAB_WANT_ENDPOINT, p, "%s/%u", name, port);
		if (f->port_guid[p])
			expect(r, FAB_WANT_ENDPOINT, p, "0x%016" PRIx64, f->port_guid[p]);
	}
}

/* SWITCH:* of hosts are those with an adapter on the switch, by any name of it. */
static void check_hosts_of_switches(const struct fab_fabric *f,
				    const struct fab_resolver *r)
{
	const struct fab_lookup hosts = fab_resolver_lookup(r, FAB_WANT_HOST);

	for (uint32_t k = 0; k < 2 * f->n_switches; k++) {
		const uint32_t s = k / 2, lid = f->port_lid[fab_port_find(f, s, 0)];
		OWN_HEAP char *text = k % 2 ? fab_format("%s:*", fab_node_name(f, s))
					    : fab_format("lid:%u:*", lid);
		FAB_AUTOFREE struct fab_ids ids = {0};
		int rc = fab_lookup_list(&hosts, text, strlen(text), &ids, NULL, ERR);

		cr_assert_eq(!rc, ids.of.n > 0, "%s", text);
		cr_assert_eq(ids.of.n, test_n_hosts_on(f, s), "%s", text);
		for (size_t m = 0; m < ids.of.n; m++)
			cr_assert_eq(
				fab_port_switch(f, fab_host_endpoint(f, ids.of.v[m])), s);
	}
}

static void check_fabric(struct fab_fabric *f, bool is_generated)
{
	FAB_AUTO(fab_plain_names_fini) struct fab_plain_names plain;
	OWN(fab_resolver) *r = fab_resolver_new(f);

	fab_plain_names_init(&plain, f);
	check_switches(f, r, &plain);
	check_hosts(f, r, &plain);
	check_cables(f, r);
	if (is_generated)
		check_hosts_of_switches(f, r);
	fab_fabric_free(f);
}

Test(resolver, finds_what_is_printed)
{
	for (const char *const *dump = data_dumps; *dump; dump++)
		check_fabric(data_open(*dump), false);
	check_fabric(data_open("opensm-dumps/ibutils-subnet.lst"), false);
	check_fabric(data_open("ibsim/net.2sw2path4hca2port"), false);
	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_fabric(test_gen_raw(specs[i]), true);
}

/* A switch and hosts n1 .. n16, some with odd names. */
static struct fab_fabric *odd_fabric(void)
{
	static const char *const names[] = {
		"n1 HCA-1",  "n2 HCA-1",  "n3 HCA-1", "n01 HCA-1", "n02 HCA-1",
		"Big HCA-1", "big HCA-1", "BOX",      "twin",	   "twin",
		"a[1-2]",    "a1",	  "a2",	      "x,y",	   "x*",
		"xz",	     "r\033[2J",  "0x51",     "ib8"};
	struct plan plan = {0};
	struct plan_node *node;
	uint32_t id;

	plan_switch(&plan, "MF0;ib8:SX6036/U1", 36);
	plan_switch(&plan, "ib9", 36);
	plan_cable(&plan, 0, 30, 1, 30);
	plan.nodes.v[0].guid = plan.nodes.v[0].port_guid[0] = 0x51;
	plan.nodes.v[0].lid[0] = 40;
	for (uint32_t i = 0; i < FAB_COUNT(names); i++) {
		id = plan_host(&plan, 0, "%s", names[i]);
		node = &plan.nodes.v[id];
		node->guid = 0xa0 + 16 * i;
		node->port_guid[1] = 0xa1 + 16 * i;
		node->lid[1] = (uint16_t)(i + 1);
	}
	id = plan_host(&plan, 1, "n2 HCA-2");
	plan_cable(&plan, id, 2, 1, 2);
	node = &plan.nodes.v[id];
	node->guid = 0x900;
	node->lid[1] = 60;
	node->lmc = 1;
	node->n_ports = 2;
	return plan_end(&plan);
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
	static const char *const ways[] = {"n1",
					   "N1",
					   "n1 HCA-1",
					   "n1 hca-1  ",
					   "n1/1",
					   "0xa1",
					   "0XA1",
					   "lid:1",
					   "LID:1",
					   "fe80::a1",
					   "00000000000000a1",
					   "0000:0000:0000:00a1",
					   "fe80:0:0:0:0:0:0:A1"};
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);
	const uint32_t n1 = host_called(f, "n1"), n2 = host_called(f, "n2");
	const struct {
		const char *text;
		enum fab_want want;
		uint32_t id;
	} others[] = {
		{"H-0000000000000900", FAB_WANT_HOST, n2},
		{"lid:61", FAB_WANT_HOST, n2}, /* LMC */
		{"n2 HCA-2/2", FAB_WANT_ENDPOINT, fab_port_find(f, f->n_nodes - 1, 2)},
		{"ib8", FAB_WANT_SWITCH, 0},
		{"IB8", FAB_WANT_SWITCH, 0},
		{"lid:40", FAB_WANT_SWITCH, 0},
		{"Big", FAB_WANT_HOST, host_called(f, "Big")},
		{"big", FAB_WANT_HOST, host_called(f, "big")},
		{"box", FAB_WANT_HOST, host_called(f, "BOX")},
		{"r\\x1b[2J", FAB_WANT_HOST, host_called(f, "r\033[2J")},
	};

	for (size_t i = 0; i < FAB_COUNT(ways); i++) {
		MUST(expect(r, FAB_WANT_ENDPOINT, fab_host_endpoint(f, n1), "%s",
			    ways[i]));
		MUST(expect(r, FAB_WANT_HOST, n1, "%s", ways[i]));
	}
	for (size_t i = 0; i < FAB_COUNT(others); i++)
		MUST(expect(r, others[i].want, others[i].id, "%s", others[i].text));
}

/* What tests/golden/names-real and faults-errors do not say. */
Test(resolver, names_that_are_none)
{
	static const struct {
		enum fab_want want;
		const char *text, *said;
	} cases[] = {
		{FAB_WANT_HOST, "", "expected a name"},
		{FAB_WANT_SWITCH, "n1 HCA-1",
		 "'n1 HCA-1' is an adapter: expected a switch"},
		{FAB_WANT_HOST, "BIG",
		 "'BIG' can be each of 2: Big (0x00000000000000f0), "
		 "big (0x0000000000000100); expected one"},
		{FAB_WANT_ENDPOINT, "ib8", "'ib8' can be each of 2: "},
		{FAB_WANT_ENDPOINT, "twin", "'twin' can be each of 2: twin (0x"},
		{FAB_WANT_ENDPOINT, "0x51", "'0x51' can be each of 2: "},
		{FAB_WANT_CABLE, "n2:1", "'n2:1' can be each of 2: "},
	};
	OWN(fab_fabric) *f = odd_fabric();
	OWN(fab_resolver) *r = fab_resolver_new(f);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const char *text = cases[i].text;
		uint32_t id;

		FAILS(fab_resolve_text(r, cases[i].want, text, strlen(text), &id, ERR), 0,
		      cases[i].said);
	}
}

Test(resolver, lists)
{
	/* names of the hosts, in the order in which the list names them */
	static const struct {
		const char *list, *hosts;
	} good[] = {
		{"n[1-3]", "n1 n2 n3"},	  {"n[3,1-2],box", "n3 n1 n2 BOX"},
		{"n[01-02]", "n01 n02"},  {"N[1-2] , \"x,y\"", "n1 n2 x,y"},
		{"x,y", "x,y"},		  {"n?", "n1 n2 n3"},
		{"n[1-2]*", "n1 n2"},	  {"x*", "x,y x* xz"},
		{"\"x*\" ,n1", "x* n1"},  {"[x]z", "xz"},
		{"0x900,lid:1", "n2 n1"},
	};
	static const struct {
		const char *list, *said;
	} bad[] = {
		{"", "expected a name, found nothing"},
		{"x,y,n1", "no host is called 'y'; did you mean 'x'?"},
		{"n1,,n2", "expected a name, found nothing before a comma"},
		{"n1,", "expected a name, found nothing"},
		{"\"n1", "expected \" and ,"},
		{"n[1-4]", "'n[1-4]': no host is called 'n4'; did you mean"},
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

	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		FAB_AUTOFREE struct fab_ids ids = {0};
		OWN_HEAP char *text = NULL;

		MUST(fab_lookup_list(&hosts, good[i].list, strlen(good[i].list), &ids,
				     NULL, ERR));
		for (size_t k = 0; k < ids.of.n; k++)
			fab_append(&text, " ", "%s", fab_host_name(f, ids.of.v[k]));
		cr_assert_str_eq(text, good[i].hosts, "%s: %s", good[i].list, text);
	}
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
	cr_assert(matches.of.n == 2 && matches.of.v[0].n == 2);
	cr_assert_str_eq(matches.of.v[0].item, "n[1-2]");
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
