#if PostgreSQL
import Foundation
import Testing

/// A server that takes connections and says nothing.
final class SilentServer: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = Self.socket()
        var address = Self.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    var url: String { "postgresql://postgres@127.0.0.1:\(port)/postgres" }

    private static func socket() -> Int32 {
        #if canImport(Darwin)
        Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #else
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// The next connection.
    func accept() async -> Int32 {
        let descriptor = descriptor
        return (try? await Thread.run { Self.accepted(descriptor) }.value) ?? -1
    }

    private static func accepted(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.accept(descriptor, nil, nil)
        #else
        Glibc.accept(descriptor, nil, nil)
        #endif
    }

    /// Connects, so that a test that waits for a connection gets one.
    func knock() {
        let knocking = Self.socket()
        var address = Self.address(port: port)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(knocking, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(knocking)
    }

    /// Stops accepting connections.
    func stop() { close(descriptor) }
}
#endif
