#include "file_arguments.hpp"

#include "usage_error.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <system_error>
#include <tuple>

namespace quadtile::app {

namespace fs = std::filesystem;

namespace {

struct Identity {
    bool is_device = false;  // that takes characters
    // Of the file; of its directory and its name there, where it does not exist; a path alone,
    // where neither exists.
    std::tuple<dev_t, ino_t, std::string> place;
};

Identity identity_of(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        return {S_ISCHR(status.st_mode), {status.st_dev, status.st_ino, ""}};
    }
    const fs::path target = follow_links(path);
    const fs::path directory = target.has_parent_path() ? target.parent_path() : ".";
    if (::stat(directory.c_str(), &status) == 0) {
        return {false, {status.st_dev, status.st_ino, target.filename().string()}};
    }
    return {false, {0, 0, fs::absolute(target).lexically_normal().string()}};
}

}  // namespace

void check_files(std::vector<FileArgument> files, const std::vector<fs::path>& scene_files) {
    for (const fs::path& path : scene_files) {
        files.push_back({"a file of SCENE", path, false});
    }
    std::vector<Identity> identities;
    for (const FileArgument& file : files) {
        identities.push_back(file.path.empty() ? Identity() : identity_of(file.path));
        for (std::size_t other = 0; other + 1 < identities.size(); ++other) {
            if (!file.path.empty() && !files[other].path.empty() &&
                (file.is_written || files[other].is_written) && !identities.back().is_device &&
                identities.back().place == identities[other].place) {
                throw UsageError(files[other].name + " and " + file.name +
                                 " name the same file, '" + file.path.string() +
                                 "'; give another name to one of them");
            }
        }
    }
}

fs::path follow_links(fs::path path) {
    constexpr int MOST_LINKS = 40;  // as Linux
    std::error_code error;
    for (int link = 0; link < MOST_LINKS && fs::is_symlink(fs::symlink_status(path, error));
         ++link) {
        const fs::path target = fs::read_symlink(path, error);
        if (error) {
            break;
        }
        path = path.parent_path() / target;
    }
    return path;
}

}  // namespace quadtile::app
