#if Server
import RelataParse
import RelataServer

/// The functions of the library's app.
func libraryCode() -> CloudCode {
    var code = CloudCode()
    code.function("averageStars", requires: [.required("book", .pointer(to: "Book"))]) { call in
        let reviews = try await call.asMaster.find("Review", where: ["book": call["book"] ?? .null], keys: ["stars"])
        let stars = reviews.compactMap { $0["stars"]?.number }
        guard !stars.isEmpty else { throw ParseError(.objectNotFound, "nobody has read it") }
        return JSONValue(number: stars.reduce(0, +) / Double(stars.count))
    }
    return code
}

/// Serves the library.
struct Library {
    static func main() async throws {
        var options = ParseService.Options()
        options.code = libraryCode()
        let store = try ParseStore.open("library.sqlite")
        try await RelataServer(store, keys: KeyFile("library.keys").keys, options: options).run()
    }
}
#endif
