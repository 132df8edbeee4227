// lathe target: what this machine is, and the yardsticks that figures are given against.
#include "cli/command.h"
#include "cli/console.h"
#include "session/machine.h"

namespace lathe::cli {
namespace {

void print_figure(const MachineFigure& figure) {
  to_stdout("{:<9} {:.1f} {} on {} core{}\n", figure.name, figure.value, figure.unit, figure.cores,
            figure.cores == 1 ? "" : "s");
}

Status show_target() {
  return measure_machine([](const Target& target) { to_stdout("{}\n", print(target)); }, print_figure);
}

}  // namespace

void add_target(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "target", "print this machine as a target, and its measured peaks");
  command.action(chosen, show_target);
}

}  // namespace lathe::cli
