// Connections to records files, and the logs that lie beside them.
#pragma once

#include <string>

#include "base/result.h"
#include "records/sqlite.h"

namespace lathe {

// An Error where the path is a directory, or lies in none.
Status check_place(const std::string& path);

// Why the system lets nobody write there, where it does not. While a file is written, SQLite keeps others
// beside it.
Status check_writable(const std::string& path);
std::unexpected<Error> read_only(const std::string& path);

// Whether a log of writes that are not in the file yet lies beside it, to which links may lead. An empty file
// has none: SQLite takes a log beside one for a leftover and deletes it.
bool has_log(const std::string& path);

// An Error for a log that the file of its name has left: what was measured last is in it alone, and SQLite
// would delete it as soon as a new file is made there.
Status check_no_orphan(const std::string& path);

// A connection that reads, for verify_schema to look at. A file that is not ours stays as it is, with nothing
// new beside it, and so does one that cannot be read. One that is ours is opened so that the log goes with
// whoever closes it last: a log that stayed would be merged into whatever file has this name next.
Result<Connection> connect_to_read(const std::string& path);

// One that reads what can be read, also where the file is shorter than its head says. Nothing new stays
// beside the file.
Result<Connection> connect_to_salvage(const std::string& path);

}  // namespace lathe
