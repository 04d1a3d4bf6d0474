#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// `relata open` as a process.
struct OpenCommandTests {
    /// Signs in with the token of the address that was printed.
    private func signIn(_ printed: String, port: Int) throws -> (cookie: String, token: String) {
        let token = try #require(printed.firstMatch(of: #/#token=(\w+)/#)?.output.1)
        let body = Array(#"{"key": "\#(token)"}"#.utf8)
        let reply = try ServerConnection(port: port).request("POST", "/dashboard/api/login", body: body)
        #expect(reply.status == 200)
        let cookie = try #require(reply.headers["set-cookie"]?.split(separator: ";").first)
        return (String(cookie), try #require(try reply.json["pageToken"]?.string))
    }

    private func makeForeignFile(_ path: String) throws {
        let process = Process()
        process.executableURL = try ServedTool.executable
        let sql = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Examples/Library/library.sql").standardizedFileURL.path
        process.arguments = ["make", path, sql]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func aFileIsShownAndStaysAsItIs() throws {
        let folder = try ServerFolder()
        let path = folder.path("library.sqlite")
        try makeForeignFile(path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let opened = try OpenedFile(path, [])
        let (cookie, token) = try signIn(opened.printed, port: opened.port)
        let headers = ["Cookie": cookie, "X-Relata-Page-Token": token]
        let connection = try ServerConnection(port: opened.port)
        let found = try connection.request("GET", "/dashboard/api/parse/classes/Book?limit=1", headers: headers)
        #expect(found.text.contains("The Left Hand of Darkness"))
        let refused = try connection.request("DELETE", "/dashboard/api/parse/classes/Review/1", headers: headers)
        #expect(refused.status == 403)
        #expect(opened.stop() == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["library.sqlite"])
    }

    @Test func withEditTheFileIsChanged() throws {
        let folder = try ServerFolder()
        let path = folder.path("library.sqlite")
        try makeForeignFile(path)
        let opened = try OpenedFile(path, ["--edit"])
        let (cookie, token) = try signIn(opened.printed, port: opened.port)
        let headers = ["Cookie": cookie, "X-Relata-Page-Token": token]
        let connection = try ServerConnection(port: opened.port)
        let deleted = try connection.request("DELETE", "/dashboard/api/parse/classes/Review/1", headers: headers)
        #expect(deleted.status == 200)
        let gone = try connection.request("GET", "/dashboard/api/parse/classes/Review/1", headers: headers)
        #expect(gone.status == 404)
        #expect(opened.stop() == 0)
    }

    @Test(arguments: ["missing.sqlite", "postgres://localhost/library"]) func whatCannotBeShownIsRefused(file: String)
        throws
    {
        let folder = try ServerFolder()
        let process = Process()
        process.executableURL = try ServedTool.executable
        process.arguments = ["open", file.contains("://") ? file : folder.path(file)]
        let pipe = Pipe()
        process.standardError = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus != 0)
        #expect(!text.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}

/// `relata open`, for the time of a test.
private final class OpenedFile {
    let printed: String
    let port: Int
    private let process = Process()

    init(_ path: String, _ options: [String]) throws {
        process.executableURL = try ServedTool.executable
        process.arguments = ["open", path] + options
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        printed = text
        port = try #require(text.firstMatch(of: #/127\.0\.0\.1:(\d+)\/dashboard\//#).flatMap { Int($0.output.1) })
    }

    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit { if process.isRunning { process.terminate() } }
}
#endif
