#if PostgreSQL
import RelataCore
import TestSupport

extension SeededGenerator {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// Random tables as other programs make them on a server: every kind of key, types that compare by their own rules,
/// partitions, foreign keys with every action, several of them in one column, and triggers.
struct RandomForeignKeys {
    private(set) var tables: [TableText] = []
    private(set) var keys: [KeyText] = []
    private(set) var triggers: [String] = []

    struct TableText {
        let name: String
        var columns: [(name: String, type: String)] = []
        var key: [Int] = []
        var unique: [Int] = []
        var isPartitioned = false

        func names(_ columns: [Int]) -> String { columns.map { self.columns[$0].name }.joined(separator: ", ") }
    }

    struct KeyText {
        let source: Int
        let columns: [Int]
        let target: Int
        let targetColumns: [Int]
        let action: String
        let timing: String
    }

    init(_ random: inout SeededGenerator) {
        for number in 0..<Int.random(in: 2...5, using: &random) { tables.append(Self.table(number, &random)) }
        for _ in 0..<Int.random(in: 1...7, using: &random) { addKey(&random) }
        if random.chance(20) { addTrigger(&random) }
    }

    private static func type(_ random: inout SeededGenerator) -> String {
        let types = [
            "integer", "integer", "bigint", "text", "varchar(9)", "uuid", "numeric", "citext", "text COLLATE any_case",
            "mood", "date", "int4range",
        ]
        return types.randomElement(using: &random) ?? "integer"
    }

    private static func table(_ number: Int, _ random: inout SeededGenerator) -> TableText {
        let schema = random.chance(30) ? "\"Other s\"." : ""
        var table = TableText(name: "\(schema)t\(number)")
        func column(_ name: String, _ type: String) -> Int {
            table.columns.append((name, type))
            return table.columns.count - 1
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2: table.key = [column("id", "integer")]
        case 3, 4, 5: table.key = [column("\"Code\"", type(&random))]
        case 6: table.key = [column("a", type(&random)), column("b", type(&random))]
        default: break
        }
        if table.key.isEmpty || random.chance(40) { table.unique = [column("u", type(&random))] }
        _ = column("note", "text")
        let isHashed = table.key.count == 1 && ["integer", "bigint", "uuid"].contains(table.columns[table.key[0]].type)
        if isHashed, random.chance(20) {
            table.isPartitioned = true
            table.unique = []
        }
        return table
    }

    private mutating func addKey(_ random: inout SeededGenerator) {
        let source = Int.random(in: tables.indices, using: &random)
        let target = Int.random(in: tables.indices, using: &random)
        let candidates = [tables[target].key, tables[target].unique].filter { !$0.isEmpty }
        guard let pointed = candidates.randomElement(using: &random) else { return }
        var columns: [Int] = []
        var isFree = true
        for part in pointed {
            let type = tables[target].columns[part].type
            // An existing column: one of another foreign key, the primary key or a unique one.
            let known = tables[source].columns.indices.filter {
                Self.compares(tables[source].columns[$0].type, with: type) && !columns.contains($0)
                    && !(source == target && pointed.contains($0))
            }
            if random.chance(20), let reused = known.randomElement(using: &random) {
                columns.append(reused)
                if tables[source].key.contains(reused) { isFree = false }
                continue
            }
            let other = type == "integer" && random.chance(30) ? "bigint" : type == "varchar(9)" ? "text" : type
            tables[source].columns.append(("c\(tables[source].columns.count)", other))
            columns.append(tables[source].columns.count - 1)
        }
        var actions = ["CASCADE", "CASCADE", "CASCADE", "NO ACTION", "RESTRICT"]
        if isFree { actions += ["SET NULL", "SET NULL", "SET DEFAULT"] }
        var action = actions.randomElement(using: &random) ?? "CASCADE"
        if action == "SET NULL", columns.count > 1, random.chance(50) {
            action += " (\(tables[source].columns[columns[0]].name))"
        }
        keys.append(
            KeyText(
                source: source, columns: columns, target: target, targetColumns: pointed, action: action,
                timing: ["", "", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"].randomElement(using: &random) ?? ""))
    }

    private static func compares(_ type: String, with other: String) -> Bool {
        let families = [["integer", "bigint"], ["text", "varchar(9)"]]
        return type == other || families.contains { $0.contains(type) && $0.contains(other) }
    }

    private mutating func addTrigger(_ random: inout SeededGenerator) {
        guard let table = tables.randomElement(using: &random), let other = tables.randomElement(using: &random) else {
            return
        }
        let bodies = [
            ("BEFORE", "RETURN NULL;"), ("AFTER", "DELETE FROM \(other.name); RETURN OLD;"),
            ("AFTER", "UPDATE \(other.name) SET note = 'changed'; RETURN OLD;"),
            ("AFTER", "INSERT INTO audit VALUES (TG_TABLE_NAME); RETURN OLD;"),
        ]
        guard let (time, body) = bodies.randomElement(using: &random) else { return }
        triggers = [
            "CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \(body) END$$",
            "CREATE TRIGGER act \(time) DELETE ON \(table.name) FOR EACH ROW EXECUTE FUNCTION act()",
        ]
    }

    // MARK: SQL

    var statements: [String] {
        var statements: [String] = []
        for table in tables {
            var parts = table.columns.indices.map { index in
                let isRequired = table.key.isEmpty && table.unique == [index]
                return "\(table.columns[index].name) \(table.columns[index].type)\(isRequired ? " NOT NULL" : "")"
            }
            if !table.key.isEmpty { parts.append("PRIMARY KEY (\(table.names(table.key)))") }
            if !table.unique.isEmpty { parts.append("UNIQUE (\(table.names(table.unique)))") }
            let key = table.names(table.key)
            statements.append(
                "CREATE TABLE \(table.name) (\(parts.joined(separator: ", ")))"
                    + (table.isPartitioned ? " PARTITION BY HASH (\(key))" : ""))
            guard table.isPartitioned else { continue }
            for part in 0..<2 {
                let name = "\(table.name)_part\(part)"
                statements.append(
                    "CREATE TABLE \(name) PARTITION OF \(table.name) FOR VALUES WITH (MODULUS 2, REMAINDER \(part))")
            }
        }
        for key in keys {
            let (source, target) = (tables[key.source], tables[key.target])
            statements.append(
                "ALTER TABLE \(source.name) ADD FOREIGN KEY (\(source.names(key.columns))) REFERENCES \(target.name) "
                    + "(\(target.names(key.targetColumns))) ON DELETE \(key.action) \(key.timing)")
        }
        return statements
    }

    /// Makes rows, as the statements of a session that refuses some of them.
    func rows(_ random: inout SeededGenerator) -> [String] {
        var statements: [String] = []
        for table in tables {
            for _ in 0..<Int.random(in: 1...7, using: &random) {
                let values = table.columns.indices.map { column in
                    let isKey = table.key.contains(column) || table.unique.contains(column)
                    return isKey ? Self.value(table.columns[column].type, &random) : "NULL"
                }
                statements.append("INSERT INTO \(table.name) VALUES (\(values.joined(separator: ", ")))")
            }
        }
        // References are set afterwards, some rows at a time, if they have a target.
        for _ in 0..<2 {
            for key in keys.shuffled(using: &random) {
                let (source, target) = (tables[key.source], tables[key.target])
                guard !key.columns.contains(where: source.key.contains) else { continue }
                for _ in 0..<3 {
                    let changes = zip(key.columns, key.targetColumns).map { own, other in
                        let value = Self.spelling(
                            "t.\(target.columns[other].name)", target.columns[other].type, &random)
                        return "\(source.columns[own].name) = \(value)"
                    }
                    let (from, to) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
                    statements.append(
                        """
                        UPDATE \(source.name) AS s SET \(changes.joined(separator: ", ")) FROM
                            (SELECT * FROM \(target.name) ORDER BY \(target.names(key.targetColumns)) OFFSET \(from) LIMIT 1) AS t
                        WHERE (s.tableoid, s.ctid) IN (SELECT tableoid, ctid FROM \(source.name)
                            ORDER BY \(source.names(source.key.isEmpty ? source.unique : source.key)) OFFSET \(to) LIMIT 1)
                        """)
                }
            }
        }
        return statements
    }

    private static func value(_ type: String, _ random: inout SeededGenerator) -> String {
        let number = Int.random(in: 1...6, using: &random)
        return switch type {
        case "integer", "bigint": "\(number)"
        case "numeric": random.chance(50) ? "\(number)" : "\(number).50"
        case "uuid": "'00000000-0000-4000-8000-00000000000\(number)'"
        case "mood": "'\(["sad", "ok", "happy"].randomElement(using: &random) ?? "ok")'"
        case "date": "'2026-01-0\(number)'"
        case "int4range": "'[\(number),\(number + 3))'"
        default: "'\(["a", "B", "c ", "Dd", "e'' \"", "ü"].randomElement(using: &random) ?? "a")'"
        }
    }

    /// Another way to write a value that a column takes for the same.
    private static func spelling(_ value: String, _ type: String, _ random: inout SeededGenerator) -> String {
        switch type {
        case "citext", "text COLLATE any_case": random.chance(50) ? "upper(\(value)::text)" : value
        case "numeric": random.chance(50) ? "(\(value) + 0.000)" : value
        default: value
        }
    }

    /// Whether something is there that no plan can say: defaults, several foreign keys that change one column, columns that
    /// are unset while others refer to them, rules of comparison that two foreign keys would have to agree on, triggers.
    var isUnplannable: Bool {
        let hasShared = keys.indices.contains { index in
            keys.indices.contains { other in
                other != index && keys[other].source == keys[index].source
                    && keys[other].columns.contains(where: keys[index].columns.contains)
            }
        }
        let hasChained = keys.contains { key in
            keys.contains { $0.target == key.source && $0.targetColumns.contains(where: key.columns.contains) }
        }
        return hasShared || hasChained || !triggers.isEmpty || keys.contains { $0.action == "SET DEFAULT" }
            || keys.contains { key in key.columns.contains(where: tables[key.source].key.contains) }
    }
}
#endif
