#if Server
import Foundation
import Logging
import RelataCore
import RelataEngine
import RelataParse
import Synchronization

/// The changes through the dashboard, and by Parse's protocol with the master key: the last entries in memory, and all in a
/// file, if configured. Values are never logged.
package final class AuditLog: Sendable {
    /// Something that was done, or refused.
    package struct Entry: Sendable {
        /// The session that did it.
        let session: String
        /// The address that it was done from.
        let peer: String
        /// The action: `PUT /parse/classes/Book/6`.
        var action: String
        /// The outcome, as a status of HTTP.
        var status: Int
        /// The objects of a batch: `PUT /classes/Book/6 (title)`.
        var details: [String] = []

        package init(session: String, peer: String, action: String, status: Int, details: [String] = []) {
            self.session = session
            self.peer = peer
            self.action = action
            self.status = status
            self.details = details
        }

        fileprivate func json(_ time: Date) -> JSONValue {
            var members: JSONObject = [
                "at": .string(DateText.parseText(time)), "session": .string(session), "peer": .string(peer),
                "action": .string(action), "status": .integer(Int64(status)),
            ]
            if !details.isEmpty { members["details"] = .array(details.map { .string($0) }) }
            return .object(members)
        }
    }

    /// The size at which the file is renamed, and replaces the previous renamed one.
    package static let defaultMaximumSize = 10 * 1024 * 1024
    private static let maximumCount = 500
    private static let maximumDetails = 100
    private static let maximumLength = 512

    private let path: String?
    private let maximumSize: Int
    private let logger: Logger
    private let entries = Mutex<[JSONValue]>([])

    /// - Parameter path: The file; `nil` for none.
    package init(_ path: String?, maximumSize: Int = AuditLog.defaultMaximumSize, logger: Logger) {
        self.path = path
        self.maximumSize = maximumSize
        self.logger = logger
    }

    /// Whether there is a file.
    var hasFile: Bool { path != nil }

    /// Writes an entry down.
    ///
    /// - Parameter isLogged: Whether it is said in the log as well.
    package func add(_ entry: Entry, isLogged: Bool = true) {
        var metadata: Logger.Metadata = [
            "session": "\(entry.session)", "status": "\(entry.status)", "peer": "\(entry.peer)",
        ]
        if !entry.details.isEmpty { metadata["objects"] = "\(entry.details.joined(separator: ", "))" }
        if isLogged { logger.notice("dashboard: \(entry.action)", metadata: metadata) }
        let line = entry.json(Date())
        entries.withLock { entries in
            entries.append(line)
            entries.removeFirst(max(0, entries.count - Self.maximumCount))
            do {
                try write(line)
            } catch {
                logger.error(
                    "dashboard: the audit can't be written", metadata: ["file": "\(path ?? "")", "error": "\(error)"])
            }
        }
    }

    /// The last entries, the newest first: `{"results": […]}`.
    var json: JSONValue { ["results": .array(entries.withLock { $0.reversed() })] }

    /// Checks that the file can be appended to and renamed.
    package static func check(_ path: String) throws(RelataError) {
        for file in [path, path + ".1"] { try RegularFile.check(file, for: "an audit") }
    }

    private func write(_ line: JSONValue) throws {
        guard let path else { return }
        try Self.check(path)
        let manager = FileManager.default
        let size = (try? manager.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
        if size >= maximumSize {
            try? manager.removeItem(atPath: path + ".1")
            try manager.moveItem(atPath: path, toPath: path + ".1")
        }
        if !manager.fileExists(atPath: path) {
            // Only the owner may read who changed the data.
            _ = manager.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(JSONWriter.text(line).utf8) + Data("\n".utf8))
    }

    // MARK: Details

    /// As many texts as an entry has, none of them long.
    static func details(_ texts: some Collection<String>) -> [String] {
        let shown = texts.prefix(maximumDetails).map { String($0.prefix(maximumLength)) }
        return texts.count > maximumDetails ? shown + ["and \(texts.count - maximumDetails) more"] : shown
    }

    /// The objects of a batch's requests, with the names of the fields, and the ids of new objects.
    static func details(of request: [UInt8], _ reply: [UInt8]) -> [String] {
        guard let requests = (try? JSONParser.parse(request))?["requests"]?.array else { return [] }
        let replies = (try? JSONParser.parse(reply))?.array ?? []
        let texts = requests.indices.lazy.map { place in
            let request = requests[place]
            var path = (request["path"]?.string ?? "").withoutParameters
            if request["method"] == "POST", replies.count == requests.count,
                let id = replies[place]["success"]?["objectId"]?.string
            {
                path += "/" + id
            }
            let fields = request["body"]?.object?.map(\.key).sorted().joined(separator: ", ") ?? ""
            return "\(request["method"]?.string ?? "") \(path)" + (fields.isEmpty ? "" : " (\(fields))")
        }
        return details(texts)
    }
}
#endif
