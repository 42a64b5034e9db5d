/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/smp.h"

#include "source/scan.h"

void fab_smp_rate(const uint8_t *port_info, bool has_ext, bool is_fdr10, uint8_t *width,
		  uint8_t *speed)
{
	static const uint8_t lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};
	static const uint8_t plain[] = {[1] = FAB_SDR, [2] = FAB_DDR, [4] = FAB_QDR};
	static const uint8_t ext[] = {
		[1] = FAB_FDR, [2] = FAB_EDR, [4] = FAB_HDR, [8] = FAB_NDR};
	unsigned w = port_info[31], s = port_info[35] >> 4;
	unsigned e = has_ext ? port_info[62] >> 4 : 0;

	*width = w < sizeof(lanes) ? lanes[w] : 0;
	if (e)
		*speed = e < sizeof(ext) ? ext[e] : (uint8_t)FAB_SPEED_UNKNOWN;
	else if (is_fdr10 && s == 4)
		*speed = FAB_FDR10;
	else
		*speed = s < sizeof(plain) ? plain[s] : (uint8_t)FAB_SPEED_UNKNOWN;
}

bool fab_smp_kind(unsigned type, const char *name, size_t name_len,
		  enum fab_node_kind *kind)
{
	if (type == FAB_SMP_SWITCH)
		*kind = FAB_SWITCH;
	else if (type == FAB_SMP_ADAPTER)
		*kind = fab_is_aggregation_name(name, name_len) ? FAB_AGGREGATION
								: FAB_ADAPTER;
	else if (type == FAB_SMP_ROUTER)
		*kind = FAB_ROUTER;
	else
		return false;
	return true;
}
