#if Server
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import RelataServer

/// The assembly of requests from their parts.
struct RequestAssemblerTests {
    /// The processor time, in seconds, for assembling a body from pieces of one byte.
    private func time(pieces: Int) throws -> Double {
        let limits = RelataServer.Limits()
        let budget = BodyBudget(limit: limits.totalBodySize)
        var assembler = RequestAssembler(limits: limits, fields: HeaderFields(kept: []), budget: budget) { _, _, _ in
            RequestAssembler.AdmittedBody(limit: limits.bodySize)
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/x", headers: ["Host": "x", "Transfer-Encoding": "chunked"])
        _ = assembler.receive(.head(head))
        let piece = ByteBuffer(string: "x")
        let time = processorTime { for _ in 0..<pieces { _ = assembler.receive(.body(piece)) } }
        guard case .complete(let request) = assembler.receive(.end(nil)) else {
            Issue.record("the request isn't whole")
            return 0
        }
        #expect(request.body.readableBytes == pieces)
        return time
    }

    @Test func theCostOfAPieceDoesNotGrowWithTheBody() throws {
        let (few, many) = (try time(pieces: 20_000), try time(pieces: 320_000))
        #expect(many < few * 28, "\(few) s for 20,000 pieces, \(many) s for 320,000")
    }

    @Test func nothingIsReadAfterARefusal() {
        var limits = RelataServer.Limits()
        limits.bodySize = 3
        var assembler = RequestAssembler(
            limits: limits, fields: HeaderFields(kept: []), budget: BodyBudget(limit: limits.totalBodySize)
        ) { _, _, _ in RequestAssembler.AdmittedBody(limit: 3) }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/x", headers: ["Host": "x", "Transfer-Encoding": "chunked"])
        _ = assembler.receive(.head(head))
        #expect(assembler.isReceiving)
        guard case .refuse = assembler.receive(.body(ByteBuffer(string: "long"))) else {
            Issue.record("the body isn't refused")
            return
        }
        #expect(!assembler.isReceiving)
        for part: HTTPServerRequestPart in [.body(ByteBuffer(string: "x")), .end(nil), .head(head)] {
            guard case .wait = assembler.receive(part) else {
                Issue.record("\(part) is understood")
                continue
            }
        }
    }
}
#endif
