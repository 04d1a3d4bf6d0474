#if Server
import RelataParse
import RelataServer

/// Serves a database to Parse's clients, with a folder for the files that they upload.
struct Uploads {
    static func main() async throws {
        var options = ParseService.Options()
        options.files = FileOptions(storage: try FolderStorage("library.files"))
        let store = try ParseStore.open("library.sqlite")
        try await RelataServer(store, keys: KeyFile("library.keys").keys, options: options).run()
    }
}
#endif
