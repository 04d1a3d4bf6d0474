#if Server
import NIOSSL

/// TLS of connections that the server opens itself: to a mail server, or for the keys of a provider.
enum ClientTLS {
    /// What such a connection trusts.
    ///
    /// - Parameter certificates: A PEM file with the certificates that vouch for the other side; `nil` for those that the
    ///   system trusts.
    static func context(trusting certificates: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let certificates { configuration.trustRoots = .file(certificates) }
        return try NIOSSLContext(configuration: configuration)
    }
}
#endif
