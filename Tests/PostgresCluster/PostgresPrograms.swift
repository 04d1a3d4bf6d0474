#if PostgreSQL
import Foundation

/// PostgreSQL's programs on this machine.
package enum PostgresPrograms {
    /// The folder of the newest ones, or `nil` if PostgreSQL isn't installed.
    package static let folder: String? = {
        // Debian, Red Hat and Homebrew keep the server's programs in folders that aren't on the PATH.
        let places = [
            ("/usr/lib/postgresql", "", "/bin"), ("/usr", "pgsql-", "/bin"),
            ("/opt/homebrew/opt", "postgresql@", "/bin"),
            ("/usr/local/opt", "postgresql@", "/bin"),
        ]
        var found: [(version: Int, folder: String)] = []
        for (parent, prefix, suffix) in places {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
            where name.hasPrefix(prefix) {
                guard let version = Int(name.dropFirst(prefix.count)) else { continue }
                found.append((version, "\(parent)/\(name)\(suffix)"))
            }
        }
        let candidates = found.sorted { $0.version > $1.version }.map(\.folder) + path
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// Whether there are any.
    package static var areInstalled: Bool { folder != nil }

    /// The path of a program on the `PATH`.
    static func find(_ name: String) -> String? {
        (path + ["/usr/sbin", "/sbin"]).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static var path: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }
}
#endif
