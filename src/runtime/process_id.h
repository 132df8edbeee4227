// Which process this is, cheaply: what a thread of the parent held at a fork, or started before it, is not
// there in the child, and whoever keeps such things compares. Needs Linux and the C library alone; any thread
// may call.
#pragma once

namespace lathe {

// getpid() of this process. Some nanoseconds after `remember_process_id`, else a system call.
int process_id();

// Keeps the number on a page that the system wipes in a forked child (Linux 4.14); elsewhere it does nothing.
void remember_process_id();

}  // namespace lathe
