#if Server
import NIOCore
import NIOHTTP1

/// Assembles the parts of requests, and refuses too large and invalid ones.
struct RequestAssembler {
    /// The next action after a part.
    enum Step {
        /// Waiting for the next.
        case wait
        /// `100 Continue` must be sent.
        case askForBody
        /// A request is complete, or the part that is needed to answer it.
        case complete(ReceivedRequest)
        /// A request is refused; the following bytes can't be parsed.
        case refuse(Refusal)
    }

    /// The reason why a request is refused.
    struct Refusal {
        let error: ServerRefusal
        /// Whether only the head of the reply is wanted.
        var isHead = false
        /// The header fields of the request so far.
        var headers = RequestHeaders()
    }

    private enum State {
        case head
        case body(ReceivedRequest)
        /// A request is answered already while its body still arrives.
        case piped(ReceivedRequest, BodyPipe)
        case refused
    }

    /// The terms on which an arriving body is received.
    struct AdmittedBody {
        /// The number of bytes it may have.
        var limit: Int
        /// Whether the request is answered while it arrives.
        var isPiped = false
    }

    /// Decides how the body of a request is received, or refuses the request.
    typealias Admission = (String, RequestTarget, RequestHeaders) throws(ServerRefusal) -> AdmittedBody

    private let limits: RelataServer.Limits
    private let fields: HeaderFields
    private let budget: BodyBudget
    private let admit: Admission
    private var state = State.head
    /// The number of received bytes of the body.
    private(set) var received = 0
    /// The number of bytes since the head that aren't part of the body; `nil` until all that came with the head is
    /// read.
    private var framing: Int?
    /// The announced sizes of the arriving body's chunks; `nil` for a body without chunks.
    private var chunks: ChunkSizes?
    /// Whether another request ended in the received bytes: then the position of the next one in them is unknown.
    private var hasEnded = false
    /// The number of received bytes of the end of a header.
    private var headerEnd = 0

    /// - Parameters:
    ///   - fields: The header fields that mean something.
    ///   - budget: The bytes of all bodies.
    ///   - admit: Asked before anything of a body is read.
    init(
        limits: RelataServer.Limits, fields: HeaderFields, budget: BodyBudget, admit: @escaping Admission
    ) {
        self.limits = limits
        self.fields = fields
        self.budget = budget
        self.admit = admit
    }

    /// Whether a request has begun to arrive.
    var isReceiving: Bool {
        switch state {
        case .body, .piped: true
        case .head, .refused: false
        }
    }
    /// The reader of the body of a request that is answered already.
    var pipe: BodyPipe? { if case .piped(_, let pipe) = state { pipe } else { nil } }
    /// Whether the request that arrives wants only the head of its reply.
    private(set) var isHead = false

    mutating func receive(_ part: HTTPServerRequestPart) -> Step {
        if case .body(let bytes) = part, case .body = state { return append(bytes) }
        switch (state, part) {
        case (.head, .head(let head)): return begin(head)
        case (.body(var request), .end):
            state = .head
            received = 0
            hasEnded = true
            request.arrival = .now()
            return .complete(request)
        case (.piped(let request, let pipe), .body(let bytes)):
            received += bytes.readableBytes
            framing? -= bytes.readableBytes
            guard received <= request.bodyLimit else {
                return refuse(.bodyTooLarge(request.bodyLimit, of: limits), request.headers)
            }
            pipe.push(bytes)
            return .wait
        case (.piped(_, let pipe), .end):
            state = .head
            received = 0
            hasEnded = true
            pipe.finish()
            return .wait
        case (.refused, _): return .wait
        default: return refuse(ServerRefusal(.malformed, "the request can't be read", status: 400))
        }
    }

    /// Adds a piece of the body. The work depends only on the piece's size, not on the bytes before it.
    private mutating func append(_ bytes: ByteBuffer) -> Step {
        guard case .body(var request) = state else { return .wait }
        received += bytes.readableBytes
        framing? -= bytes.readableBytes
        guard received <= request.bodyLimit else {
            return refuse(.bodyTooLarge(request.bodyLimit, of: limits), request.headers)
        }
        // Without this the bytes would be copied when they are appended to.
        state = .refused
        request.append(bytes)
        if received > BodyBudget.freeSize {
            let share = request.share ?? BodyBudget.Share(of: budget)
            guard share.grow(to: request.body.storageCapacity) else { return refuse(.noRoom, request.headers) }
            request.share = share
        }
        state = .body(request)
        return .wait
    }

    private mutating func begin(_ head: HTTPRequestHead) -> Step {
        isHead = head.method == .HEAD
        let headers = RequestHeaders(head.headers, fields)
        guard head.uri.utf8.count <= limits.requestLineSize else {
            return refuse(.longAddress(limits.requestLineSize), headers)
        }
        guard headers.size <= limits.headerSize else { return refuse(.largeHeader, headers) }
        guard headers.hostCount == 1 || head.version.minor == 0 && headers.hostCount == 0 else {
            return refuse(ServerRefusal(.malformed, "a request needs one Host field", status: 400))
        }
        if head.method == .CONNECT {
            return refuse(ServerRefusal(.unknownMethod, "this server isn't a proxy", status: 405))
        }
        // Chunks are assembled; a body that is compressed as a transfer coding would be misread.
        guard head.headers[canonicalForm: "transfer-encoding"].allSatisfy({ $0.lowercased() == "chunked" }) else {
            return refuse(ServerRefusal(.unknownCoding, "chunked is the only transfer coding here", status: 501))
        }
        let target = RequestTarget(head.uri)
        let hasBody = headers.contentLength.map { $0 > 0 } ?? head.headers.contains(name: "transfer-encoding")
        var admitted = AdmittedBody(limit: limits.bodySize)
        if hasBody {
            do throws(ServerRefusal) {
                admitted = try admit(head.method.rawValue, target, headers)
            } catch {
                return refuse(error, headers)
            }
        }
        let bodyLimit = admitted.isPiped ? admitted.limit : min(admitted.limit, limits.bodySize)
        if let length = headers.contentLength, length > bodyLimit {
            return refuse(.bodyTooLarge(bodyLimit, of: limits), headers)
        }
        received = 0
        framing = nil
        chunks = headers.contentLength == nil && hasBody && !hasEnded ? ChunkSizes(seen: headerEnd) : nil
        var request = ReceivedRequest(
            method: head.method.rawValue, target: target, headers: headers, body: ByteBuffer(), bodyLimit: bodyLimit,
            // Nothing is read from the connection after a request for another protocol.
            isKeptAlive: head.isKeepAlive && !headers.asksForUpgrade,
            webSocketHead: headers.asksForUpgrade && WebSocketUpgrade.isAsked(head) ? head : nil)
        if admitted.isPiped {
            let pipe = BodyPipe()
            request.pipe = pipe
            request.asksForBody = headers.expectsContinue && head.version.minor > 0
            state = .piped(request, pipe)
            return .complete(request)
        }
        state = .body(request)
        return headers.expectsContinue && hasBody && head.version.minor > 0 ? .askForBody : .wait
    }

    /// Counts received bytes, once they are parsed. A body is refused as soon as its chunks announce too much. Chunks
    /// may have extensions, which aren't read; their size is limited in proportion to the body.
    mutating func arrived(_ bytes: ByteBuffer) -> Step {
        hasEnded = false
        let request: ReceivedRequest
        switch state {
        case .body(let arriving), .piped(let arriving, _): request = arriving
        case .head, .refused:
            headerEnd = ChunkSizes.seen(in: bytes.readableBytesView, after: headerEnd)
            return .wait
        }
        chunks?.read(bytes.readableBytesView)
        if let announced = chunks?.total, announced > request.bodyLimit {
            return refuse(.bodyTooLarge(request.bodyLimit, of: limits), request.headers)
        }
        let total = framing.map { $0 + bytes.readableBytes } ?? 0
        framing = total
        guard total <= Self.maximumFraming + 8 * received else {
            return refuse(
                ServerRefusal(.malformed, "the chunks of the body contain too much besides the body", status: 400),
                request.headers)
        }
        return .wait
    }

    /// The number of bytes that may arrive besides a small body.
    private static let maximumFraming = 16 * 1024

    private mutating func refuse(_ error: ServerRefusal, _ headers: RequestHeaders = RequestHeaders()) -> Step {
        pipe?.fail()
        state = .refused
        return .refuse(Refusal(error: error, isHead: isHead, headers: headers))
    }
}

extension ReceivedRequest {
    fileprivate mutating func append(_ bytes: ByteBuffer) {
        // Most bodies come in one piece, which isn't copied.
        if body.readableBytes == 0 {
            body = bytes
        } else {
            body.writeImmutableBuffer(bytes)
        }
    }
}
#endif
