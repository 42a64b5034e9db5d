-- A run as version 1 stored it.
INSERT INTO run VALUES (1, '2026-01-02T03:04:05Z', 'fabric-mcroute', '0.1.0', 'x', 'old', 'h', 'gen:x',
  '0x0000000000000001', 1, 2, 0, 2, 0, 2);
INSERT INTO fact VALUES (1, 'groups', 4);
INSERT INTO result VALUES (1, 1, 0, 'fulb');
INSERT INTO metric VALUES (1, 'max_efi', 3), (1, 'seconds.total', 0.25), (1, 'verified', 1);
