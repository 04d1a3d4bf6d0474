import Foundation
import Relata
import Testing

@Model struct Numbered {
    let id: Int
    var name: String
}

@Model struct Named {
    @Attribute(.primaryKey) let name: String
    var note: String = ""
    @Relationship(inverse: \Tagged.named) var tagged: ToMany<Tagged>
}

@Model struct Tagged {
    let id: UUID
    var named: ToOne<Named>?
    var color: ToOne<Paint>?
    var seat: ToOne<Seat>?
}

@Model struct Paint {
    @Attribute(.primaryKey) let color: Color
    var price: Int = 0
}

@Model struct Seat {
    @Attribute(.primaryKey) let row: Int
    @Attribute(.primaryKey) let letter: String
    var isTaken: Bool = false
    @Relationship(inverse: \Tagged.seat) var tagged: ToMany<Tagged>
    var neighbours: ToMany<Seat>
}

@Model struct Student {
    var id: Int?
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Enrolment.student) var enrolments: ToMany<Enrolment>
}

@Model struct Enrolment: Codable {
    @Attribute(.primaryKey) var student: ToOne<Student>
    @Attribute(.primaryKey) let course: String
    var grade: Int?
    @Relationship(deleteRule: .cascade, inverse: \Remark.enrolment) var remarks: ToMany<Remark>
}

@Model struct Remark: Codable {
    let id: ID<Remark>
    var text: String
    var enrolment: ToOne<Enrolment>?
}

@Model struct Lesson {
    @Attribute(.primaryKey) var student: ToOne<Student>
    @Attribute(.primaryKey) var teacher: ToOne<Student>
    @Relationship(ordered: true, minimum: 1) var topics: ToMany<Topic>
    @Relationship(inverse: \Homework.lesson, ordered: true, maximum: 2) var homework: ToMany<Homework>
}

@Model struct Topic {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Lesson.topics) var lessons: ToMany<Lesson>
}

@Model struct Homework {
    var id: Int?
    var text: String
    var lesson: ToOne<Lesson>?
}

@Model struct Cover {
    @Attribute(.primaryKey) var student: ToOne<Student>
    var picture: String
}

@Model struct Badge {
    @Attribute(.text) let id: Relata.ID<Badge>
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Pin.badge) var pins: ToMany<Pin>
    @Relationship(ordered: true) var friends: ToMany<Badge>
}

@Model struct Pin {
    var id: Int?
    var badge: ToOne<Badge>?
    @Attribute(.text) var other: Relata.ID<Badge>?
}

@Model struct Cell {
    @Attribute(.primaryKey) let a: Int
    @Attribute(.primaryKey) let b: Int
    @Attribute(.primaryKey) let c: Int
    @Attribute(.primaryKey) let d: Int
    @Attribute(.primaryKey) let e: Int
    @Attribute(.primaryKey) let f: Int
    @Attribute(.primaryKey) let g: Int
    @Attribute(.primaryKey) let h: String
    @Attribute(.primaryKey) let i: Bool
    var name: String
    var parent: ToOne<Cell>?
    @Relationship(deleteRule: .cascade, inverse: \Cell.parent) var children: ToMany<Cell>
    @Relationship(ordered: true) var neighbours: ToMany<Cell>
}

/// Every kind of primary key.
@Suite struct KeyTests {
    @Test func generatedKeysSortByTime() {
        let keys = (0..<10_000).map { _ in ID<Sample>() }
        #expect(keys == keys.sorted())
        #expect(Set(keys).count == keys.count)
        #expect(ID<Sample>(keys[0].description) == keys[0])
        #expect(ID<Sample>("no uuid") == nil)
    }

    @Test(arguments: Engine.allCases) func theDatabaseAssignsIntegers(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: History.self)
        let first = try store.insert(History(progress: 0.1))
        let given = try store.insert(History(id: 40, progress: 0.2))
        let next = try store.save(History(progress: 0.3))
        #expect([first.id, given.id, next.id] == [1, 40, 41])
        #expect(try store.fetch(History.self, id: 41)?.progress == 0.3)
        let many = try store.insert([History(progress: 1), History(progress: 1)])
        #expect(many.map(\.id) == [42, 43])
    }

    @Test(arguments: Engine.allCases) func assignedKeysAreNeverReused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: History.self)
        let last = try store.insert([History(progress: 1), History(progress: 2)])[1]
        try store.delete(last)
        #expect(try store.insert(History(progress: 3)).id == 3)
        try store.delete(History.all)
        #expect(try store.save(History(progress: 4)).id == 4)
        // A greater key isn't used again either, whether an object brought it along or the program's own SQL deleted
        // its row.
        try store.insert(History(id: 70, progress: 5))
        try store.execute(#"DELETE FROM "History""#)
        #expect(try store.insert([History(progress: 6), History(progress: 7)]).map(\.id) == [71, 72])
    }

    @Test(arguments: Engine.shared) func assignedKeysAreNeverReusedAfterClosing(
        _ engine: Engine
    ) throws {
        let database = TestDatabase(engine)
        var store = try database.open(History.self)
        let key = try #require(try store.insert(History(progress: 1)).id)
        try store.delete(History.self, id: key)
        try store.close()
        store = try database.open(History.self)
        #expect(try store.insert(History(progress: 2)).id == key + 1)
    }

    /// Keys are assigned to many rows at once, and each object gets the key of its own row.
    @Test(arguments: Engine.allCases, [1, 15, 16, 17, 40, 100])
    func batchesGetTheKeysOfTheirRows(_ engine: Engine, _ count: Int) throws {
        let store = try TestStore.make(engine, for: Series.self)
        try store.delete(try store.insert(Series(title: "gone")))
        let histories = try store.insert((0..<count).map { History(progress: Double($0)) })
        #expect(histories.map(\.id) == (1...count).map { $0 })
        #expect(try store.fetch(History.sorted { $0.id }) == histories)
        let links = (0..<count).map { ToOne(Series(title: "series \($0)")) }
        let episodes = try store.save((0..<count).map { Episode(title: "\($0)", series: links[$0 / 2]) })
        #expect(try store.fetch(Episode.sorted { $0.id }.including { $0.series }) == episodes)
        #expect(try episodes.map { try $0.series.object.title } == (0..<count).map { "series \($0 / 2)" })
    }

    @Test(arguments: Engine.allCases) func batchesNameTheFailingObject(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Cabinet.self)
        let known = try store.insert(Cabinet(text: "known", code: "c20"))
        let cabinets = (0..<50).map { Cabinet(text: "\($0)", code: "c\($0)") }
        #expect(thrown { try store.save(cabinets) }?.kind == "uniqueViolation")
        #expect(try store.fetch(Cabinet.all) == [known])
        // The object that has the value releases it in the same save.
        var changed = known
        changed.code = "free"
        let objects: [Cabinet] = cabinets + [changed]
        let saved = try store.save(objects)
        #expect(
            try store.fetch(Cabinet.sorted { $0.text }).map(\.code) == saved.sorted { $0.text < $1.text }.map(\.code))
        #expect(Set(saved.compactMap(\.id)).count == 51)
    }

    @Test(arguments: Engine.allCases) func exhaustedKeysAreReported(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: History.self)
        try store.insert(History(id: .max, progress: 1))
        let error = thrown { try store.insert(History(progress: 2)) }
        #expect(error?.kind == "invalidUse" && error?.description.contains("no greater key") == true)
        #expect(try store.insert(History(id: 5, progress: 2)).id == 5)
    }

    @Test(arguments: Engine.allCases) func assignedKeysIncreaseWithinABatch(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let known = try store.insert(Series(title: "known"))
        let series = [ToOne(Series(title: "a")), ToOne(known), ToOne(Series(title: "b")), ToOne(known)]
        let episodes = try store.insert(series.map { Episode(title: "e", series: $0) })
        #expect(episodes.map(\.id) == [1, 2, 3, 4] && episodes.map(\.series.id) == [2, 1, 3, 1])
    }

    @Test(arguments: Engine.allCases) func equalNewObjectsGetDifferentKeys(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let (one, two) = try store.insert(History(progress: 1), History(progress: 1))
        #expect(one.id == 1 && two.id == 2)
        let (three, four) = try store.save(Series(title: "same"), Series(title: "same"))
        #expect(three.id != four.id)
    }

    @Test(arguments: Engine.allCases) func aGivenIntegerIsTheKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Numbered.self)
        try store.insert([Numbered(id: .min, name: "a"), Numbered(id: 0, name: "b"), Numbered(id: .max, name: "c")])
        #expect(try store.fetch(Numbered.self, id: .min)?.name == "a")
        #expect(try store.fetch(Numbered.self, id: .max)?.name == "c")
        let error = thrown { try store.insert(Numbered(id: 0, name: "d")) }
        #expect(error?.kind == "alreadyExists")
    }

    @Test(arguments: Engine.embedded) func keysCanBeTextUUIDsAndEnums(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Tagged.self)
        let id = UUID()
        let tagged = Tagged(
            id: id, named: ToOne(Named(name: "Ünï 'x'\0")), color: ToOne(Paint(color: .green, price: 3)),
            seat: ToOne(Seat(row: 2, letter: "b")))
        try store.insert(tagged)
        let stored = try #require(try store.fetch(Tagged.self, id: id))
        #expect(stored.named?.id == "Ünï 'x'\0")
        #expect(stored.color?.id == .green)
        #expect(stored.seat?.id == Seat.Key(row: 2, letter: "b"))
        #expect(try store.fetch(Paint.self, id: .green)?.price == 3)
        #expect(try store.fetch(stored.seat)?.isTaken == false)
        #expect(try store.count(Tagged.where { $0.color == .green && $0.seat == Seat.Key(row: 2, letter: "b") }) == 1)
        #expect(try store.count(Tagged.where { $0.color.price == 3 && $0.seat.row == 2 }) == 1)
        #expect(try store.count(Seat.where { $0.tagged.contains(id: id) }) == 1)
    }

    @Test(arguments: Engine.allCases) func keysCanHaveSeveralProperties(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Seat.self)
        var seat = Seat(row: 1, letter: "a")
        seat.neighbours.add([Seat(row: 1, letter: "b"), Seat(row: 2, letter: "a")])
        try store.insert(seat)
        try store.update(Seat.self, id: Seat.Key(row: 1, letter: "b")) {
            $0.isTaken = true
            $0.neighbours.add(id: Seat.Key(row: 1, letter: "a"))
        }
        #expect(try store.fetch(Seat.where { $0.isTaken }).map(\.letter) == ["b"])
        let neighbours = try store.related(to: seat) { $0.neighbours }
        #expect(neighbours.map(\.primaryKey) == [Seat.Key(row: 1, letter: "b"), Seat.Key(row: 2, letter: "a")])
        #expect(thrown { try store.insert(Seat(row: 1, letter: "a")) }?.kind == "alreadyExists")
        let report = try store.delete(Seat.self, id: Seat.Key(row: 1, letter: "a"))
        #expect(report.deletedCount == 1)
        #expect(try store.count(Seat.all) == 2)
    }

    @Test(arguments: Engine.allCases) func aKeyMayBeStoredAsText(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Badge.self)
        let friend = Badge(name: "friend")
        var badge = Badge(name: "b")
        badge.pins.add([Pin(), Pin(other: friend.id)])
        badge.friends.add(friend)
        badge = try store.insert(badge)
        let text = badge.id.description
        #expect(
            try store.rows(#"SELECT "b"."id", "badgeId" FROM "Badge" AS "b", "Pin" WHERE "name" = 'b'"#)
                == [[.text(text), .text(text)], [.text(text), .text(text)]])
        let stored = try #require(try store.fetch(Badge.self, id: badge.id))
        #expect(stored.id == badge.id)
        let key = badge.id
        #expect(try store.count(Pin.where { $0.badge == key }) == 2)
        #expect(try store.count(Pin.where { $0.badge == badge && $0.badge.id.in([key, friend.id]) }) == 2)
        #expect(try store.count(Pin.where { $0.other == friend.id || $0.other == nil }) == 2)
        #expect(try store.count(Badge.where { $0.friends.contains(friend) && $0.id == key }) == 1)
        #expect(try store.fetch(ids: [ObjectKey(Badge.self, key)]).first?.object(as: Badge.self)?.name == "b")
        #expect(try store.related(to: badge) { $0.friends } == [store.refresh(friend)])
        #expect(try store.load(stored) { $0.pins }.pins.objects.map(\.badge?.id) == [key, key])
        try store.update(Pin.self, id: 1) { $0.badge = ToOne(id: friend.id) }
        #expect(try store.update(Pin.where { $0.badge == key }) { $0.badge.set(to: friend) } == 1)
        try store.save(Badge(id: key, name: "again"))
        #expect(try store.delete(badge).deletedKeys(of: "Badge").first == KeyValue(.text(text)))
        #expect(try store.delete(Badge.self, id: friend.id).deletedCount == 3)
    }

    @Test(arguments: Engine.allCases) func aKeyMayHaveManyParts(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Cell.self)
        func cell(_ number: Int) -> Cell {
            Cell(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: number, h: "h", i: true, name: "\(number)")
        }
        var root = cell(0)
        root.children.add([cell(1), cell(2), cell(3)])
        root.neighbours.add([cell(4), cell(5)])
        try store.insert(root)
        let keys = try (0..<6).map { try #require(cell($0).primaryKey) }
        let found = try store.fetch(ids: keys.map { ObjectKey(Cell.self, $0) })
        #expect(found.compactMap { $0.object(as: Cell.self)?.name } == ["0", "1", "2", "3", "4", "5"])
        let loaded = try store.load(store.fetch(Cell.sorted { $0.name })) {
            $0.children; $0.neighbours; $0.parent
        }
        #expect(try loaded[0].children.objects.count == 3)
        #expect(try loaded[0].neighbours.objects.map(\.name) == ["4", "5"])
        #expect(try loaded[1].parent?.object.name == "0")
        try store.update(Cell.self, id: keys[0]) { $0.children.set(ids: [keys[1], keys[2]]) }
        #expect(try store.count(Cell.where { $0.parent.in(ids: keys) }) == 2)
        #expect(try store.update(Cell.where { $0.parent == keys[0] }) { $0.name.set(to: "child") } == 2)
        #expect(try store.count(root.descendants { $0.children }) == 2)
        #expect(try store.delete([cell(0), cell(4)]).deletedCount == 4)
        #expect(try store.fetch(Cell.sorted { $0.name }).map(\.name) == ["3", "5"])
    }

    @Test(arguments: Engine.allCases) func keysCanContainAnotherObjectsKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Student.self, Cover.self)
        let enrolment = try store.insert(Enrolment(student: ToOne(Student(name: "Ada")), course: "Logic", grade: 1))
        #expect(enrolment.primaryKey == Enrolment.Key(student: 1, course: "Logic"))
        let remark = try store.insert(Remark(text: "good", enrolment: ToOne(enrolment)))
        #expect(try store.fetch(Remark.self, id: remark.id)?.enrolment?.id == enrolment.primaryKey)
        #expect(try store.count(Remark.where { $0.enrolment.student.name == "Ada" }) == 1)
        #expect(try store.count(Remark.where { $0.enrolment == enrolment }) == 1)
        #expect(try store.related(to: enrolment) { $0.remarks }.map(\.text) == ["good"])
        let cover = try store.insert(Cover(student: ToOne(id: 1), picture: "p"))
        #expect(cover.primaryKey == 1)
        #expect(try store.fetch(Cover.self, id: 1)?.picture == "p")
        #expect(thrown { try store.insert(Cover(student: .unset, picture: "q")) }?.reference == "Cover.student")
    }

    @Test(arguments: Engine.allCases) func objectsWithANewObjectInTheirKeyMayHaveEdits(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Student.self)
        let moved = try store.insert(Remark(text: "moved"))
        var logic = Enrolment(student: ToOne(Student(name: "Ada")), course: "Logic")
        logic.remarks.add([Remark(text: "good"), Remark(text: "late")])
        logic.remarks.add(id: moved.id)
        let saved = try store.insert(logic)
        #expect(saved.primaryKey == Enrolment.Key(student: 1, course: "Logic") && !saved.remarks.hasEdits)
        #expect(try store.related(to: saved) { $0.remarks }.map(\.text).sorted() == ["good", "late", "moved"])
        var art = Enrolment(student: ToOne(Student(name: "Bob")), course: "Art")
        art.remarks.add([moved, Remark(text: "new")])
        let remark = try store.save(Remark(text: "first", enrolment: ToOne(art)))
        #expect(remark.enrolment?.id == Enrolment.Key(student: 2, course: "Art"))
        #expect(try store.count(Remark.where { $0.enrolment.student.name == "Bob" }) == 3)
        #expect(try store.count(Remark.where { $0.enrolment == saved }) == 2)
        // In the other direction: the new object's list sets the key.
        let law = Enrolment(student: .unset, course: "Law", remarks: ToMany([Remark(text: "r")]))
        let cleo = try store.save(Student(name: "Cleo", enrolments: ToMany([law])))
        #expect(try cleo.enrolments.objects.map(\.primaryKey) == [Enrolment.Key(student: 3, course: "Law")])
        #expect(try store.count(Remark.where { $0.enrolment.student.name == "Cleo" }) == 1)
    }

    @Test(arguments: Engine.allCases) func listsOfObjectsWithNewObjectsInTheirKeyAreCountedAndOrdered(
        _ engine: Engine
    ) throws {
        let store = try TestStore.make(engine, for: Lesson.self)
        func lesson(_ topics: [String], homework count: Int = 0) -> Lesson {
            Lesson(
                student: ToOne(Student(name: "s")), teacher: ToOne(Student(name: "t")),
                topics: ToMany(topics.map { Topic(name: $0) }),
                homework: ToMany((0..<count).map { Homework(text: "\($0)") }))
        }
        #expect(thrown { try store.insert(lesson([])) }?.failures == ["topics"])
        #expect(thrown { try store.insert(lesson(["a"], homework: 3)) }?.failures == ["homework"])
        #expect(try store.count(Student.all) + store.count(Homework.all) == 0)
        let saved = try store.insert(lesson(["b", "a"], homework: 2))
        #expect(try store.related(to: saved) { $0.topics }.map(\.name) == ["b", "a"])
        #expect(try store.related(to: saved) { $0.homework }.map(\.text) == ["0", "1"])
        let stored = try #require(
            try store.first(
                Lesson.all.including {
                    $0.student; $0.teacher
                }))
        #expect(try stored.student.object.name == "s" && stored.teacher.object.name == "t")
        #expect(stored.primaryKey == saved.primaryKey)
    }

    @Test(arguments: Engine.allCases) func aKeyNeverChanges(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Student.self)
        let student = try store.insert(Student(name: "Ada"))
        #expect(thrown { try store.update(Student.self, id: 1) { $0.id = 2 } }?.kind == "invalidUse")
        #expect(thrown { try store.update(Student.self, id: 1) { $0.id = nil } }?.kind == "invalidUse")
        #expect(try store.refresh(student).name == "Ada")
    }
}
