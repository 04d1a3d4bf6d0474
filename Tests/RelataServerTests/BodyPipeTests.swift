#if Server
import NIOCore
import Synchronization
import Testing

@testable import RelataServer

struct BodyPipeTests {
    /// Each read of a piece asks for the next one. If the calls were nested, many small pieces would take ever longer
    /// and overflow the stack.
    @Test func readsOfManyPiecesAreNotNested() async throws {
        let pipe = BodyPipe()
        let places = Mutex<[Int]>([])
        pipe.whenWanted {
            var local = 0
            let place = withUnsafePointer(to: &local) { Int(bitPattern: $0) }
            places.withLock { $0.append(place) }
        }
        for number in 0..<2000 { pipe.push(ByteBuffer(integer: UInt8(number % 256))) }
        pipe.finish()
        let stream = pipe.stream
        var count = 0
        while let piece = try await stream.next() {
            #expect(piece == [UInt8(count % 256)])
            count += 1
        }
        #expect(count == 2000)
        // All pieces are available, so all of them are read on the same thread.
        let depths = places.withLock { $0 }
        let (lowest, highest) = (try #require(depths.min()), try #require(depths.max()))
        #expect(highest - lowest < 16_384)
    }
}
#endif
