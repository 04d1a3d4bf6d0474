#if Server
import NIOCore
import NIOSSL
import RelataParse

/// A command to a mail server, and the promise of its reply.
struct SMTPCommand: Sendable {
    /// The bytes; empty if the server sends first.
    let bytes: ByteBuffer
    /// The TLS configuration, if TLS begins once the server agrees.
    var security: SMTPSecurity?
    /// The maximum time to wait for the reply.
    let limit: TimeAmount
    let reply: EventLoopPromise<SMTPReply>
}

/// A mail server's reply: a number, and lines of text.
struct SMTPReply: Hashable, Sendable {
    let code: Int
    let lines: [String]

    /// The reply in error messages: `550 no such user`.
    var text: String { "\(code) \(lines.joined(separator: " ").prefix(300))" }
}

/// Sends one command at a time, and reads its reply.
final class SMTPHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = SMTPCommand
    typealias OutboundOut = ByteBuffer

    private static let maximumReply = 64 * 1024

    private var buffer = ByteBuffer()
    private var lines: [String] = []
    private var waiting: SMTPCommand?
    private var timer: Scheduled<Void>?
    /// The error that ended the dialogue.
    private var failure: (any Error)?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let command = unwrapOutboundIn(data)
        if let failure { return command.reply.fail(failure) }
        guard waiting == nil else {
            return command.reply.fail(MailError("a command was sent before the reply to the last one"))
        }
        waiting = command
        let channel = context.channel
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: command.limit) { [weak self] in
            self?.fail(
                MailError("it took longer than \(command.limit.nanoseconds / 1_000_000) ms to reply", isTemporary: true)
            )
            channel.close(promise: nil)
        }
        if command.bytes.readableBytes > 0 {
            context.writeAndFlush(wrapOutboundOut(command.bytes), promise: promise)
        } else {
            promise?.succeed(())
        }
        read(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        read(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(MailError("the server closed the connection", isTemporary: true))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(MailError("the connection was closed", isTemporary: true))
    }

    private func fail(_ error: any Error) {
        if failure == nil { failure = error }
        finish { $0.fail(failure ?? error) }
    }

    private func finish(_ end: (EventLoopPromise<SMTPReply>) -> Void) {
        timer?.cancel()
        timer = nil
        guard let command = waiting else { return }
        waiting = nil
        end(command.reply)
    }

    // MARK: Replies

    private func read(_ context: ChannelHandlerContext) {
        guard buffer.readableBytes <= Self.maximumReply else {
            return refuse(context, "its reply never ends")
        }
        while let command = waiting, let line = nextLine() {
            guard let code = Int(line.prefix(3)), (200...599).contains(code), lines.count < 256 else {
                return refuse(context, "it doesn't speak SMTP: \(line.prefix(64))")
            }
            let rest = line.dropFirst(3)
            lines.append(String(rest.dropFirst()))
            if rest.first == "-" { continue }
            let reply = SMTPReply(code: code, lines: lines)
            lines = []
            if reply.code == 220, let security = command.security {
                // Bytes before TLS may come from an attacker.
                guard buffer.readableBytes == 0 else {
                    return refuse(context, "it sent unexpected data before TLS")
                }
                do {
                    try context.pipeline.syncOperations.addHandler(security.handler(), position: .first)
                } catch {
                    fail(error)
                    return context.close(promise: nil)
                }
            }
            finish { $0.succeed(reply) }
        }
    }

    private func refuse(_ context: ChannelHandlerContext, _ reason: String) {
        fail(MailError(reason))
        context.close(promise: nil)
    }

    private func nextLine() -> String? {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let count = end - buffer.readableBytesView.startIndex
        var text = buffer.readString(length: count) ?? ""
        buffer.moveReaderIndex(forwardBy: 1)
        buffer.discardReadBytes()
        if text.last == "\r" { text.removeLast() }
        // The reply appears in the log, so control characters are replaced.
        return String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}

/// A connection to a mail server.
struct SMTPConnection: Sendable {
    let channel: any Channel
    let limit: TimeAmount

    /// The server's greeting.
    func greeting() async throws -> SMTPReply { try await ask(ByteBuffer()) }

    /// Sends a line, and waits for the reply.
    func ask(_ line: String, startingTLS security: SMTPSecurity? = nil) async throws -> SMTPReply {
        try await ask(ByteBuffer(string: line + "\r\n"), startingTLS: security)
    }

    func ask(_ bytes: ByteBuffer, startingTLS security: SMTPSecurity? = nil) async throws -> SMTPReply {
        let reply = channel.eventLoop.makePromise(of: SMTPReply.self)
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenFailure { reply.fail($0) }
        channel.writeAndFlush(
            SMTPCommand(bytes: bytes, security: security, limit: limit, reply: reply), promise: written)
        reply.futureResult.whenComplete { _ in written.succeed(()) }
        return try await reply.futureResult.get()
    }

    func close() async { try? await channel.close() }
}
#endif
