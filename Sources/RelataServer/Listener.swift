#if Server
import Foundation
import Logging
import NIOCore
import RelataCore
import ServiceLifecycle

/// Hummingbird's server as a service: it announces a shutdown in its replies at once, and explains why it can't listen.
struct Listener: Service {
    let service: any Service
    let responder: RequestResponder
    let configuration: RelataServer.Configuration

    func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await service.run()
            } onGracefulShutdown: {
                responder.stop()
            }
        } catch let error as IOError {
            throw Self.explained(error, configuration)
        } catch is SocketAddressError.UnknownHost {
            throw RelataError.invalidUse("\(configuration.host) isn't an address of this machine: choose another host")
        }
    }

    private static func explained(_ error: IOError, _ configuration: RelataServer.Configuration) -> RelataError {
        let (host, port) = (configuration.host, configuration.port)
        switch error.errnoCode {
        case EADDRINUSE:
            return .invalidUse(
                "port \(port) of \(host) is in use: stop the program that uses it, or choose another port")
        case EACCES: return .invalidUse("port \(port) of \(host) is reserved for the system: choose one above 1023")
        case EADDRNOTAVAIL: return .invalidUse("\(host) isn't an address of this machine: choose another host")
        default: return .invalidUse("port \(port) of \(host) can't be listened on: \(error)")
        }
    }
}

/// Keeps the server running when a connection can't be accepted: otherwise the first failure would stop it.
final class AcceptErrorHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel

    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else {
            context.fireErrorCaught(error)
            return
        }
        switch error.errnoCode {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED:
            logger.debug("a connection couldn't be accepted", metadata: ["error": "\(error)"])
        default: context.fireErrorCaught(error)
        }
    }
}

/// The limit on open files and connections of the process.
enum FileDescriptors {
    /// The files of the store, the log and the runtime, besides connections.
    private static let reserve = 192

    #if canImport(Glibc)
    private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let files = RLIMIT_NOFILE
    #endif

    /// Raises the limit as far as possible, and returns the possible number of connections.
    static func connections(wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return min(wanted, 256) }
        let needed = rlim_t(wanted + reserve)
        if limit.rlim_cur < needed {
            var raised = limit
            raised.rlim_cur = min(needed, limit.rlim_max)
            if setrlimit(files, &raised) == 0 { limit = raised }
        }
        return limit.rlim_cur >= needed ? wanted : max(16, Int(limit.rlim_cur) - reserve)
    }
}
#endif
