-- A run as version 2 stored it.
INSERT INTO run VALUES (1, '2026-01-02T03:04:05Z', 'fabric-faults', '0.1.0', 'x', 'old', 'h', 'gen:x',
  '0x0000000000000001', 1, 2, 0, 2, 0, 2);
INSERT INTO fact VALUES (1, 'faults', 4);
INSERT INTO result VALUES (1, 1, 0, 'xy');
INSERT INTO metric VALUES (1, 'unreachable', 3), (1, 'seconds.total', 0.25), (1, 'verified', 1);
INSERT INTO detail VALUES (1, 0, 'leaf-1.1', 'unreachable', 3);
INSERT INTO batch VALUES (1, 1, 0, 'xy', 'all', 4, 1, 10, 2.5, 'rack');
INSERT INTO segment VALUES (1, 0, 'rack', 100, 4, 25, 'rack0');
