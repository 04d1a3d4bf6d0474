import Foundation
import Relata
import RelataCore
import RobustnessWriter
import TestSupport
import Testing

/// Several processes with one file.
@Suite struct ProcessTests {
    @Test func nothingIsLostWhenSeveralProcessesWriteAtOnce() async throws {
        let folder = try Folder()
        let path = folder.file()
        var options = Store.Options()
        options.busyTimeout = 60
        options.externalChangeDelay = 0.01
        let store = try open(path, Garden.models, options: options)
        // An observer in this process watches the writes of the others.
        let watcher = Task {
            var last = 0
            for try await tally in store.observe(Tally.self, id: "all") {
                #expect(tally?.count ?? 0 >= last)
                last = tally?.count ?? 0
                if last == 400 { break }
            }
            return last
        }
        let writers = try (0..<3).map { _ in try Writer("count", path, "100") }
        for _ in 0..<100 {
            try await store.write { tx in
                let tally = try tx.fetch(Tally.self, id: "all")
                try tx.save(Tally(name: "all", count: (tally?.count ?? 0) + 1))
            }
        }
        for writer in writers { #expect(writer.finish() == ["done"]) }
        #expect(try await watcher.value == 400)
        #expect(try await store.fetch(Tally.self, id: "all")?.count == 400)
    }

    @Test func filesLockedByAnotherProcessAreBusyUntilReleased() throws {
        let folder = try Folder()
        let path = folder.file()
        var options = Store.Options()
        options.busyTimeout = 0.05
        let store = try open(path, Garden.models, options: options)
        try store.insert(Receipt(number: 1, note: ""))
        let writer = try Writer("lock", path, "BEGIN IMMEDIATE")
        #expect(writer.line() == "locked")
        // Reading still works.
        #expect(try store.count(Receipt.all) == 1)
        let other = try open(path, Garden.models, options: options)
        #expect(try other.count(Receipt.all) == 1)
        try other.close()
        let isSoonBusy = isQuick(.seconds(3)) {
            expect("busy") { try store.insert(Receipt(number: 2, note: "")) }
        }
        #expect(isSoonBusy)
        #expect(writer.finish() == [])
        try store.insert(Receipt(number: 2, note: ""))
        #expect(try store.count(Receipt.all) == 2)
    }

    @Test func exclusivelyLockedFilesAreBusyAndUndamaged() throws {
        let folder = try Folder()
        let path = folder.file()
        let store = try open(path, Garden.models)
        try store.insert(Receipt(number: 1, note: ""))
        try store.close()
        let before = try folder.contents()
        #expect(Array(before.keys) == ["garden.sqlite"])
        var options = Store.Options()
        options.busyTimeout = 0.05
        let writer = try Writer(
            "lock", path, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT * FROM Receipt; COMMIT")
        #expect(writer.line() == "locked")
        for isReadOnly in [false, true] {
            options.isReadOnly = isReadOnly
            let isSoonBusy = isQuick(.seconds(3)) {
                expect("busy") { try open(path, Garden.models, options: options) }
            }
            #expect(isSoonBusy)
        }
        #expect(writer.finish() == [])
        #expect(try folder.contents() == before)
    }

    @Test func aHundredThousandObjectsAreSavedInBoundedMemory() throws {
        let folder = try Folder()
        let few = try #require(Writer("insert", folder.file("few.sqlite"), "2000").finish().first.flatMap { Int($0) })
        let many = try #require(
            Writer("insert", folder.file("many.sqlite"), "100000").finish().first.flatMap { Int($0) })
        // Their text alone is 25 MB. A process that saved few objects has all buffers and caches, too.
        #expect(many - few < 8, "\(few) MB for 2,000, and \(many) MB for 100,000")
    }
}

/// Expects an error of that case.
func expect<Result>(
    _ kind: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
    do {
        _ = try body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        let label = Mirror(reflecting: error).children.first?.label
        #expect(error is RelataError && label == kind, "\(error)", sourceLocation: sourceLocation)
    }
}
