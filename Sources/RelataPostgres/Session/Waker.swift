#if PostgreSQL
import Foundation
import RelataCore

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

    /// Waits until a socket can be read or written, whichever is asked for, or until it is woken, or for so long.
    ///
    /// - Returns: What the socket is ready for; neither where the time is over or it was woken.
    func wait(
        for socket: Int32, reading: Bool, writing: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) -> (readable: Bool, writable: Bool, woken: Bool) {
        let events = Int16((reading ? POLLIN : 0) | (writing ? POLLOUT : 0))
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let rest = deadline - .now
                // Rounded up, so that it isn't over a moment too early.
                milliseconds = Int32(
                    clamping: max(
                        0, rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000 + 1))
                if rest <= .zero { milliseconds = 0 }
            }
            var places = [
                pollfd(fd: socket, events: events, revents: 0), pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&places, 2, milliseconds)
            if count < 0, errno == EINTR { continue }
            let ready = places[0].revents
            // An error or a hang-up is found by whatever is tried next.
            let isBroken = ready & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
            return (
                isBroken || ready & Int16(POLLIN) != 0, isBroken || ready & Int16(POLLOUT) != 0,
                places[1].revents != 0
            )
        }
    }
}
#endif
