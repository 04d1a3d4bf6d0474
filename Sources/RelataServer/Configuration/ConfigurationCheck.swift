#if Server
import Foundation
import NIOSSL
import RelataCore
import RelataEngine

extension RelataServer.Configuration {
    /// - Throws: `RelataError` that names the invalid setting.
    func check() throws(RelataError) {
        guard (0...65535).contains(port) else {
            throw .invalidUse("port \(port) doesn't exist: choose one up to 65535")
        }
        guard !host.isEmpty else { throw .invalidUse("the host is empty: use 127.0.0.1, or 0.0.0.0 for all networks") }
        guard Self.isPath(mount) else { throw .invalidUse("the mount \(mount) isn't a path such as /parse") }
        for path in files.keys.sorted() {
            guard Self.isPath(path), !StatusPages.paths.contains(Substring(Mount(path).path)) else {
                throw .invalidUse("files can't be below \(path): choose a path such as /, or /dashboard")
            }
            guard Mount(path).path != Mount(mount).path else {
                throw .invalidUse("files can't be below \(path), where the protocol is: choose another mount, or path")
            }
        }
        for origin in allowedOrigins where origin.isEmpty || origin.contains(where: { $0.isWhitespace || !$0.isASCII })
        {
            throw .invalidUse("the origin \(origin) isn't one such as https://example.com, or *")
        }
        guard stopTimeout >= .zero, stopTimeout <= .seconds(86_400) else {
            throw .invalidUse("the time to stop is \(stopTimeout): it must be at least 0, and at most a day")
        }
        if let audit = dashboard?.auditFile { try AuditLog.check(audit) }
        try limits.check()
    }

    private static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && path.allSatisfy(isPath) && !path.contains("//")
    }

    private static func isPath(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "/-_.~".contains(character))
    }
}

extension RelataServer.Limits {
    /// Buffers and zlib count with 32 bits; this leaves some margin.
    static let maximumSize = 2 << 30
    /// More than the number of ports that one client machine has for a port of the server; far more than a process may
    /// open.
    fileprivate static let maximumConnections = 1 << 20

    /// The memory for all bodies. It comes in powers of two: one body of the largest size always fits, also beside its
    /// compressed form.
    var bodyMemory: Int {
        // Received bytes are read in pieces of up to 64 KB.
        let size = max(bodySize, 64 * 1024)
        return max(totalBodySize, 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount) + bodySize)
    }

    /// The memory for all replies that aren't sent yet, with the size of the largest one.
    func replyMemory(largest: Int) -> Int { max(totalBodySize, Self.memory(of: largest)) }

    /// The memory for files that clients are still to take: a quarter of the other replies'.
    func fileMemory(largest: Int) -> Int { max(totalBodySize / 4, Self.memory(of: largest)) }

    /// Before the body comes the head.
    private static func memory(of size: Int) -> Int { min(max(size, 0), maximumSize) + 64 * 1024 }

    fileprivate func check() throws(RelataError) {
        let numbers = [
            ("bodySize", bodySize), ("requestLineSize", requestLineSize), ("headerSize", headerSize),
            ("headerCount", headerCount), ("messageSize", messageSize), ("connections", connections),
        ]
        for (name, number) in numbers where number <= 0 {
            throw .invalidUse("the limit \(name) is \(number): it must be above 0")
        }
        guard connections <= Self.maximumConnections else {
            throw .invalidUse("the limit connections is \(connections): it must be at most \(Self.maximumConnections)")
        }
        for (name, size) in [
            ("bodySize", bodySize), ("requestLineSize", requestLineSize), ("headerSize", headerSize),
            ("messageSize", messageSize),
        ] where size > Self.maximumSize {
            throw .invalidUse("the limit \(name) is \(size): it must be at most \(Self.maximumSize)")
        }
        guard totalBodySize >= bodySize else {
            throw .invalidUse(
                "the limit totalBodySize is \(totalBodySize): it must be at least bodySize, which is \(bodySize)")
        }
        let times = [("idleTime", idleTime), ("transferTime", transferTime), ("requestTime", requestTime)]
        for (name, time) in times where time <= .zero || time > .seconds(86_400) {
            throw .invalidUse("the limit \(name) is \(time): it must be above 0, and at most a day")
        }
    }
}

extension RelataServer.TLSFiles {
    /// Reads the files.
    ///
    /// - Throws: `RelataError` that names the file that can't be read, or that belongs to another.
    func read() throws(RelataError) -> TLSConfiguration {
        try RegularFile.check(certificate, for: "a certificate")
        try RegularFile.check(key, for: "a private key")
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw .fileAccess(path: certificate, "contains no certificate in PEM format: \(error)")
        }
        guard !certificates.isEmpty else {
            throw .fileAccess(path: certificate, "contains no certificate in PEM format")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw .fileAccess(path: key, "contains no private key in PEM format: \(error)")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        // Earlier versions are broken, and still the default.
        configuration.minimumTLSVersion = .tlsv12
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .fileAccess(path: key, "isn't the key of the certificate in \(certificate): \(error)")
        }
        return configuration
    }
}
#endif
