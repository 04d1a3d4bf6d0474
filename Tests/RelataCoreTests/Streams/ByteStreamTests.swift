import RelataCore
import Testing

@Suite struct ByteStreamTests {
    @Test func aSingleChunkIsDeliveredOnce() async throws {
        let stream = ByteStream([1, 2, 3])
        #expect(try await stream.next() == [1, 2, 3])
        #expect(try await stream.next() == nil)
        #expect(try await stream.next() == nil)
    }

    @Test func emptyStreamsDeliverNoChunk() async throws { #expect(try await ByteStream([]).next() == nil) }
}
