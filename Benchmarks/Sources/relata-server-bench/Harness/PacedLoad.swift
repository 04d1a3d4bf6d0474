#if Server
import BenchmarkReport
import Foundation

/// Requests at a fixed pace, regardless of the server's speed: a request that is due is sent as soon as a connection is
/// free, and its time counts from when it was due. So a server that stops for a while is charged with all requests that
/// had to wait.
///
/// They are due in ticks of a millisecond, as in wrk2. Waking for each request would keep the processors as busy as the
/// server does, and the measured load would be more than half.
struct PacedLoad {
    private static let tick = 0.001

    /// Requests a second.
    let rate: Double
    let seconds: Double
    var connections = 32

    /// The milliseconds of all requests, sorted.
    func run(_ call: HTTPCall, port: Int) throws -> [Double] {
        // To save power, Linux lets threads sleep longer than they ask for, unless this is set.
        try? "1".write(toFile: "/proc/thread-self/timerslack_ns", atomically: false, encoding: .utf8)
        let requests = (0..<call.count).map { call.bytes($0) }
        let clients = try (0..<connections).map { _ in try ServerConnection(port: port) }
        var arrivals = Arrivals(clients.map(\.descriptor))
        var free = Array(clients.indices)
        var due = [Double](repeating: 0, count: clients.count)
        var times: [Double] = []
        times.reserveCapacity(Int(rate * seconds))
        let start = Clock.now + 0.1
        var sent = 0
        let all = Int(rate * seconds)
        var next: Double { start + (Double(sent) / rate / Self.tick).rounded(.down) * Self.tick }
        while times.count < all {
            var now = Clock.now
            while sent < all, !free.isEmpty {
                if next > now { break }
                let client = free.removeFirst()
                due[client] = next
                try clients[client].send(requests[sent % requests.count])
                sent += 1
                now = Clock.now
            }
            let isWaiting = sent < all && !free.isEmpty
            try arrivals.wait(atMost: isWaiting ? next - now : 5)
            for client in clients.indices where arrivals.contains(clients[client].descriptor) {
                guard try clients[client].receive() != nil else { continue }
                times.append((Clock.now - due[client]) * 1000)
                free.append(client)
            }
            if Clock.now > start + seconds * 4 + 5 { throw Failure("the server can't keep the pace of \(rate)/s") }
        }
        // During the first requests, connections are new and caches cold.
        return times.dropFirst(all / 10).sorted()
    }
}

/// The connections on which something has arrived.
private struct Arrivals {
    private let descriptors: [Int32]
    private var set = fd_set()

    init(_ descriptors: [Int32]) { self.descriptors = descriptors }

    /// Waits until something arrives, or for that many seconds, to the microsecond.
    mutating func wait(atMost seconds: Double) throws {
        set = fd_set()
        for descriptor in descriptors { insert(descriptor) }
        let seconds = max(seconds, 0)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        let count = pselect((descriptors.max() ?? 0) + 1, &set, nil, nil, &time, nil)
        guard count >= 0 || errno == EINTR else { throw Failure("waiting for replies failed") }
        if count <= 0 { set = fd_set() }
    }

    func contains(_ descriptor: Int32) -> Bool {
        withUnsafeBytes(of: set) { $0[Int(descriptor) / 8] & 1 << (descriptor % 8) != 0 }
    }

    private mutating func insert(_ descriptor: Int32) {
        withUnsafeMutableBytes(of: &set) { $0[Int(descriptor) / 8] |= 1 << (descriptor % 8) }
    }
}

extension [Double] {
    /// The percentile of sorted values: the value that this part of them doesn't exceed.
    func percentile(_ part: Double) -> Double {
        isEmpty ? 0 : self[Swift.min(Int((Double(count) * part).rounded(.up)) - 1, count - 1)]
    }
}
#endif
