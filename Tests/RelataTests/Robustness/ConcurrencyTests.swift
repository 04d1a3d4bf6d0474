import Foundation
import Relata
import RelataTesting
import Testing

@Model private struct Purse {
    @Attribute(.primaryKey) let owner: Int
    var coins: Int
    @Relationship(inverse: \Payment.payer) var payments: ToMany<Payment>
}

@Model private struct Payment {
    let id: ID<Payment>
    var coins: Int
    var payer: ToOne<Purse>
}

/// Many tasks at once.
@Suite struct ConcurrencyTests {
    @Test(arguments: Engine.shared) func readersNeverWaitForTheWriter(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Purse.self)
        try await store.insert(Purse(owner: 1, coins: 10))
        let gate = Gate()
        let writer = Thread.run {
            try store.write { tx in
                try tx.update(Purse.self, id: 1) { $0.coins = 99 }
                try tx.insert((2...5000).map { Purse(owner: $0, coins: 1) })
                gate.stop()
            }
        }
        await gate.stopped()
        // The writer holds its transaction until these are done: if one of them waited, it would wait forever.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await store.fetch(Purse.self, id: 1)?.coins ?? 0 }
                group.addTask { try await store.read { try $0.fetch(Purse.all).map(\.coins).reduce(0, +) } }
                group.addTask {
                    var coins = 0
                    for try await purse in store.stream(Purse.all) { coins += purse.coins }
                    return coins
                }
            }
            for try await coins in group { #expect(coins == 10) }
        }
        let threads = (0..<4).map { _ in Thread.run { try store.count(Purse.all) } }
        for thread in threads { #expect(try await thread.value == 1) }
        gate.open()
        try await writer.value
        #expect(try await store.fetch(Purse.self, id: 1)?.coins == 99)
    }

    @Test(arguments: Engine.allCases) func partialTransactionsAreNeverVisible(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Purse.self)
        let owners = 8
        try await store.insert((0..<owners).map { Purse(owner: $0, coins: 100) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SampleRandom(seed: UInt64(task))
                    for round in 0..<40 {
                        let (from, to) = (Int.random(in: 0..<owners, using: &random), (task + round) % owners)
                        let coins = Int.random(in: 1...30, using: &random)
                        do {
                            try await store.write { tx in
                                try tx.update(Purse.self, id: from) { $0.coins -= coins }
                                try tx.insert(Payment(coins: coins, payer: ToOne(id: from)))
                                if round % 7 == 0 { throw Rollback() }
                                try tx.update(Purse.self, id: to) { $0.coins += coins }
                            }
                        } catch is Rollback {
                        }
                    }
                }
                group.addTask {
                    for round in 0..<40 {
                        if round % 2 == 0 {
                            let purses = try await store.fetch(Purse.all)
                            #expect(purses.map(\.coins).reduce(0, +) == owners * 100)
                            continue
                        }
                        // All statements of one read, including those for included objects, see the same state.
                        let (sum, purses, paid) = try await store.read { tx in
                            let sum = try tx.value(of: Purse.all) { $0.coins.sum() }
                            let purses = try tx.fetch(Purse.all.including { $0.payments })
                            return (sum, purses, try tx.value(of: Payment.all) { $0.coins.sum() })
                        }
                        #expect(sum == owners * 100)
                        #expect(purses.map(\.coins).reduce(0, +) == sum)
                        #expect(try purses.flatMap { try $0.payments.objects.map(\.coins) }.reduce(0, +) == paid)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.count(Payment.all) == 4 * 34)
    }

    @Test(arguments: Engine.allCases) func concurrentTasksAndThreadsLoseNothing(engine: Engine) async throws {
        var options = Store.Options()
        // They all want the same row, and on a busy machine some wait for long.
        options.connectionTimeout = 300
        let store = try TestStore.make(engine, for: Purse.self, options: options)
        try await store.insert(Purse(owner: 1, coins: 0))
        let threads = (0..<4).map { _ in
            Thread.run { for _ in 0..<25 { try store.update(Purse.self, id: 1) { $0.coins += 1 } } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await store.update(Purse.self, id: 1) { $0.coins += 1 } } }
            try await group.waitForAll()
        }
        for thread in threads { try await thread.value }
        #expect(try await store.fetch(Purse.self, id: 1)?.coins == 200)
    }
}
