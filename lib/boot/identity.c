/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/identity.h"

#include <stdio.h>
#include <string.h>

/* "00:02:c9:03:00:00:10:39" */
static void put_guid(char out[24], uint64_t guid)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 8; i++) {
		out[3 * i] = digits[(guid >> (60 - 8 * i)) & 15];
		out[3 * i + 1] = digits[(guid >> (56 - 8 * i)) & 15];
		out[3 * i + 2] = i < 7 ? ':' : 0;
	}
}

/* Bytes 0 to 2 and 5 to 7 of the GUID. */
static void put_mac(char out[18], uint64_t guid)
{
	char text[24];

	put_guid(text, guid);
	memcpy(out, text, 9);
	memcpy(out + 9, text + 15, 9);
}

bool fab_boot_id_of(enum fab_boot_identity kind, const char *mac, uint64_t guid,
		    struct fab_boot_id *out)
{
	char text[24];

	if (kind == FAB_IDENTITY_AUTO)
		kind = *mac ? FAB_IDENTITY_MAC : FAB_IDENTITY_CLIENT_ID;
	*out = (struct fab_boot_id){.kind = kind};
	put_guid(text, guid);
	if (kind == FAB_IDENTITY_MAC) {
		snprintf(out->mac, sizeof(out->mac), "%s", mac);
		return *mac != 0;
	}
	if (*mac)
		snprintf(out->mac, sizeof(out->mac), "%s", mac);
	if (kind == FAB_IDENTITY_HARDWARE_32) {
		put_mac(out->mac, guid);
	} else if (kind == FAB_IDENTITY_CLIENT_ID) {
		snprintf(out->duid, sizeof(out->duid), "00:02:00:00:02:c9:00:%s", text);
		snprintf(out->client_id, sizeof(out->client_id),
			 "ff:00:00:00:00:00:02:00:00:02:c9:00:%s", text);
	} else {
		snprintf(out->duid, sizeof(out->duid), "00:03:00:20:%s", text);
		snprintf(out->client_id, sizeof(out->client_id), "20:%s", text);
	}
	return guid != 0;
}
