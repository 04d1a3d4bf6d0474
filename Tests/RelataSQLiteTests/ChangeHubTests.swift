import RelataCore
import RelataEngine
import RelataSQLite
import Synchronization
import Testing

@Suite struct ChangeHubTests {
    /// Entities are read for each transaction of others: the stack would come to its end if each reading went deeper than the
    /// one before.
    @Test func rereadingEntitiesDoesNotDeepenTheStack() throws {
        let hub = ChangeHub(ChangeEntities(try Schema([])), keepsLog: false, interval: nil)
        let places = Mutex<[Int]>([])
        let known = ChangeEntities(try Schema([]))
        hub.readEntities { _ in
            var local = 0
            let place = withUnsafePointer(to: &local) { Int(bitPattern: $0) }
            places.withLock { $0.append(place) }
            return known
        }
        let connection = try Connection(path: nil)
        for _ in 0..<2000 { #expect(try hub.entities(for: connection) === known) }
        try connection.close()
        let depths = places.withLock { $0 }
        let (lowest, highest) = (try #require(depths.min()), try #require(depths.max()))
        #expect(depths.count == 2000)
        #expect(highest - lowest < 16_384)
    }
}
