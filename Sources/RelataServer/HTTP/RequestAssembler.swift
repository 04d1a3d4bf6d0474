#if Server
import NIOCore
import NIOHTTP1
import RelataParse

/// Puts the parts of requests together, and refuses those that are too large or that nobody could have meant.
struct RequestAssembler {
    /// What is to be done after a part.
    enum Step {
        /// Waiting for the next.
        case wait
        /// The client is to be asked for the body.
        case askForBody
        /// A request is whole.
        case complete(ServerRequest)
        /// A request is refused; what follows can't be understood.
        case refuse(Refusal)
    }

    /// Why a request isn't taken.
    struct Refusal {
        let error: ParseError
        /// Whether only the head of the reply is wanted.
        var isHead = false
    }

    private enum State {
        case head
        case body(ServerRequest)
        case refused
    }

    private let limit: Int
    private let budget: BodyBudget
    private var state = State.head
    /// How many bytes of the body have arrived.
    private(set) var received = 0

    /// - Parameters:
    ///   - limit: The bytes of a body.
    ///   - budget: The bytes of all bodies.
    init(limit: Int, budget: BodyBudget) {
        self.limit = limit
        self.budget = budget
    }

    /// Whether a request has begun to arrive.
    var isReceiving: Bool { if case .body = state { true } else { false } }
    /// Whether the request that arrives wants only the head of its reply.
    private(set) var isHead = false

    mutating func receive(_ part: HTTPServerRequestPart) -> Step {
        switch (state, part) {
        case (.head, .head(let head)): return begin(head)
        case (.body(var request), .body(let bytes)):
            received += bytes.readableBytes
            guard received <= limit else { return refuse(Self.tooLarge(limit)) }
            // Without this the bytes would be copied when they are appended to.
            state = .refused
            request.append(bytes)
            if received > BodyBudget.freeSize {
                let share = request.share ?? BodyBudget.Share(of: budget)
                guard share.grow(to: request.body.storageCapacity) else { return refuse(Self.noRoom) }
                request.share = share
            }
            state = .body(request)
            return .wait
        case (.body(var request), .end):
            state = .head
            received = 0
            request.arrival = .now()
            return .complete(request)
        case (.refused, _): return .wait
        default: return refuse(ParseError(.otherCause, "the request can't be read", status: 400))
        }
    }

    private mutating func begin(_ head: HTTPRequestHead) -> Step {
        isHead = head.method == .HEAD
        let headers = RequestHeaders(head.headers)
        guard headers.hostCount == 1 || head.version.minor == 0 && headers.hostCount == 0 else {
            return refuse(ParseError(.otherCause, "a request needs one Host field", status: 400))
        }
        if head.method == .CONNECT {
            return refuse(ParseError(.commandUnavailable, "this server is no proxy", status: 405))
        }
        // Pieces are put together; what is compressed as well would be taken for what it isn't.
        guard head.headers[canonicalForm: "transfer-encoding"].allSatisfy({ $0.lowercased() == "chunked" }) else {
            return refuse(ParseError(.otherCause, "chunked is the only transfer coding here", status: 501))
        }
        if let length = headers.contentLength, length > limit { return refuse(Self.tooLarge(limit)) }
        received = 0
        state = .body(
            ServerRequest(
                method: head.method.rawValue, target: RequestTarget(head.uri), headers: headers, body: ByteBuffer(),
                // Nothing is read from the connection after a request for another protocol.
                isKeptAlive: head.isKeepAlive && !headers.asksForUpgrade))
        let hasBody = headers.contentLength.map { $0 > 0 } ?? head.headers.contains(name: "transfer-encoding")
        return headers.expectsContinue && hasBody && head.version.minor > 0 ? .askForBody : .wait
    }

    private mutating func refuse(_ error: ParseError) -> Step {
        state = .refused
        return .refuse(Refusal(error: error, isHead: isHead))
    }

    /// The error for a body that there is no room for now.
    static let noRoom = ParseError(
        .requestLimitExceeded, "the server is receiving too much at once: try again", status: 503)

    /// The error for a body that is larger than the limit.
    static func tooLarge(_ limit: Int) -> ParseError {
        ParseError(.objectTooLarge, "the request is larger than \(limit) bytes", status: 413)
    }
}

extension ServerRequest {
    fileprivate mutating func append(_ bytes: ByteBuffer) {
        // Most bodies come in one piece, which is taken as it is.
        if body.readableBytes == 0 {
            body = bytes
        } else {
            body.writeImmutableBuffer(bytes)
        }
    }
}
#endif
