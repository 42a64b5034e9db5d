// SPDX-License-Identifier: BSD-2-Clause
// usage: htsim_dctcp MATRIX QUEUE WINDOW
// DCTCP of csg-htsim, which has no program of its own: flows of a connection matrix of
// 1024 hosts on a fat tree of three levels, 100 Gb/s, 1 us a cable, packets of 4096
// bytes. Queues of QUEUE packets drop what arrives when they are full and mark above 15;
// a flow begins with WINDOW packets, without slow start, and has the path that tables of
// d-mod-k give it: the digits of the target are the ports up.
#include <cstdio>
#include <cstdlib>

#include "connection_matrix.h"
#include "dctcp.h"
#include "eventlist.h"
#include "fat_tree_topology.h"

uint32_t RTT = 0; // the library reads one

static const int PACKET = 4096, RADIX = 8;
static unsigned n_left;

struct Flow : public DCTCPSrc {
	uint64_t bytes;
	bool is_done;

	Flow(EventList &events, const connection &c, int window)
	    : DCTCPSrc(NULL, NULL, events), bytes(c.size), is_done(false)
	{
		// the library adds a packet, and sends one more; its SYN is a byte
		set_flowsize((bytes + PACKET - 1) / PACKET * PACKET - PACKET - 1);
		set_cwnd(window * PACKET);
		set_ssthresh(window * PACKET);
	}

	void receivePacket(Packet &packet) override
	{
		DCTCPSrc::receivePacket(packet);
		if (is_done || _last_acked < bytes)
			return;
		is_done = true;
		n_left--;
		printf("%s finished at %f us\n", str().c_str(),
		       timeAsUs(eventlist().now()));
	}
};

static Route *path(FatTreeTopology &tree, uint32_t from, uint32_t to, PacketSink &end)
{
	vector<const Route *> *all = tree.get_bidir_paths(from, to, false);
	size_t at = to % RADIX;

	if (all->size() == 1)
		at = 0;
	else if (all->size() > RADIX)
		at = at * RADIX + to / RADIX % RADIX;
	Route *route = new Route(*all->at(at));
	route->push_back(&end);
	for (const Route *r : *all)
		delete r;
	delete all;
	return route;
}

int main(int argc, char **argv)
{
	EventList events;
	ConnectionMatrix matrix(1024);

	if (argc != 4)
		return 2;
	cout.setstate(ios::failbit); // the library reports each path
	events.setEndtime(timeFromSec(60));
	Packet::set_packet_size(PACKET);
	if (!matrix.load(argv[1]))
		return 1;
	FatTreeTopology tree(1024, speedFromGbps(100), memFromPkt(atoi(argv[2])), NULL,
			     &events, NULL, ECN, timeFromUs(1.0), 0);
	TcpRtxTimerScanner timers(timeFromMs(10), events);
	for (const connection *c : *matrix.getAllConnections()) {
		Flow *flow = new Flow(events, *c, atoi(argv[3]));
		TcpSink *sink = new TcpSink;

		timers.registerTcp(*flow);
		flow->connect(*path(tree, c->src, c->dst, *sink),
			      *path(tree, c->dst, c->src, *flow), *sink, c->start);
		n_left++;
	}
	while (n_left && events.doNextEvent())
		;
	return n_left > 0;
}
