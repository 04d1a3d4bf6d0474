import RelataCore
import Testing

/// A schema that is made from another one, and resolves only the changed parts.
@Suite struct SchemaGrowthTests {
    /// Entities that each have a to-one, a list and a view of one hub.
    private func entities(_ count: Int) -> [Entity] {
        let members = (0..<count).map { number in
            Entity(
                name: "Member\(number)",
                properties: [.id(), .text("name"), .toOne("hub", "Hub"), .manyToMany("hubs", "Hub")])
        }
        let views = (0..<count).flatMap { number in
            [
                Property.toMany("members\(number)", "Member\(number)", inverse: "hub", order: .stored),
                .manyToManyInverse("others\(number)", "Member\(number)", inverse: "hubs"),
            ]
        }
        return [Entity(name: "Hub", properties: [.id(), .integer("rank")] + views)] + members
    }

    /// The entities that each of several additions resolves.
    private func resolved(_ count: Int) throws -> [Int] {
        let entities = entities(count)
        let schema = try Schema(entities)
        #expect(schema.resolvedCount == count + 1)
        let additions: [(inout [Entity]) -> Void] = [
            { $0.append(Entity(name: "New", properties: [.id(), .toOne("hub", "Hub")])) },
            { $0[1].properties.append(.integer("more")) },
            { $0[1].properties.append(.toOne("friend", "Member1")) },
            { $0[0].properties.append(.integer("more")) },
            { $0[0].properties.append(.toOne("favourite", "Member1")) },
            { $0[0].properties.append(.manyToMany("friends", "Member1")) },
            { $0[1].properties.append(.toMany("again", "Member0", inverse: "self")) },
            { $0[1].indexes.append(["name"]) },
            { $0[1].uniques.append(["hub"]) },
        ]
        return try additions.map { add in
            var grown = entities
            add(&grown)
            if grown[1].relationship("again") != nil { grown[1].properties.append(.toOne("self", "Member0")) }
            let new = try Schema(grown, since: schema)
            #expect(try meaning(of: new) == meaning(of: Schema(grown)))
            return new.resolvedCount
        }
    }

    @Test func addingAnEntityAffectsItsTableAndThoseOfItsRelationships() throws {
        let (author, genre) = (Entity(name: "Author", properties: [.id()]), Entity(name: "Genre", properties: [.id()]))
        let old = try Schema([Entity(name: "Book", table: "books", properties: [.id()]), author, genre])
        let new = try Schema([
            Entity(name: "Book", table: "books", properties: [.id(), .manyToMany("authors", "Author")]), author, genre,
        ])
        #expect(new.tables(changedBy: ["Book"], since: old) == ["books", "books_authors"])
        #expect(new.tables(changedBy: ["Author"], since: old) == ["Author"])
        #expect(new.tables(changedBy: [], since: old).isEmpty)
    }

    @Test func addingAnEntityResolvesOnlyAffectedEntities() throws {
        let few = try resolved(3)
        let many = try resolved(60)
        #expect(few == [Int](repeating: 1, count: few.count) && few == many)
    }

    @Test func aNewOtherSideResolvesBothSides() throws {
        var entities = entities(20)
        entities[3].properties.append(.toOne("friend", "Member9"))
        let schema = try Schema(entities)
        entities[10].properties.append(.hasOne("friendOf", "Member2", inverse: "friend"))
        let new = try Schema(entities, since: schema)
        #expect(new.resolvedCount == 2)
        #expect(new.references(of: 3).last?.inverse == "friendOf" && new.references(of: 3).last?.isUnique == true)
        #expect(try meaning(of: new) == meaning(of: Schema(entities)))
    }

    @Test func numbersStayAndNewOnesComeLast() throws {
        var entities = entities(5)
        let schema = try Schema(entities)
        entities[0].properties.append(.toOne("first", "Member0"))
        entities.append(Entity(name: "New", properties: [.id(), .toOne("hub", "Hub")]))
        let new = try Schema(entities, since: schema)
        #expect(new.references.prefix(5).map(\.property) == schema.references.map(\.property))
        #expect(new.references.map(\.index) == Array(0..<7) && new.references.map(\.source).suffix(2) == [0, 6])
        #expect(new.joins.map(\.table) == schema.joins.map(\.table))
    }

    @Test func allContradictionsAreReported() throws {
        let entities = entities(3)
        let schema = try Schema(entities)
        for property in [
            Property.toOne("a", "Nothing"), .toMany("b", "Hub", inverse: "rank"), .text("NAME"),
            .toMany("members", "Member0", inverse: "hub"), .text("hubId"),
        ] {
            var wrong = entities
            wrong[1].properties.append(property)
            wrong[2].indexes.append(["nothing"])
            let told = #expect(throws: RelataError.self) { try Schema(wrong, since: schema) }
            let inFull = #expect(throws: RelataError.self) { try Schema(wrong) }
            #expect(told?.description == inFull?.description && told != nil)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func aGrownSchemaEqualsOneBuiltAtOnce(_ seed: UInt64) throws {
        var random = GrowthRandom(state: seed)
        var entities: [Entity] = []
        var schema = try Schema([])
        var accepted = 0
        for step in 0..<120 {
            var next = entities
            random.change(&next, step)
            let atOnce = Result { try Schema(next) }
            let grown = Result { try Schema(next, since: schema) }
            switch (atOnce, grown) {
            case (.success(let atOnce), .success(let grown)):
                #expect(meaning(of: grown) == meaning(of: atOnce), "seed \(seed), step \(step)")
                (entities, schema) = (next, grown)
                accepted += 1
            case (.failure(let one), .failure(let other)):
                #expect("\(one)" == "\(other)", "seed \(seed), step \(step)")
            default: Issue.record("seed \(seed), step \(step): \(atOnce) \(grown)")
            }
        }
        #expect(accepted > 40, "seed \(seed)")
    }

    /// All that a schema says, with names for numbers.
    private func meaning(of schema: Schema) -> [String] {
        func name(_ reference: Int) -> String {
            "\(schema.tables[schema.references[reference].source].name).\(schema.references[reference].property)"
        }
        func name(_ link: Link) -> String {
            switch link {
            case .reference(let number): "reference \(name(number))"
            case .inverse(let number): "inverse \(name(number))"
            case .join(let number, let isSource): "join \(schema.joins[number].table) \(isSource)"
            case .through(let inverse, let reference): "through \(name(inverse)) \(name(reference))"
            case .matched(let link): "matched \(schema.tables[link.source].name) \(link.columns) \(link.isForward)"
            }
        }
        var lines: [String] = ["counts \(schema.hasCounts)"]
        for table in schema.tables {
            lines.append("\(table.index) \(schema.index(of: table.name) ?? -1) \(table.entity)")
            for column in table.columns {
                lines.append("\(table.name) column \(column.reference.map(name) ?? "") " + description(column))
            }
            lines.append("\(table.name) key \(table.keyColumns)")
            for (link, value) in table.links.sorted(by: { $0.key < $1.key }) {
                lines.append("\(table.name) link \(link) \(name(value))")
            }
            for set in schema.uniqueSets[table.index] {
                lines.append("\(table.name) unique \(set.columns) \(set.reference.map(name) ?? "")")
            }
            for reference in schema.references(of: table.index) {
                let place = "\(String(describing: schema.uniquePlaces[reference.index]))"
                let key = schema.foreignKeys[reference.index]
                lines.append("\(name(reference.index)) \(place) \(fields(reference)) key \(fields(key))")
            }
        }
        lines += schema.joins.map { fields($0) }.sorted()
        lines += schema.foreignKeys[schema.references.count...].map { fields($0) }
        #expect(schema.references.indices.allSatisfy { schema.references[$0].index == $0 })
        #expect(schema.joins.indices.allSatisfy { schema.joins[$0].index == $0 })
        #expect(schema.foreignKeys.indices.allSatisfy { schema.foreignKeys[$0].index == $0 })
        return lines
    }

    private func description(_ column: Column) -> String {
        "\(column.name) \(column.property) \(column.type) \(column.isOptional) \(String(describing: column.defaultValue))"
    }

    /// Every member of a value but its number.
    private func fields(_ value: Any) -> String {
        Mirror(reflecting: value).children.filter { $0.label != "index" && $0.label != "reference" }
            .map { "\($0.label ?? "") \($0.value)" }.joined(separator: ", ")
    }
}

/// Random changes of entities.
private struct GrowthRandom {
    var state: UInt64

    private mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(bound, 1)))
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    mutating func change(_ entities: inout [Entity], _ step: Int) {
        for _ in 0...below(2) { changeOnce(&entities, step) }
    }

    private mutating func changeOnce(_ entities: inout [Entity], _ step: Int) {
        guard !entities.isEmpty, below(6) > 0 else {
            var entity = Entity(name: "E\(step)", properties: [.id(below(2) == 0 ? .integer : .uuid(.blob))])
            if below(6) == 0, let other = pick(entities) {
                entity.properties = [.toOne("owner", other.name, isOptional: false), .integer("number")]
                entity.key = ["owner", "number"]
            }
            if below(10) == 0 { entity.table = "T\(below(4))" }
            return entities.append(entity)
        }
        let index = below(entities.count)
        let target = pick(entities) ?? entities[0]
        let name = "p\(below(12))"
        let rules: [DeleteRule?] = [nil, nil, nil, .nullify, .cascade, .deny, .noAction]
        let orders: [Relationship.Order?] = [nil, .stored, .attribute("p\(below(12))")]
        switch below(16) {
        case 0, 1: entities[index].properties.append(.integer(name, isOptional: below(2) == 0))
        case 2, 3, 4:
            let (isOptional, own, rule) = (below(3) > 0, pick(rules) ?? nil, pick(rules) ?? nil)
            entities[index].properties.append(
                .toOne(name, target.name, isOptional: isOptional, deleteRule: own, onTargetDelete: rule))
        case 5:
            entities[index].properties.append(
                .manyToMany(name, target.name, deleteRule: pick(rules) ?? nil, order: below(2) == 0 ? .stored : nil))
        case 6, 7, 8:
            // The inverse of a relationship that leads here.
            let leading = entities.flatMap { other in
                other.relationships.filter { $0.target == entities[index].name }.map { (other.name, $0) }
            }
            guard let (other, relationship) = pick(leading) else { return }
            let (rule, order, minimum) = (pick(rules) ?? nil, pick(orders) ?? nil, below(4) == 0 ? 1 : nil)
            switch relationship.kind {
            case .toOne where below(3) == 0:
                entities[index].properties.append(
                    .hasOne(name, other, inverse: relationship.name, deleteRule: rule))
            case .toOne:
                entities[index].properties.append(
                    .toMany(
                        name, other, inverse: relationship.name, deleteRule: rule, order: order, minimum: minimum))
            case .manyToMany:
                entities[index].properties.append(
                    .manyToManyInverse(name, other, inverse: relationship.name, deleteRule: rule))
            default: return
            }
        case 9:
            guard let list = pick(entities[index].relationships.filter { $0.isToMany }),
                let middle = entities.first(where: { $0.name == list.target }),
                let onward = pick(middle.relationships)
            else { return }
            entities[index].properties.append(.through(name, onward.target, list.name, onward.name))
        case 10: entities[index].uniques.append([name])
        case 11: entities[index].indexes.append([name])
        case 12:
            // Another rule.
            guard let place = pick(Array(entities[index].properties.indices)),
                case .relationship(var relationship) = entities[index].properties[place]
            else { return }
            switch below(3) {
            case 0: relationship.deleteRule = pick(rules) ?? nil
            case 1: relationship.order = pick(orders) ?? nil
            default: relationship.minimumCount = relationship.minimumCount == nil ? 1 : nil
            }
            entities[index].properties[place] = .relationship(relationship)
        case 13:
            guard let place = pick(Array(entities[index].properties.indices)) else { return }
            entities[index].properties.remove(at: place)
        case 14:
            entities[index].foreignKeys.append(
                ForeignKey(
                    columns: [name], target: target.name, targetColumns: ["id"], rule: .cascade,
                    optionalColumns: [name]))
        default:
            if below(4) == 0 { entities.remove(at: index) } else { entities[index].properties.append(.text(name)) }
        }
    }
}
