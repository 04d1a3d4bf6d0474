#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// The requests that `relata serve` suggests for an unknown database.
struct ServeExamplesTests {
    /// The arguments of `curl` in a suggested line, as a shell reads them.
    private static func words(_ line: some StringProtocol) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "curl() { printf '%s\\n' \"$@\"; }\n\(line)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(line)")
        return text.split(separator: "\n").map(String.init)
    }

    /// Sends what `curl` would send.
    private static func send(_ words: [String], port: Int) throws -> ServerReplyText {
        var (method, headers, query, body) = ("GET", [String: String](), [String](), "")
        var isQuery = false
        var rest = words[...]
        while let word = rest.popFirst(), word.hasPrefix("-") {
            if word == "-G" {
                isQuery = true
                continue
            }
            let next = rest.popFirst()
            let value = try #require(next, "\(words)")
            switch word {
            case "-X": method = value
            case "-H":
                let parts = value.components(separatedBy: ": ")
                headers[parts[0]] = parts[1]
            case "-d":
                if isQuery { query.append(value) } else { body = value }
            case "--data-urlencode":
                let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
                query.append(
                    "\(parts[0])=\(parts[1].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")")
            default: Issue.record("curl gets the unknown option \(word)")
            }
        }
        let origin = "http://127.0.0.1:\(port)"
        let url = try #require(words.last)
        #expect(url.hasPrefix(origin + "/parse/classes/"), "\(url)")
        let target = url.dropFirst(origin.count) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return try ServerConnection(port: port).request(
            method, String(target), headers: headers, body: Array(body.utf8))
    }

    /// Serves a file, and sends each suggested request.
    private static func replies(_ path: String, clientKey: String) throws -> [ServerReplyText] {
        let server = ServedFile(
            tool: try ServedTool.executable, path: path,
            options: ["--app-id", "app", "--client-key", clientKey, "--examples"])
        try server.start()
        blockUntil { server.printed.contains("Ctrl-C stops the server.\n") }
        let lines = server.printed.split(separator: "\n").filter { $0.hasPrefix("  curl ") }
        let replies = try lines.map { try send(try words($0), port: server.port) }
        #expect(server.stop() == 0)
        return replies
    }

    @Test func theSuggestedRequestsWork() throws {
        let folder = try ServerFolder()
        let path = folder.path("library.sqlite")
        try OpenCommandTests().makeForeignFile(path)
        let replies = try Self.replies(path, clientKey: "")
        try #require(replies.count == 3)
        let books = try #require(try replies[0].json["results"]?.array, "\(replies[0].text)")
        #expect(books.compactMap { $0["title"]?.string } == ["Good Omens", "Mort", "Hard to Be a God"])
        #expect(books.allSatisfy { $0["publisher"]?["name"] == "Gollancz" }, "\(replies[0].text)")
        let members = try #require(try replies[1].json["results"]?.array, "\(replies[1].text)")
        #expect(members.count == 4 && members.contains { $0["title"] == "The Dispossessed" }, "\(replies[1].text)")
        #expect(try replies[2].status == 201 && replies[2].json["objectId"]?.string != nil, "\(replies[2].text)")
    }

    /// If no class needs only a name, the plan of a deletion is suggested.
    @Test func suggestedRequestsAreQuotedForTheShell() throws {
        let folder = try ServerFolder()
        let (path, sql) = (folder.path("albums.sqlite"), folder.path("albums.sql"))
        try """
        CREATE TABLE artist (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE TABLE album (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, artist_id TEXT NOT NULL REFERENCES artist (id));
        INSERT INTO artist VALUES ('a1', 'Bo'), ('a2', 'Ada''s "Five" $HOME');
        INSERT INTO album VALUES ('b1', 'One', 'a1'), ('b2', 'Two', 'a2'), ('b3', 'Three', 'a2');
        """.write(toFile: sql, atomically: false, encoding: .utf8)
        try OpenCommandTests().makeForeignFile(path, sql: sql)
        let replies = try Self.replies(path, clientKey: "it's")
        try #require(replies.count == 3)
        for reply in replies.prefix(2) {
            let albums = try reply.json["results"]?.array?.compactMap { $0["title"]?.string } ?? []
            #expect(Set(albums) == ["Two", "Three"], "\(reply.text)")
        }
        #expect(try replies[2].status == 200 && replies[2].json["isDenied"] == true, "\(replies[2].text)")
    }
}
#endif
