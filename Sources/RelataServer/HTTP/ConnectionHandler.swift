#if Server
import NIOCore
import NIOHTTP1
import RelataCore

/// One connection: reads requests as they arrive, answers them one after another, and closes when it should.
///
/// Runs on the connection's event loop. Only the answering happens elsewhere.
///
/// Hummingbird's own channel (`HTTP1Channel`), with the same protocol behind it on the same threads, answered 63,000
/// small GETs a second where this one answers 84,000, and 57,000 POSTs of 1 kB where this one answers 79,000: 24 and
/// 29 % fewer (`wrk` with 64 connections on two cores, medians of six alternating rounds). On Swift's own threads, which
/// a slow statement would block, it answered 75,000 and 68,000: 10 and 14 % fewer. The 99th percentile was 2 to 3 ms
/// there, and is 4 ms here.
///
/// Hummingbird's channel has one timeout, for idle connections. It lacks these limits:
/// - headers that never end: `aClientThatNeverFinishesItsHeaderIsClosed`
/// - bodies that trickle in, or stop: `tricklingBodiesTimeOut`, `earlierBytesDoNotExtendAnIdleTimeout`
/// - replies that are read very slowly, or not at all: `clientsThatReadNoRepliesAreClosedWithoutDelayingOthers`,
///   `clientsThatStopReadingAreClosedAndTheirMemoryIsFreed`
/// - the memory of all clients: `bodiesOfManyClientsDoNotAddUpWithoutBound`,
///   `repliesToManyClientsDoNotAddUpWithoutBound`
/// - the bytes between the chunks of a body: `chunkOverheadIsLimited`
///
/// It also doesn't send `100 Continue`: `clientsThatExpectAContinueGetOne`.
final class ConnectionHandler: ChannelInboundHandler, ChannelOutboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// No request is whole yet.
        case listening
        /// A request is processed. Its number distinguishes its reply from late ones.
        case answering(Int, Task<Void, Never>?)
        /// A reply is being sent, and the client receives it slowly. A large one must be written completely: a client
        /// that does something else in the meantime mustn't keep its memory reserved.
        case blocked(untilWhole: Bool)
        /// The last reply was sent: the client gets time to receive it.
        case lingering
        /// The connection is a WebSocket from now on, and another's.
        case upgraded
    }

    /// A reply that is being sent.
    struct Sending {
        let size: Int
        let start = NIODeadline.now()
        /// The number of bytes left to send at the last check.
        var left = Int.max
    }

    /// The rest of the reply whose first bytes were written.
    struct ReplyRest {
        let bytes: ByteStream
        /// The number of bytes.
        var left: Int
        /// The id of the request, for the log.
        let id: String
        /// Reads the next bytes.
        var task: Task<Void, Never>?
    }

    let responder: RequestResponder
    let limits: RelataServer.Limits
    /// Succeeds when the connection is closed and no request is processed for it any more.
    private let finished: EventLoopPromise<Void>
    var state = State.listening
    var assembler: RequestAssembler
    /// The first line of the request that arrives.
    private var line = LineWatch()
    /// Requests that arrived while another was answered.
    var waiting = CircularBuffer<ReceivedRequest>(initialCapacity: 0)
    /// The error of the request after those.
    var refusal: RequestAssembler.Refusal?
    /// Whether the client of the arriving request waits for `100 Continue`.
    var isAskAwaited = false
    /// Whether the request that is worked on wants only the head of its reply.
    var isAnsweringHead = false
    /// The body of that request, if it is answered while its body arrives.
    var answeredPipe: BodyPipe?
    /// No further request is accepted: the connection is closed after the current ones.
    private var isEnding = false
    private var isInputClosed = false
    private var isReadHeld = false
    private var requestCount = 0
    private var unfinishedCount = 0
    /// The time since which the handler waits for the arriving body.
    var bodyStart = NIODeadline.now()
    /// The reply to send.
    var sending: Sending?
    /// The rest of the reply after its written part.
    var rest: ReplyRest?
    var context: ChannelHandlerContext?
    var deadline = NIODeadline.distantFuture
    var timer: (task: Scheduled<Void>, time: NIODeadline)?

    init(_ responder: RequestResponder, limits: RelataServer.Limits, finished: EventLoopPromise<Void>) {
        self.responder = responder
        self.limits = limits
        self.finished = finished
        assembler = RequestAssembler(limits: limits, fields: responder.fields, budget: responder.bodies) {
            (method, target, headers) throws(ServerRefusal) in try responder.admission(method, target, headers)
        }
    }

    // MARK: Opening and closing

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        responder.metrics.connectionOpened()
        wait(limits.transferTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.task.cancel()
        timer = nil
        rest?.task?.cancel()
        rest = nil
        assembler.pipe?.fail()
        leaveBody()
        if case .upgraded = state { return }
        if case .answering(_, let task) = state { task?.cancel() }
        responder.metrics.connectionClosed()
        if unfinishedCount == 0 { finished.succeed() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            assembler.pipe?.fail()
            end(context)
        case is ChannelShouldQuiesceEvent:
            // Requests that aren't processed yet can be sent again elsewhere.
            waiting.removeAll()
            end(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        isEnding = true
        switch state {
        case .listening where !isReceiving:
            if untaken(context) > 0 { linger(context) } else { context.close(promise: nil) }
        case .lingering where sending == nil && rest == nil: context.close(promise: nil)
        case .listening, .answering, .blocked, .lingering, .upgraded: break
        }
    }

    /// Whether the rest of a request may still come.
    var isReceiving: Bool { assembler.isReceiving && !isInputClosed }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .lingering = state { return }
        let part = unwrapInboundIn(data)
        if case .end = part { line = LineWatch() }
        take(assembler.receive(part), context)
    }

    /// Checks received bytes before they are parsed, for errors that the parser doesn't name.
    func arrives(_ bytes: ByteBuffer) {
        if !assembler.isReceiving { line.read(bytes.readableBytesView) }
    }

    /// Counts received bytes, once they are parsed.
    func arrived(_ bytes: ByteBuffer) {
        guard let context else { return }
        if case .lingering = state { return }
        if case .refuse(let refusal) = assembler.arrived(bytes) { take(.refuse(refusal), context) }
    }

    private func take(_ step: RequestAssembler.Step, _ context: ChannelHandlerContext) {
        guard case .listening = state else {
            switch step {
            case .complete(let request):
                isAskAwaited = false
                if isEnding { request.pipe?.drop() } else { waiting.append(request) }
            case .refuse(let refused): refuseLater(refused, context)
            // `100 Continue` is sent in order: it mustn't come between other replies.
            case .askForBody: isAskAwaited = true
            case .wait: bodyGoesOn(context)
            }
            return
        }
        switch step {
        case .complete(let request): answer(request, context)
        case .refuse(let refusal): refuse(refusal, context)
        case .askForBody:
            askForBody(context)
            waitForBody(context, isFirst: true)
        case .wait: waitForBody(context, isFirst: assembler.received == 0)
        }
    }

    func askForBody(_ context: ChannelHandlerContext) {
        isAskAwaited = false
        let question = context.channel.allocator.buffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(question), promise: nil)
    }

    /// Nothing is read while requests wait: a client that sends more than it takes replies is held back.
    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { isReadHeld = true }
    }

    /// Whether more may be read. While a body waits to be taken, it isn't.
    private var isReading: Bool { waiting.isEmpty && assembler.pipe?.isFull != true }

    func readOn(_ context: ChannelHandlerContext) {
        guard isReadHeld, isReading else { return }
        isReadHeld = false
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            context.close(promise: nil)
            return
        }
        let refused = ServerRefusal(error, longerThan: line.exceeded(limits.requestLineSize))
        switch state {
        case .listening where isInputClosed: context.close(promise: nil)
        case .listening: refuse(.init(error: refused), context)
        case .answering, .blocked:
            assembler.pipe?.fail()
            refuseLater(.init(error: refused), context)
        case .lingering, .upgraded: break
        }
    }

    // MARK: Answering

    private func answer(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        requestCount += 1
        isAnsweringHead = request.method == "HEAD"
        unfinishedCount += 1
        let (loop, number, peer) = (context.eventLoop, requestCount, context.channel.remoteAddress)
        let bound = NIOLoopBound(self, eventLoop: loop)
        if let reply = responder.answerAtOnce(request, from: peer) {
            // Not recursively: many such requests may follow each other.
            state = .answering(number, nil)
            loop.execute { bound.value.send(reply, number: number) }
            return
        }
        answeredPipe = request.pipe
        if let pipe = request.pipe {
            isAskAwaited = request.asksForBody
            pipe.whenWanted { loop.execute { bound.value.bodyIsWanted() } }
        }
        let task = Task(executorPreference: responder.executor) { [responder] in
            let reply = await responder.answer(request, from: peer)
            loop.execute { bound.value.send(reply, number: number) }
        }
        state = .answering(number, task)
        if isAnsweredArriving { waitForBody(context, isFirst: true) } else { wait(limits.requestTime, context) }
    }

    private func send(_ reply: EncodedReply, number: Int) {
        unfinishedCount -= 1
        guard let context else {
            if unfinishedCount == 0 { finished.succeed() }
            return
        }
        // The client may have got a timeout already.
        guard case .answering(number, _) = state else { return }
        let isBodyLeft = isAnsweredArriving
        if answeredPipe != nil { isAskAwaited = false }
        leaveBody()
        if let upgrade = reply.upgrade, !isInputClosed {
            state = .upgraded
            readOn(context)
            upgrade.begin(inPlaceOf: self, on: context.channel, isStopping: isEnding, finished: finished)
            return
        }
        let isLast = isEnding && waiting.isEmpty && refusal == nil && !isReceiving
        guard reply.isKeptAlive, !isLast, !isBodyLeft else {
            sendLast(reply, context)
            return
        }
        let isLarge = reply.share != nil || reply.stream != nil
        state = .blocked(untilWhole: isLarge)
        write(reply, isAwaited: isLarge, context)
        // Writing may have ended by now, and the next request may be in progress.
        switch state {
        case .blocked(untilWhole: false) where context.channel.isWritable: next(context)
        case .blocked: waitForTaking(context)
        case .listening, .answering, .lingering, .upgraded: break
        }
    }

    private func write(_ reply: EncodedReply, isAwaited: Bool, _ context: ChannelHandlerContext) {
        sending = Sending(size: reply.bytes.readableBytes)
        rest = reply.stream.map { ReplyRest(bytes: $0.bytes, left: $0.size, id: reply.id) }
        guard isAwaited else {
            context.writeAndFlush(wrapOutboundOut(reply.bytes), promise: nil)
            return
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(reply.bytes)).whenComplete { [share = reply.share] result in
            withExtendedLifetime(share) {}
            let handler = bound.value
            if case .success = result, let context = handler.context { handler.replyWasWritten(context) }
        }
    }

    func replyWasWritten(_ context: ChannelHandlerContext) {
        sending = nil
        if rest != nil {
            readRest(context)
            return
        }
        switch state {
        case .blocked: next(context)
        case .lingering: linger(context)
        case .listening, .answering, .upgraded: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if case .blocked(untilWhole: false) = state, context.channel.isWritable { next(context) }
        context.fireChannelWritabilityChanged()
    }

    /// Continues after a reply.
    private func next(_ context: ChannelHandlerContext) {
        state = .listening
        sending = nil
        if let request = waiting.popFirst() {
            answer(request, context)
        } else if let refusal {
            refuse(refusal, context)
        } else if isReceiving {
            if isAskAwaited { askForBody(context) }
            waitForBody(context, isFirst: true)
        } else if isEnding {
            linger(context)
        } else {
            wait(limits.idleTime, context)
        }
        readOn(context)
    }

    // MARK: Ending

    func refuse(_ refusal: RequestAssembler.Refusal, _ context: ChannelHandlerContext) {
        sendLast(responder.refuse(refusal), context)
    }

    private func sendLast(_ reply: EncodedReply, _ context: ChannelHandlerContext) {
        state = .lingering
        waiting.removeAll()
        write(reply, isAwaited: true, context)
        if sending != nil { waitForTaking(context) }
        readOn(context)
    }

    /// Closes the connection, but not at once: a client that is still sending would lose the reply.
    private func linger(_ context: ChannelHandlerContext) {
        state = .lingering
        if untaken(context) > 0 {
            // Replies before the last weren't flushed one by one: this write follows them.
            write(EncodedReply(bytes: ByteBuffer(), isKeptAlive: false), isAwaited: true, context)
            if sending != nil { waitForTaking(context) }
        } else if isInputClosed {
            context.close(promise: nil)
        } else {
            context.close(mode: .output, promise: nil)
            wait(.seconds(1), context)
        }
    }
}
#endif
