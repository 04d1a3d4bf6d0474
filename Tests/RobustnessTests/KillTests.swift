import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import RelataTesting
import RobustnessWriter
import Testing

/// A process that is killed while it writes loses no acknowledged write, and leaves no partial one.
@Suite struct KillTests {
    @Test func killingTheWriterLosesNothing() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed of the kills: \(seed)")
        var random = SampleRandom(seed: seed)
        let folder = try Folder()
        let path = folder.file()
        var known = 0
        for kill in 1...60 {
            let writer = try Writer("garden", path)
            var said: [String] = []
            // Every sixth writer is killed at its start, while it recovers the log of the one before.
            if kill % 6 != 0, let first = writer.line() { said.append(first) }
            usleep(UInt32.random(in: 0..<(kill % 6 == 0 ? 30_000 : 8_000), using: &random))
            said += writer.kill()
            if let last = said.last { known = try #require(Int(last), "seed \(seed)") }
            // Some logs stay for the next writer to find.
            if kill % 3 == 0 { continue }
            known = try checkGarden(path, atLeast: known, "kill \(kill) of seed \(seed)")
        }
        known = try checkGarden(path, atLeast: known, "seed \(seed)")
        // Each writer that was waited for wrote something.
        #expect(known >= 50, "seed \(seed)")
    }

    /// Compares the file with the expected contents after its number of transactions, and returns that number.
    private func checkGarden(_ path: String, atLeast known: Int, _ comment: String) throws -> Int {
        let store = try open(path, Garden.models)
        defer { try? store.close() }
        return try store.read { tx in
            let receipts = try tx.fetch(Receipt.all.sorted { $0.number }.select { $0.number })
            let count = receipts.count
            // The last transaction may have been committed without being reported.
            #expect(count >= known, "\(comment): \(known) were acknowledged, and \(count) are there")
            #expect(receipts == Array(0..<count).map { $0 + 1 }, "\(comment)")

            let living = count == 0 ? [] : Array(max(1, count - Garden.treeCount + 1)...count)
            let trees = try tx.fetch(
                Tree.all.sorted { $0.number }.including { $0.branches.including { $0.leaves.including { $0.colours } } }
            )
            #expect(trees.map(\.number) == living, "\(comment)")
            var leafCounts: [String: Int] = [:]
            for tree in trees {
                let branches = try tree.branches.objects.sorted { $0.position < $1.position }
                #expect(branches.map(\.position) == Array(0..<Garden.width), "\(comment)")
                for branch in branches {
                    let leaves = try branch.leaves.objects
                    let names = (0..<Garden.width).map { "leaf \(tree.number).\(branch.position).\($0)" }
                    #expect(leaves.map(\.name) == names, "\(comment)")
                    for (index, leaf) in leaves.enumerated() {
                        let colours = Set(try leaf.colours.objects.map(\.name))
                        let expected =
                            tree.number == count
                            ? [] : Garden.colours(tree: tree.number, branch: branch.position, leaf: index)
                        #expect(colours == expected, "\(comment)")
                        for colour in colours { leafCounts[colour, default: 0] += 1 }
                    }
                }
            }
            // Branches and leaves of deleted trees are gone.
            #expect(try tx.count(Branch.all) == living.count * Garden.width, "\(comment)")
            #expect(try tx.count(Leaf.all) == living.count * Garden.width * Garden.width, "\(comment)")
            for colour in try tx.fetch(Colour.all) {
                #expect(colour.leafCount == leafCounts[colour.name, default: 0], "\(comment)")
            }
            // SQLite's own check is the first of these.
            let connection = try Connection(path: path, isReadOnly: true)
            defer { try? connection.close() }
            let schema = try Schema(try Introspection.entities(of: connection))
            #expect(schema.tables.count == 6)
            #expect(try IntegrityCheck.run(connection, schema: schema) == [], "\(comment)")
            return count
        }
    }
}
