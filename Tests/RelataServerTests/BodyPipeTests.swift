#if Server
import NIOCore
import Synchronization
import Testing

@testable import RelataServer

struct BodyPipeTests {
    /// Whoever takes a piece asks for more, and the last of many is asked for as the first was: an upload in small pieces
    /// would take ever longer, and the stack come to its end, if each call went deeper than the one before.
    @Test func theLastOfManyPiecesIsTakenAsTheFirst() async throws {
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
        // The pieces are there, so that all of them are taken on the same thread.
        let depths = places.withLock { $0 }
        let (lowest, highest) = (try #require(depths.min()), try #require(depths.max()))
        #expect(highest - lowest < 16_384)
    }
}
#endif
