#if CommandLineTool
import Foundation
import Testing

/// A terminal without a user.
final class Terminal: Sendable {
    struct NotMade: Error {}

    /// The end that a program reads from and writes to.
    let input: FileHandle
    private let screen: Int32

    init() throws {
        #if canImport(Darwin)
        screen = posix_openpt(O_RDWR | O_NOCTTY)
        guard screen >= 0, grantpt(screen) == 0, unlockpt(screen) == 0, let name = ptsname(screen) else {
            throw NotMade()
        }
        let path = String(cString: name)
        #else
        // These functions can't be called from Swift here, so their requests are made directly: TIOCSPTLCK and
        // TIOCGPTN.
        screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var lock: Int32 = 0
        var number: Int32 = 0
        guard screen >= 0, ioctl(screen, 0x4004_5431, &lock) == 0, ioctl(screen, 0x8004_5430, &number) == 0 else {
            throw NotMade()
        }
        let path = "/dev/pts/\(number)"
        #endif
        input = try #require(FileHandle(forUpdatingAtPath: path))
    }

    deinit { close(screen) }

    /// Types text.
    func enter(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(screen, bytes, bytes.count) == bytes.count)
    }

    /// The output since the call before.
    func output() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        _ = fcntl(screen, F_SETFL, O_NONBLOCK)
        while true {
            let count = read(screen, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
#endif
