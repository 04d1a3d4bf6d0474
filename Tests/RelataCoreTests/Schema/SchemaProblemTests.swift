import RelataCore
import Testing

/// Each way in which entities can contradict themselves, and that the message names the place.
@Suite struct SchemaProblemTests {
    private let b = Entity(name: "B", properties: [.id()])

    private func a(
        _ properties: [Property], key: [String] = ["id"], isKeyAssigned: Bool = false, uniques: [[String]] = [],
        indexes: [[String]] = [], revision: String? = nil, createdAt: String? = nil
    ) -> Entity {
        Entity(
            name: "A", properties: [.id()] + properties, key: key, isKeyAssigned: isKeyAssigned, uniques: uniques,
            indexes: indexes, revision: revision, createdAt: createdAt)
    }

    private func expectOne(_ beginning: String, _ entities: [Entity], location: SourceLocation = #_sourceLocation) {
        let found = problems(entities)
        #expect(found.count == 1 && found[0].hasPrefix(beginning), "\(found)", sourceLocation: location)
    }

    @Test func unknownNamesAreRefused() {
        expectOne("A.c: its target C is unknown", [a([.toOne("c", "C")])])
        expectOne("A.bs: its inverse B.a isn't a to-one", [a([.toMany("bs", "B", inverse: "a")]), b])
        expectOne("A.title: it should be the primary key", [a([], key: ["title"])])
        expectOne("A.x: a unique set names it", [a([], uniques: [["x"]])])
        expectOne("A.x: an index set names it", [a([], indexes: [["x"]])])
        expectOne("A: a unique set is empty", [a([], uniques: [[]])])
    }

    @Test func anInverseOfAnotherTypeIsRefused() {
        let other = Entity(name: "B", properties: [.id(), .toOne("c", "C")])
        let c = Entity(name: "C", properties: [.id()])
        expectOne("A.bs: its inverse B.c points at C", [a([.toMany("bs", "B", inverse: "c")]), other, c])
        let many = Entity(name: "B", properties: [.id(), .manyToMany("cs", "C")])
        expectOne("A.bs: its inverse B.cs points at C", [a([.manyToManyInverse("bs", "B", inverse: "cs")]), many, c])
        expectOne(
            "A.bs: its inverse B.cs isn't a many-to-many", [a([.manyToManyInverse("bs", "B", inverse: "cs")]), b])
    }

    @Test func twoViewsOfOneKeyAreRefused() {
        let other = Entity(name: "B", properties: [.id(), .toOne("a", "A"), .manyToMany("many", "A")])
        expectOne(
            "A.two: B.a already has the view one",
            [a([.toMany("one", "B", inverse: "a"), .hasOne("two", "B", inverse: "a")]), other])
        expectOne(
            "A.two: B.many already has the inverse one",
            [
                a([.manyToManyInverse("one", "B", inverse: "many"), .manyToManyInverse("two", "B", inverse: "many")]),
                other,
            ])
    }

    @Test func rulesWithoutEffectAreRefused() {
        expectOne("A.bs: noAction would leave join rows", [a([.manyToMany("bs", "B", deleteRule: .noAction)]), b])
        let cascade = Relationship("bs", target: "B", kind: .manyToMany(), onTargetDelete: .cascade)
        expectOne("A.bs: onTargetDelete is for a to-one", [a([.relationship(cascade)]), b])
        let removing = Relationship("bs", target: "B", kind: .manyToMany(), removeRule: .delete)
        expectOne("A.bs: removeRule is for the view of a to-one", [a([.relationship(removing)]), b])
    }

    @Test func namesThatSQLTreatsAsEqualAreRefused() {
        expectOne("a: its table a is also the table of A", [a([]), Entity(name: "a", properties: [.id()])])
        expectOne("A: two entities have this name", [a([]), Entity(name: "A", table: "other", properties: [.id()])])
        expectOne("A.title: its column ID is also that of id", [a([.text("title", column: "ID")])])
        expectOne("A.bId: its column bId is also that of b", [a([.toOne("b", "B"), .text("bId")]), b])
        expectOne("A.x: two properties", [a([.text("x"), .text("x", column: "y")])])
        expectOne(
            "A.bs: its join table B is also the table of B", [a([.manyToMany("bs", "B", names: .init(table: "B"))]), b])
        expectOne("A.a: its join table has two columns named aId", [a([.manyToMany("a", "A")])])
        expectOne("A: the table name sqlite_a is reserved", [Entity(name: "A", table: "sqlite_a", properties: [.id()])])
    }

    @Test func positionColumnsMustNotCollideWithAttributes() {
        let other = Entity(name: "B", properties: [.id(), .toOne("a", "A"), .integer("aPosition")])
        expectOne(
            "B.a: its column aPosition is also that of aPosition",
            [a([.toMany("bs", "B", inverse: "a", order: .stored)]), other])
    }

    @Test func tablesAndColumnsMustHaveNames() {
        #expect(
            problems([Entity(name: "A", table: "", properties: [.id()])]).contains {
                $0.contains("its table's name is empty")
            })
        #expect(
            problems([Entity(name: "A", properties: [.id(), .text("x", column: "")])]).contains {
                $0.contains("its column's name is empty")
            })
    }

    @Test func uniqueSetsContainOnlyColumns() {
        let entities = { (uniques: [[String]], indexes: [[String]]) in
            [
                Entity(
                    name: "A", properties: [.id(), .toMany("bs", "B", inverse: "a")], uniques: uniques,
                    indexes: indexes),
                Entity(name: "B", properties: [.id(), .toOne("a", "A")]),
            ]
        }
        #expect(problems(entities([["bs"]], [])).contains { $0.contains("unique set contains only attributes") })
        #expect(problems(entities([], [["bs"]])).contains { $0.contains("index set contains only attributes") })
        #expect(problems(entities([], [[]])).contains { $0.contains("is empty") })
    }

    @Test func keysMustBeCompleteAndRequired() {
        expectOne(
            "A.n: a part of the primary key can't be optional", [a([.integer("n", isOptional: true)], key: ["n"])])
        expectOne("A: only a single integer key can be assigned", [a([], isKeyAssigned: true)])
        expectOne("A: it has no primary key", [a([], key: [])])
        let names = (0..<33).map { "n\($0)" }
        expectOne("A: its primary key has 33 columns, and 32 is the most", [a(names.map { .integer($0) }, key: names)])
        #expect(problems([a(names.map { .integer($0) }, key: names.dropLast())]) == [])
        expectOne("A.bs: a primary key contains only attributes", [a([.manyToMany("bs", "B")], key: ["bs"]), b])
    }

    @Test func ordersAndCountsMustFit() {
        let other = Entity(name: "B", properties: [.id(), .toOne("a", "A"), .text("title")])
        let toMany = { (order: Relationship.Order?, minimum: Int?, maximum: Int?) in
            [
                self.a([.toMany("bs", "B", inverse: "a", order: order, minimum: minimum, maximum: maximum)]), other,
            ]
        }
        expectOne("A.bs: it is ordered by B.title", toMany(.attribute("title"), nil, nil))
        expectOne("A.bs: it is ordered by B.place", toMany(.attribute("place"), nil, nil))
        expectOne("A.bs: its minimum 3 is above its maximum 2", toMany(nil, 3, 2))
        expectOne("A.bs: its minimum is below 0", toMany(nil, -1, nil))
        expectOne("A.bs: its maximum is below 1", toMany(nil, nil, 0))
        expectOne("A.bs: a many-to-many has no attribute", [a([.manyToMany("bs", "B", order: .attribute("x"))]), b])
        let ordered = Relationship("b", target: "B", kind: .toOne(isOptional: true), order: .stored)
        expectOne("A.b: only a to-many can be ordered", [a([.relationship(ordered)]), b])
    }

    @Test func stampsAndRevisionsMustHaveTheirType() {
        expectOne("A.r: a revision counts changes", [a([.text("r")], revision: "r")])
        expectOne("A.r: a revision can't be optional", [a([.integer("r", isOptional: true)], revision: "r")])
        expectOne("A.t: a stamp is a point in time", [a([.text("t")], createdAt: "t")])
    }

    @Test func aReferenceNeedsAColumnForEachPartOfItsTargetsKey() {
        expectOne("A.b: it names 2 column(s)", [a([.toOne("b", "B", columns: ["x", "y"])]), b])
    }

    @Test func allProblemsAreListedAtOnce() {
        let found = problems([
            a([.toOne("c", "C"), .toMany("bs", "B", inverse: "a")], uniques: [["x"]]), b,
        ])
        #expect(found.count == 3)
    }
}
