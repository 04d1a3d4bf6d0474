#if Server
import BenchmarkReport
import Foundation

/// Sends a large file to a server and back, a piece at a time.
struct FileTransfer: Sendable {
    /// The number of bytes the file has.
    let size: Int
    private let piece = (0..<262_144).map { _ in UInt8.random(in: 0...255) }

    /// Sends the file.
    ///
    /// - Returns: The body of the reply.
    func upload(to path: String, _ headers: [String: String], port: Int) throws -> [UInt8] {
        let connection = try ServerConnection(port: port)
        let lines = head("POST", path, headers) + ["Content-Length: \(size)", "Content-Type: application/octet-stream"]
        try connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        for start in stride(from: 0, to: size, by: piece.count) {
            try connection.send(size - start < piece.count ? Array(piece.prefix(size - start)) : piece)
        }
        while true {
            if let reply = try connection.receive() { return reply }
        }
    }

    /// Downloads the file, and throws if it is incomplete.
    func download(from path: String, port: Int) throws {
        let connection = try ServerConnection(port: port, bufferSize: 1 << 20)
        try connection.send(Array((head("GET", path, [:]).joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var first: [UInt8] = []
        while true {
            first += try connection.arrived()
            guard let end = ServerConnection.endOfHead(first) else { continue }
            let length = try ServerConnection.length(first[..<end])
            guard first.starts(with: "HTTP/1.1 200".utf8), length == size else {
                throw Failure("no such file: \(String(decoding: first.prefix(1000), as: UTF8.self))")
            }
            var rest = size - (first.count - end)
            while rest > 0 { rest -= try connection.arrived().count }
            return
        }
    }

    private func head(_ method: String, _ path: String, _ headers: [String: String]) -> [String] {
        ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
    }
}
#endif
