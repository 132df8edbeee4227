// What Ctrl-C (SIGINT), SIGTERM and SIGHUP do to a command: it ends with one sentence on stderr, and by that
// signal, so that shells and scripts know. At once; or, where a command holds the signal back, when that
// command has written what it has. One state for the process, for the thread that runs the command.
#pragma once

namespace lathe::cli {

// From here on these signals end the process with a sentence. One that the process was started to ignore (by
// nohup, or in the background of a script) stays ignored.
void handle_interrupts();

// From here on the first of these signals is only noted, until release_interrupts; a second one ends the
// process at once.
void hold_interrupts();
void release_interrupts();

// The name of the signal that was noted, "SIGINT"; null where none was.
const char* noted_interrupt();

// Ends the process by the signal that was noted; returns where none was.
void end_by_noted_interrupt();

}  // namespace lathe::cli
