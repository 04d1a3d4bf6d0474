import Relata
import Testing

@Test func watching() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("watched.sqlite"), for: Counter.self)
        var figures: [String: Int] = [:]
        func report(_ name: String, _ value: Int) { figures[name] = value }
        // docs: show
        let statistics = store.statistics
        report("writers in use", statistics.writers.open - statistics.writers.idle)
        report("calls that wait to write", statistics.writers.waiting)
        report("calls that waited too long", statistics.writers.timeouts + (statistics.readers?.timeouts ?? 0))
        report("transactions that ran again", statistics.retries)
        report("connections made again", statistics.reconnections)
        report("attempts to connect that failed", statistics.failedConnections)
        if let position = try await store.serverPosition() {
            report("position in the server's log", Int(position.logPosition))
            if let lag = position.lag { report("milliseconds that the replica is behind", Int(lag * 1000)) }
        }
        // docs: hide
        #expect(Set(figures.values) == [0] && figures.count == 6)
        #expect(statistics.writers.limit == 1 && statistics.writers.open == 1)
        // docs: show
    }
}
