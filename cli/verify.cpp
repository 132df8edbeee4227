// lathe verify: whether an artifact is whole and its files go together.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/check_artifact.h"

namespace lathe::cli {
namespace {

Status run(const std::string& folder) {
  LATHE_TRY(const WholeArtifact artifact, check_artifact(folder));
  to_stdout("{}: whole, build {}\n", artifact.name, artifact.build);
  return {};
}

}  // namespace

void add_verify(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "verify", "whether an artifact is whole and its files go together");
  const auto folder = std::make_shared<std::string>();
  command.text("DIR", *folder, "the artifact's folder", {.is_required = true});
  command.action(chosen, [folder] { return run(*folder); });
}

}  // namespace lathe::cli
