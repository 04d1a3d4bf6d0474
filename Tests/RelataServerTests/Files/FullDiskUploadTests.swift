#if Server && CommandLineTool && os(Linux)
import Foundation
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// A disk that is full in the middle of an upload.
struct FullDiskUploadTests {
    private static let keys = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]

    @Test(.enabled(if: SmallDisk.isAvailable, "a small disk can't be mounted here: that needs root"))
    func anUploadThatDoesNotFitIsRefusedAndLeavesNothing() async throws {
        let folder = try ServerFolder()
        let (disk, flag) = (folder.path("disk"), folder.path("runs"))
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: flag))
        let tool = try ServedTool.executable.path
        // The database is elsewhere. The server ends when the test removes the file, or after a minute.
        let (process, output) = try SmallDisk.start(
            disk,
            """
            true
            "\(tool)" serve "\(folder.path("a.sqlite"))" --port 0 --app-id app --client-key "" --master-key master \
            --files files --max-file 9M & \
            n=0
            while [ -e "\(flag)" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done
            kill $!
            wait $!
            find files -type f
            """)
        var printed = ""
        while printed.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)[^0-9]/) == nil {
            let data = output.availableData
            try #require(!data.isEmpty, "\(printed)")
            printed += String(decoding: data, as: UTF8.self)
        }
        let match = try #require(printed.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/))
        let port = try #require(Int(match.1))
        try await blocking {
            func upload(_ count: Int) throws -> ServerReplyText {
                try ServerConnection(port: port).request(
                    "POST", "/parse/files/a.bin", headers: Self.keys, body: [UInt8](repeating: 120, count: count))
            }
            let first = try upload(1000)
            #expect(first.status == 201, "\(first.text)")
            let refused = try upload(3_000_000)
            #expect(refused.status == 503 && refused.code == 1, "\(refused.text)")
            #expect(refused.text.contains("disk is full"), "\(refused.text)")
            // There is space again, because the upload left nothing.
            #expect(try upload(100_000).status == 201)
            let name = try #require(try first.json["name"]?.string)
            #expect(try ServerConnection(port: port).request("GET", "/parse/files/app/\(name)").body.count == 1000)
        }
        try FileManager.default.removeItem(atPath: flag)
        let rest = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let files = rest.split(separator: "\n").filter { $0.hasPrefix("files/") }
        #expect(files.count == 2 && !files.contains { $0.contains("/.") }, "\(rest)")
    }
}
#endif
