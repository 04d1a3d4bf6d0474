#if PostgreSQL
import Foundation
import RelataCore

#if canImport(Glibc)
import Glibc
#endif

/// Ends the wait of a thread for a socket: a pipe that is waited for as well.
final class Waker: Sendable {
    private let output: Int32
    private let input: Int32

    init() throws(PostgresFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw PostgresFailure(.fileAccess(path: "pipe", "can't be made: \(String(cString: strerror(errno)))"))
        }
        (output, input) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(output)
        close(input)
    }

    /// Ends the wait, or the next one.
    func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes as well as another byte would.
        _ = write(input, &byte, 1)
    }

    /// Forgets that it was woken.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(output, &bytes, bytes.count) > 0 {}
    }

    /// Waits until a socket is readable, or on request writable, until a wake-up, or until a time has passed.
    ///
    /// - Returns: Whether the socket can be read.
    func wait(for socket: Int32, writing: Bool, until deadline: ContinuousClock.Instant?) -> Bool {
        let events = Int16(writing ? POLLIN | POLLOUT : POLLIN)
        var places = (
            pollfd(fd: socket, events: events, revents: 0), pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        )
        withUnsafeMutablePointer(to: &places) { places in
            places.withMemoryRebound(to: pollfd.self, capacity: 2) { Self.poll($0, 2, until: deadline) }
        }
        // An error or a hang-up is found by reading.
        return places.0.revents & ~Int16(POLLOUT) != 0
    }

    /// Waits until it is woken, or until the time is over.
    func pause(until deadline: ContinuousClock.Instant?) { _ = wait(for: -1, writing: false, until: deadline) }

    /// Whether the other side has closed a socket. Doesn't wait.
    static func isClosed(_ socket: Int32) -> Bool {
        var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        #if canImport(Glibc)
        _ = Glibc.poll(&place, 1, 0)
        #else
        _ = Darwin.poll(&place, 1, 0)
        #endif
        return place.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    private static func poll(
        _ places: UnsafeMutablePointer<pollfd>, _ number: nfds_t, until deadline: ContinuousClock.Instant?
    ) {
        var count: Int32 = 0
        repeat {
            var milliseconds: Int32 = -1
            if let deadline {
                let (seconds, rest) = max(.zero, deadline - .now).components
                // Rounded up, so that it isn't over a moment too early.
                let exact = min(seconds, 1_000_000) * 1000 + (rest + 999_999_999_999_999) / 1_000_000_000_000_000
                milliseconds = Int32(clamping: exact)
            }
            #if canImport(Glibc)
            count = Glibc.poll(places, number, milliseconds)
            #else
            count = Darwin.poll(places, number, milliseconds)
            #endif
        } while count < 0 && errno == EINTR
    }
}
#endif
