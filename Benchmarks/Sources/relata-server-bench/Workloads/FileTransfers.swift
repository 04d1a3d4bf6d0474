#if Server
import BenchmarkReport
import Foundation

// Uploading and downloading a large file, by one client; compared with routes of Hummingbird that write and read a
// file.

extension ServerWorkload {
    static let files: [ServerWorkload] = [fileUpload, fileDownload, fileMemory]

    private static let fileUpload = ServerWorkload(name: "file-upload", targets: [.rate(0.6)]) { bench in
        let servers = try FileServers(bench)
        let medians = try await bench.medians([
            { try bench.time { _ = try servers.upload() } }, { try bench.time { try servers.uploadToBare() } },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    private static let fileDownload = ServerWorkload(name: "file-download", targets: [.rate(0.6)]) { bench in
        let servers = try FileServers(bench)
        let name = try servers.upload()
        try servers.uploadToBare()
        let medians = try await bench.medians([
            { try bench.time { try servers.download(name) } }, { try bench.time { try servers.downloadFromBare() } },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    /// The server's peak memory while a large file is uploaded and downloaded.
    private static let fileMemory = ServerWorkload(name: "file-memory", targets: [.below(150)]) { bench in
        let servers = try FileServers(bench)
        try servers.download(servers.upload())
        return Outcome(unit: .megabytes, ours: try servers.ours.peakMegabytes())
    }
}

/// Our server with a folder for files, and a bare one.
private final class FileServers: Sendable {
    let ours: ServerProcess
    private let bare: ServerProcess
    private let transfer: FileTransfer
    private let folder: String

    init(_ bench: ServerBench) throws {
        folder = try bench.directory.file("files")
        ours = try .child("relata", bench.copyOfLibrary("files.sqlite"), folder)
        bare = try .child("bare-files", bench.directory.file("bare.file"))
        transfer = FileTransfer(size: bench.options.isQuick ? 1 << 24 : 1 << 30)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// - Returns: The name of the file.
    func upload() throws -> String {
        struct Reply: Decodable { let name: String }
        let headers = SampleLibrary.headers.merging(["X-Parse-Master-Key": "master"]) { $1 }
        let reply = try transfer.upload(to: "/parse/files/large.bin", headers, port: ours.port)
        return try JSONDecoder().decode(Reply.self, from: Data(reply)).name
    }

    func download(_ name: String) throws {
        try transfer.download(from: "/parse/files/\(SampleLibrary.applicationID)/\(name)", port: ours.port)
    }

    func uploadToBare() throws { _ = try transfer.upload(to: "/file", [:], port: bare.port) }

    func downloadFromBare() throws { try transfer.download(from: "/file", port: bare.port) }
}

extension ServerBench {
    /// Milliseconds of a call.
    fileprivate func time(_ call: () throws -> Void) throws -> Double {
        let start = Clock.now
        try call()
        return (Clock.now - start) * 1000
    }
}
#endif
