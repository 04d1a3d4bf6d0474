import Foundation
import Relata
import RelataEngine
import RelataSQLite
import Testing

@Model private struct CheckedLocker {
    @Attribute(.primaryKey) var id: Int?
    @Attribute(.unique) var code: String
}

@Model(table: "Ä") private struct CapitalTable {
    @Attribute(.primaryKey) var id: Int?
    @Attribute(column: "Ö") var capital: String
    @Attribute(column: "ö") var small: String
    @Relationship(deleteRule: .cascade, inverse: \SmallTable.capital) var smalls: ToMany<SmallTable>
}

@Model(table: "ä") private struct SmallTable {
    @Attribute(.primaryKey) var id: Int?
    @Relationship(columns: ["Ä"]) var capital: ToOne<CapitalTable>
}

/// Models on tables with other constraints or another form than the store would give them.
@Suite struct AdoptedTableTests {
    /// Another program may have listed the columns of the unique constraint the other way round.
    @Test func partnersAreReassignedWithReorderedConstraints() throws {
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

    /// SQLite folds the letters of ASCII alone.
    @Test func tablesThatDifferInNonASCIICaseAreDistinct() throws {
        let path = TestStore.path()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE "Ä" (id INTEGER PRIMARY KEY, "Ö" TEXT NOT NULL, "ö" TEXT NOT NULL);
            CREATE TABLE "ä" (id INTEGER PRIMARY KEY, "Ä" INTEGER NOT NULL REFERENCES "Ä" ON DELETE CASCADE);
            CREATE INDEX "iä" ON "ä" ("Ä");
            INSERT INTO "Ä" VALUES (1, 'a', 'b'), (2, 'c', 'd'); INSERT INTO "ä" VALUES (3, 1), (4, 2);
            """)
        try connection.close()
        let store = try TestStore.open(path, for: [CapitalTable.self, SmallTable.self])
        #expect(try store.fetch(CapitalTable.sorted { $0.id }).map { $0.capital + $0.small } == ["ab", "cd"])
        let added = try store.insert(SmallTable(capital: ToOne(id: 1)))
        #expect(
            try store.fetch(SmallTable.where { $0.capital.small == "b" }.sorted { $0.id }).map(\.id) == [3, added.id])
        #expect(try store.delete(CapitalTable.self, id: 1).deletedCount == 3)
        #expect(try store.check().isEmpty)
    }

    @Test func swapsFailIfACheckAllowsNoTemporaryValue() throws {
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
