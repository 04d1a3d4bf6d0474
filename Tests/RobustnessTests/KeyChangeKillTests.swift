#if SQLCipher
import Foundation
import Relata
import RelataTesting
import RobustnessWriter
import Testing

/// A process that is killed while it encrypts a file with another key leaves the file with one of the two keys.
@Suite struct KeyChangeKillTests {
    @Test func theFileHasTheOldOrTheNewKeyAfterEveryKill() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed of the kills: \(seed)")
        var random = SampleRandom(seed: seed)
        let folder = try Folder()
        let path = folder.file()
        let notes = (1...1000).map { number in String(repeating: "\(number) ", count: 1000) }
        let store = try open(path, Garden.models, options: options(0))
        try store.insert(contentsOf: notes.enumerated().map { Receipt(number: $0.offset + 1, note: $0.element) })
        try store.close()

        var key = 0
        var interrupted = 0
        for kill in 1...12 {
            let comment = "kill \(kill) of seed \(seed)"
            let writer = try Writer("rekey", path, "\(key)")
            let first = writer.line()
            usleep(UInt32.random(in: 0..<150_000, using: &random))
            let last = try #require((writer.kill().last ?? first).flatMap { Int($0) }, "\(comment)")
            // Its journal is the old file, until the new one is complete.
            if FileManager.default.fileExists(atPath: path + "-journal") { interrupted += 1 }

            // The last change may have been complete before it was reported. Sometimes the wrong key is tried first,
            // and finds the journal.
            let candidates = [last, last + 1].shuffled(using: &random)
            let fitting = try candidates.filter { try fits($0, path, comment) }
            key = try #require(fitting.first, "neither the old key nor the new one opens it: \(comment)")
            #expect(fitting.count == 1, "\(comment)")
            let store = try open(path, Garden.models, options: options(key))
            #expect(try store.fetch(Receipt.all.sorted { $0.number }).map(\.note) == notes, "\(comment)")
            #expect(try store.check() == [], "\(comment)")
            try store.close()
        }
        #expect(interrupted > 0, "no change was interrupted: seed \(seed)")
    }

    private func options(_ key: Int) throws -> Store.Options {
        var options = Store.Options()
        options.encryptionKey = try KeyChanges.key(key)
        return options
    }

    /// Whether a file opens with a key. If not, the error must be about the key.
    private func fits(_ key: Int, _ path: String, _ comment: String) throws -> Bool {
        do {
            try open(path, Garden.models, options: options(key)).close()
            return true
        } catch RelataError.wrongKey(path) {
            return false
        }
    }
}
#endif
