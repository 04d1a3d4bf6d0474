#if Server
import BenchmarkReport

extension ServerWorkload {
    /// The time of the slowest of a hundred requests at half of the server's greatest rate, beside the median; and the
    /// same at the same rate with a bare server, which shows the machine's own share.
    static let getTail = ServerWorkload(name: "http-get-p99", targets: [.limit(5)]) { bench in
        try await bench.tail(of: bench.library.get, bench.reading)
    }

    static let createTail = ServerWorkload(name: "http-create-p99", targets: [.limit(5)]) { bench in
        try await bench.tail(of: bench.library.create, bench.writing)
    }

    /// The server's peak memory after a thousand connections were busy at once.
    static let memory = ServerWorkload(name: "http-memory", targets: [.below(150)]) { bench in
        let server = try ServerProcess.child("relata", bench.library.path)
        _ = try bench.wrk.milliseconds(bench.library.get, port: server.port, connections: 1000)
        _ = try bench.wrk.milliseconds(bench.library.find, port: server.port, connections: 1000)
        return Outcome(unit: .megabytes, ours: try server.peakMegabytes())
    }
}

extension ServerBench {
    fileprivate func tail(of call: HTTPCall, _ server: ServerProcess) async throws -> Outcome {
        let bare = try bareServer(for: call, server)
        let full = try wrk.milliseconds(call, port: server.port)
        let load = PacedLoad(rate: 500 / full, seconds: options.isQuick ? 1 : 5)
        var (middles, tails, bareTails): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<options.rounds {
            let times = try load.run(call, port: server.port)
            middles.append(times.percentile(0.5))
            tails.append(times.percentile(0.99))
            bareTails.append(try load.run(call, port: bare.port).percentile(0.99))
        }
        return Outcome(ours: tails.median, limit: middles.median, peers: [("bare route", bareTails.median)])
    }
}
#endif
