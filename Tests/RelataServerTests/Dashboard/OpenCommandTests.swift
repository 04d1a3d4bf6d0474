#if Server && CommandLineTool
import Foundation
import PostgresCluster
import RelataCore
import RelataParse
import ServerClient
import Testing

#if PostgreSQL
import RelataPostgres
#endif

@testable import RelataServer

/// `relata open` as a process.
struct OpenCommandTests {
    /// Signs in with the token in the printed address.
    private func signIn(_ printed: String, port: Int) throws -> (cookie: String, token: String) {
        let token = try #require(printed.firstMatch(of: #/#token=(\w+)/#)?.output.1)
        let body = Array(#"{"key": "\#(token)"}"#.utf8)
        let reply = try ServerConnection(port: port).request("POST", "/dashboard/api/login", body: body)
        #expect(reply.status == 200)
        let cookie = try #require(reply.headers["set-cookie"]?.split(separator: ";").first)
        return (String(cookie), try #require(try reply.json["pageToken"]?.string))
    }

    /// Makes a file as another program would: by a file of SQL, by default the sample library's.
    func makeForeignFile(_ path: String, sql: String? = nil) throws {
        let process = Process()
        process.executableURL = try ServedTool.executable
        let library = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Examples/Library/library.sql").standardizedFileURL.path
        process.arguments = ["make", path, sql ?? library]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func aFileIsShownAndNotChanged() throws {
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

    @Test func theOptionEditAllowsChanges() throws {
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

    #if PostgreSQL
    @Test(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
    func aDatabaseOfAnotherProgramIsShownAndNotChanged() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let opened = try OpenedFile(database.url, [])
        let (cookie, token) = try signIn(opened.printed, port: opened.port)
        let headers = ["Cookie": cookie, "X-Relata-Page-Token": token]
        let connection = try ServerConnection(port: opened.port)
        func get(_ path: String) throws -> JSONValue {
            let reply = try connection.request("GET", "/dashboard/api" + path, headers: headers)
            #expect(reply.status == 200, "\(path): \(reply.text)")
            return try reply.json
        }
        let names = try get("/classes")["results"]?.array?.compactMap { $0["className"]?.string }
        #expect(names?.contains("person") == true && names?.contains("sales.orders") == true, "\(names ?? [])")
        let people = try get("/parse/classes/person?order=id&include=boss")["results"]?.array
        #expect(people?.map { $0["name"] } == ["Ada", "Bob", "Cy"] && people?.last?["boss"]?["name"] == "Ada")
        #expect(try get("/parse/classes/sales.orders?count=1&limit=0")["count"] == 3)
        // With a function that the database doesn't have.
        let found = try get("/parse/classes/person?predicate=name%20CONTAINS%5Bcd%5D%20%22%C3%81D%22")["results"]?.array
        #expect(found?.count == 1)
        let refused = try connection.request("DELETE", "/dashboard/api/parse/classes/person/1", headers: headers)
        #expect(refused.status == 403)
        #expect(opened.stop() == 0)
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        let made = "SELECT count(*) FROM pg_class WHERE relname LIKE 'relata%'"
        #expect(try session.execute(SQLStatement(made)).values().first?.first == 0)
    }
    #endif

    @Test(arguments: [["missing.sqlite"], ["--edit", "postgres://localhost/library"]])
    func filesThatCannotBeShownAreRefused(arguments: [String]) throws {
        let folder = try ServerFolder()
        let process = Process()
        process.executableURL = try ServedTool.executable
        process.arguments = ["open"] + arguments.map { $0.hasSuffix(".sqlite") ? folder.path($0) : $0 }
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

/// A running `relata open`.
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
