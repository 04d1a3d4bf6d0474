import Foundation
import RelataEngine
import Synchronization

/// Reports operations of over a second on standard error: on a terminal in one temporary line, elsewhere in a line for
/// each step.
final class Progress: Sendable {
    private struct State {
        var step = ""
        var started = Date()
        var isShown = false
        var isDone = false
    }

    private let state = Mutex(State())
    private let isTerminal = Console.isTerminal
    private let clear = "\r\u{1B}[2K"

    /// Runs `body`, which reports its steps.
    static func during<Result>(_ step: String, _ body: (Progress) throws -> Result) rethrows -> Result {
        let progress = Progress(step)
        defer { progress.finish() }
        return try body(progress)
    }

    /// The same with a body that waits.
    static func during<Result>(_ step: String, _ body: (Progress) async throws -> Result)
        async rethrows -> Result
    {
        let progress = Progress(step)
        defer { progress.finish() }
        return try await body(progress)
    }

    private init(_ step: String) {
        state.withLock { $0.step = step }
        let thread = Thread { [self] in watch() }
        thread.start()
    }

    /// Continues with the next step.
    func step(_ text: String) {
        state.withLock {
            $0.step = text
            $0.started = Date()
            if !isTerminal { $0.isShown = false }
        }
    }

    /// The progress of a backup; only on a terminal, because there are many updates.
    func step(of text: String, _ backup: BackupProgress) {
        guard isTerminal else { return }
        state.withLock { $0.step = "\(text): \(Int(backup.fraction * 100)) %" }
    }

    /// Removes the line, so that other output can be written.
    private func finish() {
        state.withLock {
            if $0.isShown && isTerminal { Console.write(clear) }
            $0.isDone = true
        }
    }

    private func watch() {
        while true {
            Thread.sleep(forTimeInterval: 0.1)
            let isDone = state.withLock { state in
                let seconds = Int(Date().timeIntervalSince(state.started))
                if !state.isDone, seconds >= 1 || (isTerminal && state.isShown), isTerminal || !state.isShown {
                    let text = "\(state.step) …" + (isTerminal ? " \(seconds) s" : "")
                    Console.write(isTerminal ? clear + text : text + "\n")
                    state.isShown = true
                }
                return state.isDone
            }
            if isDone { return }
        }
    }
}
