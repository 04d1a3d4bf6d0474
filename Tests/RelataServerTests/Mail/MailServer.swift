#if Server
import Foundation
import RelataParse
import RelataServer
import Testing

/// An independent mail server, for tests.
final class MailServer {
    /// A mail that the server accepted.
    struct Taken: Sendable {
        let from: String
        let to: [String]
        /// Header and body, unchanged.
        let data: String
        let isEncrypted: Bool
        let user: String?

        /// A field of the header, unfolded.
        func field(_ name: String) -> String? {
            let head = data.components(separatedBy: "\r\n\r\n")[0].replacing("\r\n ", with: " ")
            return head.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }

        /// The text of the mail.
        var text: String {
            let body = data.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
            guard field("Content-Transfer-Encoding") == "base64" else { return body.replacing("\r\n", with: "\n") }
            let bytes = Data(base64Encoded: body, options: .ignoreUnknownCharacters) ?? Data()
            return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Mail").standardizedFileURL

    /// The Python interpreter with the mail server; `nil` if it can't be installed.
    private static let python: String? = {
        let place = folder.appending(path: "../../.build/mail").standardizedFileURL.path
        guard let made = try? run([folder.appending(path: "prepare").path, place]), made.status == 0 else { return nil }
        return made.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    /// Whether the mail server is installed, or could be.
    static var isThere: Bool { python != nil }

    private static func run(_ command: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    let port: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    /// Starts a server.
    ///
    /// - Parameter like: Its settings: `security`, `certificate`, `key`, `login`, `refused`, `full`, `unicode`.
    init(_ like: JSONValue = [:]) throws {
        let python = try #require(Self.python)
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [Self.folder.appending(path: "server.py").path, JSONWriter.text(like)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var rest = Data()
        let line = Self.line(output, &rest)
        port = try #require(Int(line ?? ""), "the mail server doesn't start")
        self.rest = rest
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private static func line(_ pipe: Pipe, _ rest: inout Data) -> String? {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                return line
            }
            let more = pipe.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            rest += more
        }
    }

    /// The next accepted mail. Waits if none has arrived yet.
    func next() throws -> Taken {
        let line = try #require(Self.line(output, &rest), "the mail server ended")
        let json = try JSONParser.parse(line)
        let data = try #require(Data(base64Encoded: json["data"]?.string ?? ""))
        return Taken(
            from: json["from"]?.string ?? "", to: json["to"]?.array?.compactMap(\.string) ?? [],
            data: String(decoding: data, as: UTF8.self), isEncrypted: json["tls"] == true, user: json["user"]?.string)
    }
}
#endif
