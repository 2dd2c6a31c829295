#include "base/control_groups.h"

#include <fstream>

namespace anvil {

std::vector<ControlGroup> control_groups(const std::string& root, std::string_view controller) {
  std::vector<ControlGroup> list;
  const auto add = [&](const std::string& mount, std::string path, bool unified) {
    for (;; path.resize(path.find_last_of('/'))) {
      list.push_back({mount + path + "/", unified});
      if (path.empty()) return;
    }
  };
  const std::string wanted = "," + std::string(controller) + ",", mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/' || path == "/") path.clear();
    if (controllers == ",,")
      add(mount, path, true);
    else if (controllers.find(wanted) != std::string::npos)
      add(mount + "/" + std::string(controller), path, false);
  }
  return list;
}

}  // namespace anvil
