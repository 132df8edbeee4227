-- A records file as Lathe wrote it before version 4 of the schema: points are integers by their places.
-- VERSION stands for the compiler's version.
PRAGMA application_id = 0x4c746865;
PRAGMA user_version = 3;
CREATE TABLE tasks (hash TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, dag TEXT NOT NULL, constants TEXT NOT NULL,
  free_layouts INTEGER NOT NULL, layouts TEXT NOT NULL, runs_cold INTEGER, algorithm TEXT);
CREATE TABLE records (id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES tasks (hash),
  target TEXT NOT NULL, machine TEXT NOT NULL, cores INTEGER NOT NULL, compiler_version TEXT NOT NULL,
  trace TEXT NOT NULL, point TEXT NOT NULL, source TEXT NOT NULL, samples TEXT NOT NULL, seconds REAL, spread REAL,
  timed_once INTEGER NOT NULL, failure_kind TEXT, failure_message TEXT, strategy TEXT NOT NULL, seed INTEGER NOT NULL,
  created_at INTEGER NOT NULL, wall_seconds REAL NOT NULL, tolerance REAL);
CREATE INDEX records_by_task ON records (task, target, compiler_version, seconds);
CREATE INDEX records_by_time ON records (task, created_at);
INSERT INTO tasks VALUES ('ffe2539b70b379ed', 'product', 'C[i:40, j:44] = sum(r:36) A[i, r] * B[r, j]
', '["B"]', 1, '[]', 0, '');
INSERT INTO records VALUES (1, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'cache_read C B B.pack at=prepare scope=workspace layout=[1/24][0][1%24]
split C j [1 3 8]
split C i [10 4]
reorder C i.0 j.0 j.1 i.1 r i.2 j.2 j.3
unroll C i.2
unroll C j.2
vectorize C j.3
cache_write C C.acc at=i.1 scope=registers
split C.acc.out j [8]
reorder C.acc.out i j.0 j.1
unroll C.acc.out i
unroll C.acc.out j.0
vectorize C.acc.out j.1
tail C.acc.out j mask
tail C.acc.out i peel
tail C j pad
tail C i peel
', '{"integers":[2,3,0,5,1,0,0,0],"sketch":"direct C vector=j rows=i"}', 'measured', '[1.100000e-05,1.100000e-05]', 1.100000e-05, 0.0, 0, NULL, NULL, 'evolutionary', 7, 1700000000001, 0.1, 2e-06);
INSERT INTO records VALUES (2, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'layout A [0/24][1][0%24]
layout C [1][0]
split C i [1 3 8]
split C j [11 4]
reorder C j.0 i.0 i.1 j.1 r j.2 i.2 i.3
unroll C j.2
unroll C i.2
vectorize C i.3
cache_write C C.acc at=j.1 scope=registers
split C.acc.out i [8]
reorder C.acc.out j i.0 i.1
unroll C.acc.out j
unroll C.acc.out i.0
vectorize C.acc.out i.1
tail C.acc.out i mask
tail C.acc.out j peel
tail C i pad
tail C j peel
', '{"integers":[2,3,0,5,1,0,0,0,1],"sketch":"direct C vector=i rows=j"}', 'measured', '[1.200000e-05,1.200000e-05]', 1.200000e-05, 0.0, 0, NULL, NULL, 'evolutionary', 7, 1700000000002, 0.1, 2e-06);
INSERT INTO records VALUES (3, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'layout A [0/8][1][0%8]
layout C [1][0]
split C i [1 1 8]
split C j [8 1]
split C r [4]
reorder C i.0 j.0 j.1 i.1 r.0 r.1 j.2 i.2 i.3
unroll C r.1
unroll C j.2
unroll C i.2
vectorize C i.3
cache_write C C.acc at=i.1 scope=registers
split C.acc.out i [8]
reorder C.acc.out j i.0 i.1
unroll C.acc.out j
unroll C.acc.out i.0
vectorize C.acc.out i.1
tail C.acc.out i mask
tail C.acc.out j peel
tail C i pad
tail C j peel
', '{"integers":[0,0,0,3,2,2,0,0,1],"sketch":"direct C vector=i rows=j"}', 'measured', '[1.300000e-05,1.300000e-05]', 1.300000e-05, 0.0, 0, NULL, NULL, 'evolutionary', 7, 1700000000003, 0.1, 2e-06);
INSERT INTO records VALUES (4, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'layout A [1][0]
layout C [1][0]
split C i [1 1 8]
split C j [8 6]
reorder C j.0 i.0 i.1 j.1 r j.2 i.2 i.3
unroll C j.2
unroll C i.2
vectorize C i.3
cache_write C C.acc at=j.1 scope=registers
split C.acc.out i [8]
reorder C.acc.out j i.0 i.1
unroll C.acc.out j
unroll C.acc.out i.0
vectorize C.acc.out i.1
tail C.acc.out i mask
tail C.acc.out j peel
tail C i peel
tail C j peel
', '{"integers":[0,5,0,5,1,0,0,0,0],"sketch":"direct C vector=i rows=j"}', 'measured', '[1.400000e-05,1.400000e-05]', 1.400000e-05, 0.0, 0, NULL, NULL, 'evolutionary', 7, 1700000000004, 0.1, 2e-06);
INSERT INTO records VALUES (5, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'cache_read C B B.pack at=prepare scope=workspace layout=[1/8][0][1%8]
split C j [1 1 8]
split C i [7 3]
split C r [4]
reorder C j.0 i.0 i.1 j.1 r.0 r.1 i.2 j.2 j.3
unroll C r.1
unroll C i.2
unroll C j.2
vectorize C j.3
cache_write C C.acc at=j.1 scope=registers
split C.acc.out j [8]
reorder C.acc.out i j.0 j.1
unroll C.acc.out i
unroll C.acc.out j.0
vectorize C.acc.out j.1
tail C.acc.out j mask
tail C.acc.out i peel
tail C j pad
tail C i peel
', '{"integers":[0,2,0,3,2,2,0,0],"sketch":"direct C vector=j rows=i"}', 'measured', '[1.500000e-05,1.500000e-05]', 1.500000e-05, 0.0, 0, NULL, NULL, 'evolutionary', 7, 1700000000005, 0.1, 2e-06);
INSERT INTO records VALUES (6, 'ffe2539b70b379ed', 'x86-avx2', 'a processor', 1, 'VERSION', 'cache_read C B B.pack at=prepare scope=workspace layout=[1/8][0][1%8]
layout C [1/8][0][1%8]
split C j [2 1 8]
split C i [4 12]
split C r [2]
reorder C i.0 j.0 j.1 i.1 r.0 r.1 i.2 j.2 j.3
prefetch C B.pack j.1 distance=1 at=r.0
unroll C r.1
unroll C i.2
unroll C j.2
vectorize C j.3
cache_write C C.acc at=i.1 scope=registers
split C.acc.out j [8]
reorder C.acc.out i j.0 j.1
unroll C.acc.out i
unroll C.acc.out j.0
vectorize C.acc.out j.1
tail C.acc.out j mask
tail C.acc.out i peel
tail C j pad
tail C i peel
', '{"integers":[0,11,1,3,1,1,1,1],"sketch":"direct C vector=j rows=i"}', 'measured', '[1.600000e-05,1.600000e-05]', NULL, NULL, 0, 'crash', 'the program crashed', 'evolutionary', 7, 1700000000006, 0.1, 2e-06);
