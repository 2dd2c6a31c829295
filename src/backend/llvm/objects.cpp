// Object files on disk.
#include "backend/llvm/objects.h"

namespace anvil::llvm_backend {
namespace {

namespace fs = llvm::sys::fs;

constexpr size_t seal_size = 64;
constexpr uint64_t most_bytes = uint64_t(1) << 30;
constexpr std::chrono::hours longest_unused(24 * 90);

std::string seal(const std::string& key, llvm::StringRef object) { return digest(key + digest(object)); }

}  // namespace

std::string digest(llvm::StringRef text) {
  const auto sum = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(llvm::ArrayRef<uint8_t>(sum.data(), sum.size()), true);
}

ObjectFolder::ObjectFolder(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  fs::file_status status;
  std::error_code error = fs::create_directories(path_, true, fs::owner_all);
  if (!error) error = fs::status(path_, status);
  if (error)
    problem_ = "The folder " + path_ + " cannot be used: " + error.message() + ".";
  else if (status.permissions() & fs::others_write)  // what lies there is run
    problem_ = "The folder " + path_ + " is not used: everybody may write into it.";
  if (!problem_.empty()) path_.clear();
}

// LLVM's pruning knows its files by this beginning.
std::string ObjectFolder::path_of(const std::string& key) const { return path_ + "/llvmcache-" + key; }

std::optional<Bytes> ObjectFolder::find(const std::string& key) {
  if (path_.empty()) return {};
  const std::string path = path_of(key);
  const auto file = llvm::MemoryBuffer::getFile(path, false, false);
  if (!file) return {};
  const llvm::StringRef content = (*file)->getBuffer();
  if (content.size() >= seal_size) {
    const llvm::StringRef object = content.drop_back(seal_size);
    if (content.take_back(seal_size) == seal(key, object)) return Bytes(object.begin(), object.end());
  }
  problem_ = "The file " + path + " was damaged and is written again.";
  return {};
}

// Not by LLVM's TempFile, which takes signals from R to delete its files.
bool ObjectFolder::write(const std::string& path, llvm::StringRef content) {
  int file = -1;
  llvm::SmallString<128> unfinished;
  std::error_code error =
      fs::createUniqueFile(path + ".%%%%%%%%", file, unfinished, fs::OF_None, fs::owner_read | fs::owner_write);
  if (!error) {
    llvm::raw_fd_ostream stream(file, true);
    stream << content;
    stream.close();
    error = stream.error();
    stream.clear_error();
    if (!error) error = fs::rename(unfinished, path);
    if (error) fs::remove(unfinished);
  }
  if (error) problem_ = "Cannot write " + path + ": " + error.message() + ".";
  return !error;
}

void ObjectFolder::keep(const std::string& key, const Bytes& object) {
  if (path_.empty()) return;
  const llvm::StringRef bytes(object.data(), object.size());
  if (!write(path_of(key), bytes.str() + seal(key, bytes))) return;
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = most_bytes;
  policy.Expiration = longest_unused;
  llvm::pruneCache(path_, policy);  // looks at most every 20 minutes
}

}  // namespace anvil::llvm_backend
