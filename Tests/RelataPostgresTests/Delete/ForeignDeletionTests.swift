#if PostgreSQL
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@testable import RelataEngine

/// Deletions in databases of other programs: plans, deletions and refusals.
@Suite(.needsPostgreSQL) struct ForeignDeletionTests {
    private let database: TestDatabase

    init() throws { database = try ForeignDatabase.make(on: .shared) }

    /// Plans and deletes, and expects both to say the same.
    @discardableResult
    private func delete(_ entity: String, _ key: Value..., after sql: String = "") throws -> DeletionReport {
        let connection = try foreignConnection(database.url, writes: true)
        defer { try? connection.close() }
        if !sql.isEmpty { try connection.execute(sql) }
        let reading = try ForeignReading(connection)
        let table = try reading.entity(entity)
        return try connection.transaction {
            let plan = try connection.deletionPlan(
                of: table.index, roots: .keys([KeyValue(key)]), schema: reading.schema, access: .everything
            ).sorted()
            if plan.isDenied { throw RelataError.deleteDenied(blockers: plan.blockers) }
            let report = try connection.delete(
                entity: table.index, roots: .keys([KeyValue(key)]), schema: reading.schema, access: .everything
            ).sorted()
            #expect(Set(report.deleted) == Set(plan.deleted) && Set(report.nullified) == Set(plan.nullified))
            #expect(Set(report.removedJoinRows) == Set(plan.removedJoinRows))
            return report
        }
    }

    private func lines(_ sql: String) throws -> [String] {
        let session = try session(database)
        defer { session.close() }
        return try session.values(sql).map { $0.map(\.description).joined(separator: "|") }
    }

    private func everything() throws -> [String] {
        try [
            "person", "sales.orders", "sales.item", "sales.tag", "sales.orders_tag", "event", "vehicle", "branch",
            "clerk", "log_line", "\"Odd Schema\".\"Odd.Table \"\"x\"\"\"",
        ].flatMap { try lines("SELECT tableoid::regclass::text, t::text FROM \($0) AS t ORDER BY 1, 2") }
    }

    /// The message of the refusal of a deletion, which must have left everything as it was.
    private func refusal(_ entity: String, _ key: Value..., after sql: String = "") throws -> String {
        let session = try session(database)
        if !sql.isEmpty { try session.run(sql) }
        session.close()
        let before = try everything()
        let message: String
        do {
            switch key.count {
            case 1: try delete(entity, key[0])
            default: try delete(entity, key[0], key[1])
            }
            message = ""
        } catch {
            message = "\(error)"
        }
        #expect(try everything() == before)
        return message
    }

    @Test func deletingAPersonDeletesOrdersVehiclesAndLines() throws {
        let report = try delete("person", 1)
        let counts = Dictionary(uniqueKeysWithValues: report.deleted.map { ($0.entity, $0.keys.count) })
        #expect(
            counts
                == ["person": 1, "sales.orders": 2, "sales.item": 2, "vehicle": 1, "car": 1, "log_line": 1].filter {
                    // A table inherits the columns of another, but not its foreign keys.
                    $0.key != "car"
                })
        let unset = Dictionary(
            uniqueKeysWithValues: report.nullified.map { ("\($0.entity).\($0.property)", $0.keys.count) })
        #expect(unset == ["event.person": 2, "person.boss": 2])
        #expect(report.removedJoinRows.map(\.sources.count) == [2])
        #expect(try lines("SELECT id FROM person ORDER BY 1") == ["2", "3"])
        #expect(try lines("SELECT id, person FROM event ORDER BY 1, 2") == ["1|NULL", "1|NULL", "2|2", "3|NULL"])
        #expect(try lines("SELECT id FROM vehicle ORDER BY 1") == ["1", "2", "3"])
        #expect(try lines("SELECT id FROM sales.orders") == ["12"])
    }

    @Test func referencesToCaseInsensitiveTextPreventADeletion() throws {
        #expect(throws: RelataError.self) { try delete("Odd Schema.Odd.Table \"x\"", "Saw") }
        #expect(throws: RelataError.self) { try delete("Odd Schema.Odd.Table \"x\"", "Hammer") }
        let report = try delete("sales.item", 10, 2)
        #expect(report.deletedCount == 1)
        #expect(try delete("Odd Schema.Odd.Table \"x\"", "Saw").deletedCount == 1)
    }

    /// A database whose store has a chain of employees, and another schema with rows that refer to them.
    private func chain() throws -> TestDatabase {
        let database = try PrivateCluster.shared.makeDatabase()
        let owner = try session(database)
        defer { owner.close() }
        try owner.run(
            """
            CREATE TABLE emp (id integer PRIMARY KEY, nr text UNIQUE, boss text REFERENCES emp (nr) ON DELETE CASCADE);
            INSERT INTO emp VALUES (1, 'e1', NULL), (2, 'e2', 'e1'), (3, 'e3', 'e2');
            CREATE SCHEMA away;
            CREATE TABLE away.r (id integer PRIMARY KEY, o text REFERENCES emp (nr) ON DELETE CASCADE);
            """)
        return database
    }

    /// The errors of planning and making the deletion of the first employee, on a connection that looks only at its own
    /// schema, as a store does.
    private func refusals(in database: TestDatabase) throws -> [String] {
        let connection = try foreignConnection(database.url, writes: true)
        defer { try? connection.close() }
        connection.tableScope = .own
        let reading = try ForeignReading(connection)
        let number = try reading.entity("emp").index
        var messages: [String] = []
        do {
            _ = try reading.plan("emp", 1)
        } catch {
            messages.append("\(error)")
        }
        do {
            _ = try connection.transaction {
                try connection.delete(
                    entity: number, roots: .keys([KeyValue([1])]), schema: reading.schema, access: .everything)
            }
        } catch {
            messages.append("\(error)")
        }
        return messages
    }

    @Test func foreignKeysOfOtherSchemasPreventADeletion() throws {
        let database = try chain()
        let owner = try session(database)
        defer { owner.close() }
        try owner.run("INSERT INTO away.r VALUES (1, 'e3')")
        let refusals = try refusals(in: database)
        #expect(refusals.count == 2)
        #expect(refusals.allSatisfy { $0.contains("away.r.o refers to emp, which the models don't declare") })
        #expect(try owner.value("SELECT count(*) FROM emp") == 3)
        try owner.run("DELETE FROM away.r")
        #expect(try self.refusals(in: database).isEmpty)
        #expect(try owner.value("SELECT count(*) FROM emp") == 0)
    }

    @Test func refusalsContainTheServersMessage() throws {
        let database = try chain()
        let owner = try session(database)
        defer { owner.close() }
        try owner.run(
            """
            CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'emp is kept'; END $$;
            CREATE TRIGGER keep BEFORE DELETE ON emp FOR EACH ROW EXECUTE FUNCTION keep()
            """)
        let refusals = try refusals(in: database)
        #expect(refusals.count == 1 && refusals.allSatisfy { $0.contains("emp is kept") }, "\(refusals)")
        #expect(try owner.value("SELECT count(*) FROM emp") == 3)
    }

    @Test func partOfACompositeReferenceIsSetToNull() throws {
        let report = try delete("branch", "de", "Bonn")
        #expect(report.nullified.map(\.entity) == ["clerk"] && report.nullified.map(\.keys.count) == [1])
        #expect(try lines("SELECT id, country, city FROM clerk ORDER BY 1") == ["1|de|NULL", "2|de|Köln", "3|de|NULL"])
    }

    @Test func rowsOfPartitionsAreDeleted() throws {
        #expect(try delete("event", 1, "2021-05-01").deletedCount == 1)
        #expect(
            try lines("SELECT id, day::text FROM event ORDER BY 1, 2") == [
                "1|2019-05-01", "2|2022-05-01", "3|2023-05-01",
            ])
    }

    @Test func rowsOfTablesThatReferToEachOtherAreDeletedTogether() throws {
        let made = """
            CREATE TABLE hen (id integer PRIMARY KEY, egg integer);
            CREATE TABLE egg (id integer PRIMARY KEY, hen integer REFERENCES hen ON DELETE CASCADE);
            INSERT INTO hen VALUES (1, 1), (2, 2); INSERT INTO egg VALUES (1, 1), (2, 2);
            ALTER TABLE hen ADD FOREIGN KEY (egg) REFERENCES egg;
            """
        #expect(try delete("hen", 1, after: made).deletedCount == 2)
        #expect(try lines("SELECT hen.id, egg.id FROM hen, egg") == ["2|2"])
    }

    @Test func rowSecurityThatHidesRowsIsRefused() throws {
        let owner = try session(database)
        let role = "clerk_\(UInt32.random(in: 0 ... .max))"
        try owner.run(
            """
            CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA sales TO \(role);
            GRANT ALL ON person, event, vehicle, log_line, sales.orders, sales.item, sales.orders_tag, sales.tag TO \(role);
            ALTER TABLE sales.item ENABLE ROW LEVEL SECURITY;
            CREATE POLICY own ON sales.item USING (n = 1);
            """)
        defer {
            _ = try? owner.run("DROP OWNED BY \(role); DROP ROLE \(role)")
            owner.close()
        }
        let connection = try foreignConnection(
            PrivateCluster.shared.url(database: database.name, user: role), writes: true)
        let reading = try ForeignReading(connection)
        do {
            _ = try reading.plan("person", 1)
            Issue.record("the plan was made")
        } catch {
            #expect("\(error)".contains("sales.item has row-level security, which hides rows from the role"))
        }
        // This deletion doesn't affect the table.
        #expect(try reading.plan("event", 3, "2023-05-01").deletedCount == 1)
        try connection.close()
    }

    @Test func rulesAreRefused() throws {
        let message = try refusal(
            "person", 1, after: "CREATE RULE keep AS ON DELETE TO sales.orders DO INSTEAD NOTHING")
        #expect(message.contains("sales.orders has rules that replace a deletion (keep)"))
        let other = try refusal(
            "person", 1,
            after: """
                DROP RULE keep ON sales.orders;
                CREATE RULE keep AS ON UPDATE TO event DO ALSO DELETE FROM clerk
                """)
        #expect(other.contains("event has rules that replace a change (keep)"))
    }

    @Test func viewsAndRowsWithoutKeysAreRefused() throws {
        let view = try refusal("people", 1)
        #expect(view.contains("is a view: delete the rows of the tables that it shows"))
        let row = try refusal("log_line", "(0,1)")
        #expect(row.contains("log_line has no key"))
    }

    @Test func aTriggerThatKeepsARowRollsBackTheDeletion() throws {
        let message = try refusal(
            "person", 1,
            after: """
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER "keep it" BEFORE DELETE ON sales.orders FOR EACH ROW EXECUTE FUNCTION keep()
                """)
        #expect(message.contains("keep it") && message.contains("Nothing was deleted"), "\(message)")
    }

    @Test func aTriggerThatChangesMoreRollsBackTheDeletion() throws {
        let message = try refusal(
            "person", 1,
            after: """
                CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN DELETE FROM clerk; UPDATE branch SET name = name; RETURN OLD; END';
                CREATE TRIGGER more AFTER DELETE ON sales.item FOR EACH STATEMENT EXECUTE FUNCTION more()
                """)
        #expect(message.contains("sales.item.more"), "\(message)")
        #expect(message.contains("of public.branch, 2 rows changed instead of 0"), "\(message)")
    }

    @Test func deferredTriggersAreDetected() throws {
        let message = try refusal(
            "person", 1,
            after: """
                CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM clerk; RETURN NULL; END';
                CREATE CONSTRAINT TRIGGER later AFTER DELETE ON sales.item DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION later()
                """)
        #expect(message.contains("of public.clerk, 3 rows deleted instead of 0"), "\(message)")
    }

    @Test func triggersAreRefusedWhereChangesCannotBeCounted() throws {
        let trigger = """
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
            CREATE TRIGGER note AFTER DELETE ON sales.item FOR EACH ROW EXECUTE FUNCTION note()
            """
        let session = try session(database)
        try session.run("ALTER DATABASE \"\(database.name)\" SET track_counts = off")
        session.close()
        try delete("person", 2)
        let message = try refusal("person", 1, after: trigger)
        #expect(message.contains("sales.item has triggers") && message.contains("track_counts"), "\(message)")
    }

    @Test func functionsOfOtherUsersAreNotCalled() throws {
        // These fit calls with text better than the server's own functions.
        let bodies = ["quote_ident(name) RETURNS text", "\"left\"(name, integer) RETURNS text"]
        let functions = bodies.map {
            "CREATE FUNCTION public.\($0) LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'called'; END$$"
        }
        let report = try delete("person", 1, after: functions.joined(separator: ";"))
        #expect(report.deletedCount == 7)
    }

    @Test func triggersMayWriteAnAuditLog() throws {
        try delete(
            "person", 1,
            after: """
                CREATE TABLE audit (text text);
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN INSERT INTO audit VALUES (TG_TABLE_NAME); RETURN OLD; END';
                CREATE TRIGGER note AFTER DELETE ON sales.item FOR EACH ROW EXECUTE FUNCTION note()
                """)
        #expect(try lines("SELECT text FROM audit") == ["item", "item"])
    }

    @Test func foreignKeysOfOnePartitionAreRefused() throws {
        let message = try refusal(
            "event", 1, "2019-05-01",
            after: """
                CREATE TABLE remark (id integer PRIMARY KEY, event bigint, day date,
                    FOREIGN KEY (event, day) REFERENCES event_old ON DELETE CASCADE);
                INSERT INTO remark VALUES (1, 1, '2019-05-01')
                """)
        #expect(message.contains("remark.event, day refers to event"), "\(message)")
        #expect(try delete("event", 1, "2021-05-01").deletedCount == 1)
    }

    @Test func deletionsInAStoresDatabaseMatchTheirPlan() throws {
        // Tables of the store, and another program's tables that refer to them.
        let writer = try PostgresEngine(url: PostgresURL(database.url)).connect(.writing, waits: true)
        try writer.execute("DROP SCHEMA public, \"Odd Schema\" CASCADE; CREATE SCHEMA public")
        let id = Property.attribute(Attribute("id", type: .integer))
        let entities = [Entity(name: "Shelf", properties: [id], key: ["id"])]
        try Migrator.migrate(writer, schema: Schema(entities))
        try writer.execute(
            """
            INSERT INTO "Shelf" VALUES (1), (2);
            CREATE TABLE sales.book (id integer PRIMARY KEY, shelf bigint REFERENCES "Shelf" ON DELETE CASCADE);
            INSERT INTO sales.book VALUES (1, 1), (2, 1), (3, 2)
            """)
        try writer.close()
        let report = try delete("Shelf", 1)
        #expect(report.deleted.map(\.entity).sorted() == ["Shelf", "sales.book"] && report.deletedCount == 3)
    }
}
#endif
