#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore
import RelataEngine

/// The location and connection options of a PostgreSQL database:
/// `postgresql://user:password@host:5432/database?sslmode=require`.
///
/// libpq parses the URL, so all of its options are allowed: several hosts, `target_session_attrs`, certificates, a
/// service file. Options that the URL omits come from libpq's environment variables, such as `PGUSER` and `PGPASSFILE`.
///
/// The password is in no description.
package struct PostgresURL: Sendable, Hashable {
    /// The URL as it was given, with its password. Only libpq may see it.
    private let text: String
    /// The URL without secrets.
    private let options: [String: String]

    /// Seconds to wait for each host, if neither the URL nor the environment sets a time.
    package static let defaultConnectTimeout = 10

    private static let keepalives = [
        ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "60000"),
    ]

    private static let form =
        "write postgresql://user:password@host:5432/database, with % codes for characters such as @ and / in the password"

    /// Reads a URL.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` with the problem, without the URL's own text.
    package init(_ text: String) throws(RelataError) {
        guard ServerURL.isOne(text) else {
            throw .invalidUse("the database's URL doesn't begin with postgresql://: \(Self.form)")
        }
        guard !text.utf8.contains(0) else {
            throw .invalidUse("the database's URL contains U+0000: \(Self.form)")
        }
        self.text = text
        var message: UnsafeMutablePointer<CChar>?
        guard let list = PQconninfoParse(text, &message) else {
            let reason = message.map { String(cString: $0) } ?? "there is not enough memory"
            PQfreemem(message)
            throw .invalidUse("the database's URL can't be read (\(Self.withoutQuotes(reason))): \(Self.form)")
        }
        defer { PQconninfoFree(list) }
        var options: [String: String] = [:]
        var option = list
        while let keyword = option.pointee.keyword {
            // libpq marks secret options with a star.
            let isSecret = option.pointee.dispchar.map { String(cString: $0) } == "*"
            if !isSecret, let value = option.pointee.val {
                options[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        self.options = options
    }

    /// libpq quotes the part that it didn't understand, which may be the password.
    private static func withoutQuotes(_ message: String) -> String {
        let message = message.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last else {
            return message
        }
        return message[..<first] + "…" + message[message.index(after: last)...]
    }

    /// The name of the database in the URL, if it has one.
    package var database: String? { options["dbname"] }

    /// The URL of another database on the server, with the same options.
    package func with(database: String) throws(RelataError) -> PostgresURL {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let name = database.addingPercentEncoding(withAllowedCharacters: allowed) ?? database
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let base = parts[0]
        let authority = base.range(of: "://").map { base[$0.upperBound...] } ?? base
        let end = authority.firstIndex(of: "/") ?? authority.endIndex
        return try PostgresURL(base[..<end] + "/" + name + (parts.count > 1 ? "?" + parts[1] : ""))
    }

    /// Connects, and waits until that has succeeded or failed. Returns `nil` if memory is exhausted.
    func connect() -> OpaquePointer? {
        var pairs = [("dbname", text), ("client_encoding", "UTF8"), ("fallback_application_name", "relata")]
        if !saysConnectTimeout { pairs.append(("connect_timeout", String(Self.defaultConnectTimeout))) }
        // A host that vanished without a word is noticed within a minute.
        for (option, value) in Self.keepalives where options[option] == nil && options["service"] == nil {
            pairs.append((option, value))
        }
        // Each string must keep its address until libpq has read it.
        let keywords = pairs.map { strdup($0.0) }
        let values = pairs.map { strdup($0.1) }
        defer { for string in keywords + values { free(string) } }
        return (keywords.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { keywords in
            (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { values in
                PQconnectdbParams(keywords.baseAddress, values.baseAddress, 1)
            }
        }
    }

    private var saysConnectTimeout: Bool {
        let environment = ProcessInfo.processInfo.environment
        // A service file may set it too: an option passed to libpq would override the file.
        return options["connect_timeout"] != nil || options["service"] != nil
            || environment["PGCONNECT_TIMEOUT"] != nil || environment["PGSERVICE"] != nil
    }
}

extension PostgresURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// User, hosts and database, without the password: `postgresql://user@host:5432/database`.
    package var description: String {
        let hosts = (options["host"] ?? options["hostaddr"] ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        let ports = (options["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let places = hosts.enumerated().map { index, host in
            let port = index < ports.count ? ports[index] : ports.last ?? ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        return "postgresql://" + (options["user"].map { $0 + "@" } ?? "") + places.joined(separator: ",")
            + (options["dbname"].map { "/" + $0 } ?? "")
    }

    /// As ``description``.
    package var debugDescription: String { description }

    /// No part: `dump` would print the password.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
