#if Server
import NIOCore

/// Replies that are sent piece by piece, with only one piece in memory.
extension ConnectionHandler {
    /// Whether the next piece is being read, while nothing is left to be taken by the client.
    var isReadingRest: Bool { rest != nil && sending == nil }

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
        guard let context, let known = rest else { return }
        // The head has announced the size: a client mustn't take fewer bytes for the whole.
        guard case .success(let piece?) = piece, !piece.isEmpty, piece.count <= known.left else {
            switch piece {
            case .success(let piece?) where !piece.isEmpty: breakOff("there are more bytes than announced", context)
            case .success: breakOff("there are fewer bytes than announced", context)
            case .failure(let error): breakOff("\(error)", context)
            }
            return
        }
        let left = known.left - piece.count
        rest = left > 0 ? ReplyRest(bytes: known.bytes, left: left, id: known.id) : nil
        sending = Sending(size: piece.count)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let buffer = context.channel.allocator.buffer(bytes: piece)
        context.writeAndFlush(wrapOutboundOut(buffer)).whenComplete { result in
            let handler = bound.value
            if case .success = result, let context = handler.context { handler.replyWasWritten(context) }
        }
        if sending != nil { waitForTaking(context) }
    }

    /// Closes the connection in the middle of a reply. The client has its status already, so only the log gets the
    /// reason.
    func breakOff(_ reason: String, _ context: ChannelHandlerContext) {
        if let rest { responder.report(BrokenReply(left: rest.left, reason: reason), id: rest.id) }
        rest?.task?.cancel()
        rest = nil
        context.close(promise: nil)
    }

    /// The error of a reply whose rest can't be sent.
    private struct BrokenReply: Error, CustomStringConvertible {
        let left: Int
        let reason: String
        var description: String { "the reply broke off \(left) bytes before its end: \(reason)" }
    }
}
#endif
