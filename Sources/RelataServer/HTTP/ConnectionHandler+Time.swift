#if Server
import NIOCore

/// The waiting times of a connection.
extension ConnectionHandler {
    func waitForBody(_ context: ChannelHandlerContext, isFirst: Bool) {
        if isFirst { bodyStart = .now() }
        wait(until: transferEnd(since: bodyStart, bytes: assembler.received), context)
    }

    func waitForTaking(_ context: ChannelHandlerContext) {
        sending?.left = untaken(context)
        wait(limits.transferTime, context)
    }

    /// The number of bytes the client must receive before it can receive others.
    func untaken(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Whether the client still receives a reply, so that it gets more time.
    private func isTaking(_ context: ChannelHandlerContext) -> Bool {
        guard let sending else { return false }
        let left = untaken(context)
        let end = transferEnd(since: sending.start, bytes: max(0, sending.size - left))
        guard left < sending.left, .now() < end else { return false }
        self.sending?.left = left
        wait(until: end, context)
        return true
    }

    /// The deadline for further bytes of a body or a reply. It grows with the transferred bytes: a client that sends a
    /// byte from time to time is disconnected, and so is one that stops after any number of bytes.
    private func transferEnd(since start: NIODeadline, bytes: Int) -> NIODeadline {
        let time = TimeAmount(limits.transferTime)
        return min(start + time + .seconds(Int64(bytes / 1024)), .now() + time)
    }

    func wait(_ time: Duration, _ context: ChannelHandlerContext) {
        wait(until: .now() + TimeAmount(time), context)
    }

    /// Sets when ``timeIsUp(_:)`` is called. There is one timer, which is only rescheduled if it would fire too late.
    func wait(until deadline: NIODeadline, _ context: ChannelHandlerContext) {
        self.deadline = deadline
        if let timer, timer.time <= deadline { return }
        timer?.task.cancel()
        setTimer(context)
    }

    private func setTimer(_ context: ChannelHandlerContext) {
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            guard let context = self.context else { return }
            if self.deadline > .now() { self.setTimer(context) } else { self.timeIsUp(context) }
        }
        timer = (task, deadline)
    }

    func timeIsUp(_ context: ChannelHandlerContext) {
        switch state {
        case .answering where isAnsweredArriving: giveUp(.init(error: .tooSlow, isHead: false), context)
        case .answering:
            let error = ServerRefusal(.timedOut, "the request took too long to answer", status: 503)
            giveUp(.init(error: error, isHead: isAnsweringHead), context)
        case .listening where isReceiving: refuse(.init(error: .tooSlow, isHead: assembler.isHead), context)
        case .blocked where isReadingRest, .lingering where isReadingRest:
            breakOff("its source took longer than \(limits.transferTime)", context)
        case .blocked, .lingering:
            if !isTaking(context) { context.close(promise: nil) }
        case .listening: context.close(promise: nil)
        case .upgraded: break
        }
    }
}
#endif
