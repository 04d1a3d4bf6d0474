#if Server
import NIOSSL

/// TLS of connections that the server opens, such as to a mail server or a webhook.
enum ClientTLS {
    /// The TLS settings of such a connection.
    ///
    /// - Parameter certificates: A PEM file with the trusted certificates; `nil` for those that the system trusts.
    static func context(trusting certificates: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let certificates { configuration.trustRoots = .file(certificates) }
        return try NIOSSLContext(configuration: configuration)
    }
}
#endif
