/// Distinguishes databases of servers from files.
package enum ServerURL {
    /// Whether a path is the URL of a server's database, as PostgreSQL writes it.
    package static func isOne(_ path: String) -> Bool {
        path.hasPrefix("postgres://") || path.hasPrefix("postgresql://")
    }
}
