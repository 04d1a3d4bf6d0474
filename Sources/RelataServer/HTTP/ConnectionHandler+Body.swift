#if Server
import NIOCore

/// Requests that are answered while their bodies arrive.
extension ConnectionHandler {
    /// Refuses received bytes while a request is answered: of that request itself, or of one after it.
    func refuseLater(_ refused: RequestAssembler.Refusal, _ context: ChannelHandlerContext) {
        if isAnsweredArriving {
            giveUp(refused, context)
            return
        }
        if waiting.last?.pipe?.isWhole == false { waiting.removeLast() }
        refusal = refused
    }

    /// Whether the body of the request that is answered is still arriving.
    var isAnsweredArriving: Bool { answeredPipe?.isWhole == false }

    /// Waits for the rest of the body of the request that is answered, or, after all of it, for the reply.
    func bodyGoesOn(_ context: ChannelHandlerContext) {
        guard answeredPipe != nil, case .answering = state else { return }
        if isAnsweredArriving { waitForBody(context, isFirst: false) } else { wait(limits.requestTime, context) }
    }

    /// The responder reads more of the body.
    func bodyIsWanted() {
        guard let context, answeredPipe != nil else { return }
        if isAskAwaited { askForBody(context) }
        readOn(context)
    }

    /// Refuses the request that is worked on.
    func giveUp(_ refusal: RequestAssembler.Refusal, _ context: ChannelHandlerContext) {
        if case .answering(_, let task) = state { task?.cancel() }
        answeredPipe?.fail()
        leaveBody()
        refuse(refusal, context)
    }

    /// The body of the answered request isn't read any more.
    func leaveBody() {
        answeredPipe?.drop()
        answeredPipe = nil
    }
}
#endif
