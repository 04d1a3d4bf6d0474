#if Server
import Foundation
import Logging

/// Writes each message as one readable line of text to standard error: the time, the level, the message, and its
/// metadata.
///
///     2026-03-01T12:00:00.000Z info GET /parse/classes/Book 200 1.4 ms peer=127.0.0.1 received=0 sent=812
public struct TextLogHandler: LogHandler {
    /// The metadata of every line.
    public var metadata: Logger.Metadata = [:]
    /// Metadata of every line, from its task.
    public var metadataProvider: Logger.MetadataProvider?
    /// From which level on messages are written.
    public var logLevel = Logger.Level.info

    /// A handler for `LoggingSystem.bootstrap`.
    public init() {}

    /// A value that every line carries.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a message.
    public func log(event: LogEvent) { LogOutput.write(line(of: event)) }

    func line(of event: LogEvent) -> String {
        let all = [metadataProvider?.get() ?? [:], metadata, event.metadata ?? [:]]
        let members = all.reduce(into: [:]) { $0.merge($1) { _, new in new } }
        var words = [LogOutput.time, event.level.rawValue, Self.plain(event.message.description)]
        words += members.sorted { $0.key < $1.key }.map { "\($0)=\(Self.plain($1.description))" }
        if let error = event.error { words.append("error=\(Self.plain("\(error)"))") }
        return words.joined(separator: " ")
    }

    /// A text that stays in its line.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

/// The destination of log lines.
enum LogOutput {
    /// The time as every line has it.
    static var time: String { Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

    /// Writes a line with one call, so that lines of several threads don't mix.
    static func write(_ line: String) {
        var line = Data(line.utf8)
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBytes { bytes in
            _ = bytes.baseAddress.map { Foundation.write(STDERR_FILENO, $0, bytes.count) }
        }
    }
}
#endif
