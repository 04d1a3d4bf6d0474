import Foundation
import Relata
import Testing

@Model private struct CheckedLocker {
    @Attribute(.primaryKey) var id: Int?
    @Attribute(.unique) var code: String
}

/// Models on tables with other constraints or another form than the store would give them.
@Suite struct AdoptedTableTests {
    /// Another program may have listed the columns of the unique constraint the other way round.
    @Test func aPartnerIsTakenWhereTheConstraintIsTurnedRound() throws {
        let store = try TestStore.make(.sqliteMemory, for: Passenger.self)
        try store.write { tx in
            try tx.execute("DROP TABLE Passenger")
            try tx.execute(
                """
                CREATE TABLE Passenger (
                    name TEXT PRIMARY KEY NOT NULL, berthDeck INTEGER, berthNumber INTEGER,
                    UNIQUE (berthNumber, berthDeck),
                    FOREIGN KEY (berthDeck, berthNumber) REFERENCES Berth(deck, number) ON DELETE SET NULL
                )
                """)
        }
        #expect(try OneToOneTests.decksAfterABerthIsTaken(store) == [nil, 2, 1])
    }

    @Test func aTableThatAllowsNoOtherValueKeepsItsOwn() throws {
        let store = try TestStore.make(.sqliteFile, for: CheckedLocker.self)
        try store.write { tx in
            try tx.execute("DROP TABLE CheckedLocker")
            try tx.execute(
                "CREATE TABLE CheckedLocker (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE CHECK (length(code) < 9))"
            )
        }
        let (one, two) = try store.insert(CheckedLocker(id: 1, code: "a"), CheckedLocker(id: 2, code: "b"))
        let swapped = [CheckedLocker(id: 1, code: "b"), CheckedLocker(id: 2, code: "a")]
        #expect(thrown { try store.save(swapped) }?.kind == "uniqueViolation")
        #expect(try store.fetch(CheckedLocker.sorted { $0.code }) == [one, two])
    }

    @Test func upsertsIntoTablesWithoutRowIDsAreInsertsAndUpdatesToo() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Numbered.self, Stamped.self)
        try await store.write { tx in
            try tx.execute("DROP TABLE Numbered")
            try tx.execute("CREATE TABLE Numbered (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID")
            try tx.execute("DROP TABLE Stamped")
            try tx.execute(
                "CREATE TABLE Stamped (id BLOB PRIMARY KEY, name TEXT UNIQUE, created INT, updated REAL) WITHOUT ROWID")
        }
        for kind in ["insert 1", "update 1 name"] {
            #expect(try await store.feed { try $0.save(Numbered(id: 7, name: kind)) } == ["Numbered \(kind)"])
        }
        for kind in ["insert", "update", "update"] {
            let found = try await store.feed { try $0.save(Stamped(name: "n"), matching: { $0.name }) }
            #expect(found.count == 1 && found[0].hasPrefix("Stamped \(kind) 1"), "\(found)")
        }
    }
}
