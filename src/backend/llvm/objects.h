// A folder of object files that outlives the session. Each is named after what it was made from, and ends with the
// SHA-256 of its name and what it holds: a file that does not fit was damaged, and does not count. Files appear by being
// renamed, so that several processes may share a folder; what was not used for long is deleted.
#pragma once
#include <optional>
#include <string>

#include "backend/llvm/llvm.h"

namespace anvil::llvm_backend {

using Bytes = llvm::SmallVector<char, 0>;

std::string digest(llvm::StringRef);  // SHA-256, in hexadecimal digits

class ObjectFolder {
 public:
  explicit ObjectFolder(std::string path);  // made where it does not exist; "": keeps nothing, finds nothing
  std::optional<Bytes> find(const std::string& key);
  void keep(const std::string& key, const Bytes& object);
  const std::string& problem() const { return problem_; }  // the last one, for people; none of them stops anybody

 private:
  std::string path_of(const std::string& key) const;
  bool write(const std::string& path, llvm::StringRef content);

  std::string path_, problem_;
};

}  // namespace anvil::llvm_backend
