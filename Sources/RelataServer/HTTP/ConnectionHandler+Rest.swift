#if Server
import NIOCore

/// Replies of which a piece at a time is in memory.
extension ConnectionHandler {
    /// Lets the next piece of a reply be read, on a thread that may wait for the disk.
    func readRest(_ context: ChannelHandlerContext) {
        guard let bytes = rest?.bytes else { return }
        let loop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        rest?.task = Task(executorPreference: responder.executor) {
            let piece: Result<[UInt8]?, any Error>
            do {
                piece = .success(try await bytes.next())
            } catch {
                piece = .failure(error)
            }
            loop.execute { bound.value.sendRest(piece) }
        }
        wait(limits.transferTime, context)
    }

    private func sendRest(_ piece: Result<[UInt8]?, any Error>) {
        guard let context, let left = rest?.left else { return }
        // The head has announced the size: a client mustn't take fewer bytes for the whole.
        guard case .success(let piece?) = piece, !piece.isEmpty, piece.count <= left else {
            context.close(promise: nil)
            return
        }
        rest = left > piece.count ? rest.map { ReplyRest(bytes: $0.bytes, left: left - piece.count) } : nil
        sending = Sending(size: piece.count)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let buffer = context.channel.allocator.buffer(bytes: piece)
        context.writeAndFlush(wrapOutboundOut(buffer)).whenComplete { result in
            let handler = bound.value
            if case .success = result, let context = handler.context { handler.replyWasWritten(context) }
        }
        if sending != nil { waitForTaking(context) }
    }
}
#endif
