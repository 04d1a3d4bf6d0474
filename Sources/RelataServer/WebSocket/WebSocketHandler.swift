#if Server
import NIOCore
import NIOWebSocket

/// Converts between NIO's frames and the messages of a session: answers pings, pings the client, and closes the
/// connection properly.
///
/// Belongs to the connection's event loop.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketMessage
    typealias OutboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketFrame

    /// Closes the connection, with a code for the client.
    struct Closing: Sendable {
        let code: WebSocketErrorCode
    }

    /// The time between two pings. The client has the same time to answer, so one that receives nothing is detected too.
    private let pingTime: TimeAmount
    private var isPongAwaited = false
    private var isClosing = false
    /// Whether reading is paused because the session receives no messages.
    private var isReadHeld = false
    private var timer: Scheduled<Void>?

    init(pingTime: Duration) { self.pingTime = TimeAmount(pingTime) }

    func handlerAdded(context: ChannelHandlerContext) { setTimer(pingTime, context) }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard !isClosing else {
            // The client has sent its close frame as well.
            if frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
        switch frame.opcode {
        case .text:
            guard let text = String(validating: frame.unmaskedData.readableBytesView, as: UTF8.self) else {
                close(.dataInconsistentWithMessage, context)
                return
            }
            context.fireChannelRead(wrapInboundOut(.text(text)))
        case .binary: context.fireChannelRead(wrapInboundOut(.binary(Array(frame.unmaskedData.readableBytesView))))
        case .ping:
            // Only the last of many pings must be answered; a client that receives nothing gets no answers.
            guard context.channel.isWritable else { return }
            send(.pong, frame.unmaskedData, context)
        case .pong: isPongAwaited = false
        case .connectionClose:
            close(WebSocketErrorCode(answering: frame.unmaskedData), context)
            context.close(promise: nil)
        default: close(.protocolError, context)
        }
    }

    func read(context: ChannelHandlerContext) {
        isReadHeld = false
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReadHeld = true
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            close(.messageTooLarge, context)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is WebSocketFrameCheck.BrokenFrame:
            close(.protocolError, context)
        default: context.close(promise: nil)
        }
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let frame =
            switch unwrapOutboundIn(data) {
            case .text(let text): WebSocketFrame(fin: true, opcode: .text, data: Self.content(text.utf8, context))
            case .binary(let bytes): WebSocketFrame(fin: true, opcode: .binary, data: Self.content(bytes, context))
            }
        context.write(wrapOutboundOut(frame), promise: promise)
    }

    /// A message's bytes, with room for the frame's header before them: then both are one piece for the socket.
    private static func content(_ bytes: some Collection<UInt8>, _ context: ChannelHandlerContext) -> ByteBuffer {
        var buffer = context.channel.allocator.buffer(capacity: headerSize + bytes.count)
        buffer.writeRepeatingByte(0, count: headerSize)
        buffer.moveReaderIndex(to: headerSize)
        buffer.writeBytes(bytes)
        return buffer
    }

    /// The size of the longest header without a mask.
    private static let headerSize = 10

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
    }

    // MARK: Closing

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: close(.goingAway, context)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let closing = event as? Closing else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        close(closing.code, context)
        promise?.succeed()
    }

    /// Sends a close frame, and waits a moment for the client's: if the connection were closed while it is still
    /// sending, it would lose sent messages.
    private func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        send(.connectionClose, data, context)
        setTimer(.seconds(1), context)
    }

    // MARK: Time

    private func setTimer(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.timeIsUp(context) }
    }

    private func timeIsUp(_ context: ChannelHandlerContext) {
        // A busy session leaves the answer unread; that isn't the client's fault, unless it doesn't receive anything
        // either.
        let isExcused = isReadHeld && context.channel.isWritable
        guard !isClosing, !isPongAwaited || isExcused else {
            context.close(promise: nil)
            return
        }
        if !isPongAwaited { send(.ping, ByteBuffer(), context) }
        isPongAwaited = true
        setTimer(pingTime, context)
    }
}

extension WebSocketErrorCode {
    /// The code that answers a client's close frame: the client's own, unless the frame breaks the rules (RFC 6455,
    /// 5.5.1 and 7.4).
    fileprivate init(answering frame: ByteBuffer) {
        var rest = frame
        guard rest.readableBytes > 0 else {
            self = .normalClosure
            return
        }
        guard let code = rest.readWebSocketErrorCode(), code.maySend else {
            self = .protocolError
            return
        }
        let reason = String(validating: rest.readableBytesView, as: UTF8.self)
        self = reason == nil ? .dataInconsistentWithMessage : code
    }

    /// Whether a close frame may contain the code: one that the protocol or its registry defines, or a library's or an
    /// app's own. 1004, 1005, 1006 and 1015 are reserved.
    private var maySend: Bool {
        switch UInt16(webSocketErrorCode: self) {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// Checks frames before they are assembled: clients must mask them, and extensions aren't supported.
final class WebSocketFrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    struct BrokenFrame: Error {}

    private var isBroken = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        isBroken = isBroken || frame.maskKey == nil || frame.rsv1 || frame.rsv2 || frame.rsv3
        if isBroken { context.fireErrorCaught(BrokenFrame()) } else { context.fireChannelRead(data) }
    }
}
#endif
