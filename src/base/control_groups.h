// The control groups (cgroups, of containers and batch jobs) that this process is in: where the files are
// that say what the system lets it use.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace anvil {

struct ControlGroup {
  std::string folder;  // ends in a slash
  bool unified;        // of version 2, whose files have other names
};
// Those of a controller ("memory", "cpu"), each followed by the groups around it: the limits of all of them
// hold. Inside of a container the path may be that outside of it: then only its end, the root of what is
// mounted, is there. The files of the system are in `root`, which is empty but for tests.
std::vector<ControlGroup> control_groups(const std::string& root, std::string_view controller);

}  // namespace anvil
