#if Server
import BenchmarkReport
import Foundation
import RelataParse

// Clients that follow queries: the time until the last of many gets an event, the number of conditions that changes can
// be compared with, and the cost of idle clients.

extension ServerWorkload {
    static let live: [ServerWorkload] = [liveFanout, liveMatch, liveCreate, liveMemory]

    /// One new object that a thousand clients follow over WebSockets, from its request until the last event; compared
    /// with a bare server that writes the same number of bytes to each when it gets a request.
    private static let liveFanout = ServerWorkload(name: "live-fanout", targets: [.limit(1.5)]) { bench in
        let count = bench.options.isQuick ? 100 : 1000
        let ours = try ServerProcess.child("relata", bench.copyOfLibrary("fanout.sqlite"))
        let reader = try ServerConnection(port: ours.port)
        _ = try reader.answer(Readings.create)
        let subscribers = try Subscribers(count, sensors: 1, port: ours.port).clients
        _ = try reader.answer(Readings.create)
        let sizes = try subscribers.map { try $0.next().count }
        let bare = try ServerProcess.child("bare-sockets", "\(sizes.max() ?? 0)")
        let sockets = try (0..<count).map { _ in try WebSocketClient(port: bare.port) }
        let medians = try await bench.medians([
            { try bench.fanout(to: subscribers, port: ours.port) }, { try bench.fanout(to: sockets, port: bare.port) },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    /// A new object for each of a thousand conditions, until the ten queries with that condition have got its event.
    private static let liveMatch = ServerWorkload(name: "live-match", targets: []) { bench in
        let store = try ParseStore.open(bench.copyOfLibrary("matched.sqlite"))
        let service = ParseService(store, keys: ParseKeys(applicationID: SampleLibrary.applicationID))
        try await service.add(0)
        let clients = try await LiveClients(service, count: bench.options.isQuick ? 100 : 1000)
        var (times, single): ([Double], [Double]) = ([], [])
        for _ in 0..<bench.options.rounds {
            let start = Clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await clients.hearOfAllSensors() }
                for task in 0..<16 {
                    group.addTask {
                        for number in stride(from: task, to: Readings.sensors, by: 16) { try await service.add(number) }
                    }
                }
                try await group.waitForAll()
            }
            times.append((Clock.now - start) * 1000)
            let next = Clock.now
            try await service.add(0)
            try await clients.hearOfFirstSensor()
            single.append((Clock.now - next) * 1000)
        }
        try store.close()
        Report.say(
            String(
                format: "  %.0f changes a second with %d events; one by itself is known after %.2f ms",
                Double(Readings.sensors) * 1000 / times.median, clients.eventsOfAllSensors, single.median))
        return Outcome(ours: times.median)
    }

    /// One new object at full load while ten thousand queries of the same process follow its class, and ten of them get
    /// its event; compared with an object that nobody follows.
    private static let liveCreate = ServerWorkload(name: "live-create", targets: [.limit(1.3)]) { bench in
        let clients = bench.options.isQuick ? "100" : "1000"
        let followed = try ServerProcess.child("followed", bench.copyOfLibrary("followed.sqlite"), clients)
        let plain = try ServerProcess.child("relata", bench.copyOfLibrary("unfollowed.sqlite"))
        let medians = try await bench.medians([
            {
                let time = try bench.wrk.milliseconds(Readings.create, port: followed.port)
                let start = Clock.now
                try followed.waitUntilIdle()
                Report.say(String(format: "  the last event was told %.1f s later", Clock.now - start))
                return time
            },
            { try bench.wrk.milliseconds(Readings.create, port: plain.port) },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    /// The additional memory of clients that follow a query each and get no events.
    private static let liveMemory = ServerWorkload(name: "live-memory", targets: [.below(300)]) { bench in
        // A descriptor for each client on both sides, and some for everything else.
        let possible = try bench.descriptors() - 256
        let count = min(bench.options.isQuick ? 1000 : 10_000, possible)
        let server = try ServerProcess.child("relata", bench.copyOfLibrary("idle.sqlite"))
        _ = try bench.wrk.milliseconds(Readings.create, port: server.port)
        let first = try Subscribers(1, sensors: 1, port: server.port)
        let before = try server.residentMegabytes()
        let others = try Subscribers(count, sensors: Readings.sensors, port: server.port)
        try server.waitUntilIdle()
        let after = try server.residentMegabytes()
        Report.say(
            String(
                format: "  %d clients, %.1f MB before, %.1f MB after", others.clients.count, before, after))
        withExtendedLifetime((first, others)) {}
        return Outcome(unit: .megabytes, ours: after - before)
    }
}

extension ServerBench {
    /// The milliseconds from a request until all clients have its message: the median of several.
    fileprivate func fanout(to clients: [WebSocketClient], port: Int) throws -> Double {
        let sender = try ServerConnection(port: port)
        return try (0..<(options.isQuick ? 3 : 20)).map { _ in
            let start = Clock.now
            _ = try sender.answer(Readings.create)
            for client in clients { _ = try client.next() }
            return (Clock.now - start) * 1000
        }.median
    }

    /// The number of descriptors that this process may have; processes that it starts may have the same number.
    fileprivate func descriptors() throws -> Int {
        var limit = rlimit()
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { throw Failure("the limit of descriptors is unknown") }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(resource, &limit)
        return Int(limit.rlim_cur)
    }
}
#endif
