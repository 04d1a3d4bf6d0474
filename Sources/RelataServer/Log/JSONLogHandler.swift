#if Server
import Foundation
import Logging
import RelataParse

/// Writes each message as one line of JSON to standard error: `{"level": "info", "message": …, "request": …}`.
public struct JSONLogHandler: LogHandler {
    /// The metadata of every line.
    public var metadata: Logger.Metadata = [:]
    /// Metadata of every line, from its task.
    public var metadataProvider: Logger.MetadataProvider?
    /// From which level on messages are written.
    public var logLevel = Logger.Level.info
    private let label: String

    /// A handler for `LoggingSystem.bootstrap`.
    public init(label: String) { self.label = label }

    /// A value that every line carries.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a message.
    public func log(event: LogEvent) { LogOutput.write(line(of: event)) }

    func line(of event: LogEvent) -> String {
        var members: JSONObject = [:]
        let all = [metadataProvider?.get() ?? [:], metadata, event.metadata ?? [:]]
        for (key, value) in all.joined() { members[key] = Self.json(value) }
        members["time"] = .string(LogOutput.time)
        members["level"] = .string(event.level.rawValue)
        members["logger"] = .string(label)
        members["message"] = .string(event.message.description)
        if let error = event.error { members["error"] = .string("\(error)") }
        return JSONWriter.canonicalText(.object(members))
    }

    private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let value): .string(value.description)
        case .array(let elements): .array(elements.map(json))
        case .dictionary(let members): .object(JSONObject(members.map { ($0, json($1)) }))
        }
    }
}
#endif
