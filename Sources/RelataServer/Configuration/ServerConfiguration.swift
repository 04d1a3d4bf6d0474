#if Server
import Logging
import RelataParse

extension RelataServer {
    /// The address on which a server listens, the protocol it serves, its limits and its log.
    public struct Configuration: Sendable {
        /// The address to listen on. Only this machine reaches the default.
        public var host = "127.0.0.1"
        /// The port to listen on; 0 for any that is free.
        public var port = 1337
        /// The path of the protocol; `/` for none: then it gets all paths except those of the status pages.
        public var mount = "/parse"
        /// Static files, by their paths: `/` or `/dashboard`. Of the protocol and the files that match a path, the one
        /// with the longest path answers.
        public var files: [String: StaticFiles] = [:]
        /// The pages at `/dashboard` that show the store and change it; `nil`, the default, for none. They work for
        /// stores that Parse's protocol serves, and need the master key.
        public var dashboard: Dashboard?
        /// The certificate and key of HTTPS; `nil` for HTTP.
        public var tls: TLSFiles?
        /// The limits on the size and duration of requests.
        public var limits = Limits()
        /// The web pages that may call the server from a browser, such as `https://example.com`; `*` for all.
        public var allowedOrigins = ["*"]
        /// The level of the line that is logged for each request.
        public var requestLogLevel = Logger.Level.debug
        /// The clients that may read `/metrics`.
        public var metricsAudience = MetricsAudience.loopback
        /// The proxies whose `X-Forwarded-For` names the addresses of clients. None by default, because clients can set
        /// that field, too.
        public var trustedProxies = AddressRanges.nowhere
        /// The time that running requests may take to end when the server stops.
        public var stopTimeout = Duration.seconds(10)
        /// Whether the server stops at SIGINT and SIGTERM. Turn it off if the app handles these signals.
        public var stopsOnSignals = true

        /// The defaults.
        public init() {}
    }

    /// The files of HTTPS, in PEM format.
    public struct TLSFiles: Hashable, Sendable {
        /// The server's certificate, followed by the certificates of its issuers.
        public var certificate: String
        /// The certificate's private key.
        public var key: String

        /// The files of a certificate and of its key.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The limits on the size and duration of requests. Beyond them, clients get an error, or their connection is
    /// closed.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of bytes of a body, also after decompression.
        public var bodySize = 20 * 1024 * 1024
        /// The bytes of memory for all bodies that are received or processed, which may be twice the received bytes.
        /// Beyond it, large bodies are refused for the moment. Replies that aren't sent yet have the same limit, and
        /// files a quarter of it.
        public var totalBodySize = 512 * 1024 * 1024
        /// The bytes of an address with its parameters.
        public var requestLineSize = 64 * 1024
        /// The bytes of all header fields.
        public var headerSize = 32 * 1024
        /// The number of header fields a request may have.
        public var headerCount = 128
        /// The bytes of a message over a WebSocket. Each connection may hold some of them.
        public var messageSize = 64 * 1024
        /// The maximum number of open connections. Further ones wait until others are closed.
        public var connections = 16384
        /// The time that a connection stays open between two requests. Clients of WebSockets are pinged at the same
        /// interval.
        public var idleTime = Duration.seconds(60)
        /// The time that a request may take to arrive, and that a reply may take to be sent. Bodies and replies get one
        /// more second for each kilobyte transferred, unless the transfer stops for that long.
        public var transferTime = Duration.seconds(30)
        /// The time that a request may be processed.
        public var requestTime = Duration.seconds(60)

        /// The defaults.
        public init() {}
    }

    /// The clients that may read `/metrics`.
    public enum MetricsAudience: String, Hashable, Sendable, CaseIterable {
        /// Programs on the same machine.
        case loopback
        /// Everyone who reaches the server.
        case everyone
        /// No client.
        case nobody
    }
}
#endif
