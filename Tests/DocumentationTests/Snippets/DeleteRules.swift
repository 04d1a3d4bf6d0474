import Relata
import Testing

@Model struct Library {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Copy.library) var copies: ToMany<Copy>
}

@Model struct Work {
    @Attribute(.primaryKey) let title: String
    @Relationship(deleteRule: .cascade, inverse: \Copy.work) var copies: ToMany<Copy>
    var subjects: ToMany<Subject>
}

@Model struct Copy {
    @Attribute(.primaryKey) let number: Int
    var library: ToOne<Library>
    var work: ToOne<Work>
    @Relationship(deleteRule: .deny, inverse: \Loan.copy) var loans: ToMany<Loan>
    @Relationship(deleteRule: .nullify, inverse: \Remark.copy) var remarks: ToMany<Remark>
}

@Model struct Loan {
    @Attribute(.primaryKey) let number: Int
    var copy: ToOne<Copy>
    @Relationship(onTargetDelete: .cascade) var reader: ToOne<Reader>
}

@Model struct Reader {
    @Attribute(.primaryKey) let name: String
}

@Model struct Remark {
    @Attribute(.primaryKey) let text: String
    var copy: ToOne<Copy>?
}

@Model struct Subject {
    @Attribute(.primaryKey) let name: String
}

@Test func plansAndReports() async throws {
    try await example {
        let store = try await Store.open(temporary("town.sqlite"), for: Library.self)
        let town = Library(name: "Town Library")
        let dune = Work(title: "Dune", subjects: ToMany([Subject(name: "Deserts"), Subject(name: "Politics")]))
        let ada = Reader(name: "Ada")
        try await store.save([
            Copy(number: 1, library: ToOne(town), work: ToOne(dune)),
            Copy(number: 2, library: ToOne(town), work: ToOne(dune)),
            Remark(text: "Sand in the binding", copy: ToOne(id: 1)),
            Loan(number: 70, copy: ToOne(id: 2), reader: ToOne(ada)),
        ])

        let plan = try await store.deletionPlan(for: dune)
        print(plan.sorted())
        // docs: hide
        try printed(in: "Documentation/DeleteRules.md")
        // docs: show

        do {
            try await store.delete(dune)
        } catch RelataError.deleteDenied(let blockers) {
            for blocker in blockers { print(blocker.object, "keeps", blocker.blocked) }
        }
        // docs: hide
        try printed(in: "Documentation/DeleteRules.md")
        // docs: show

        try await store.delete(ada)  // her loan goes with her: onTargetDelete: .cascade
        let report = try await store.delete(dune)
        print(report.sorted())
        print(try await store.fetch(Remark.all).map { $0.copy == nil })
        // docs: hide
        try printed(in: "Documentation/DeleteRules.md")
        // docs: show
        // docs: hide
        #expect(report.deleted.map(\.keys.count).sorted() == plan.deleted.map(\.keys.count).sorted())
        // docs: show
    }
}

@Test func denyIsCheckedLast() async throws {
    try await example {
        let store = try await Store.open(temporary("town.sqlite"), for: Library.self)
        try await store.save(
            Loan(
                number: 70,
                copy: ToOne(Copy(number: 1, library: ToOne(Library(name: "Town")), work: ToOne(Work(title: "Dune")))),
                reader: ToOne(Reader(name: "Ada"))))

        try await store.write { tx in
            try tx.delete(Loan.all)
            try tx.delete(Copy.all)
        }
        print(try await store.count(Copy.all), "copies")
        // docs: hide
        try printed(in: "Documentation/DeleteRules.md")
        // docs: show
    }
}

@Model struct Inspection {
    var id: Int?
    @Relationship(onTargetDelete: .noAction) var copy: ToOne<Shelfmark>
}

@Model struct Shelfmark {
    @Attribute(.primaryKey) let code: String
}

@Test func dangling() async throws {
    try await example {
        let store = try await Store.open(temporary("marks.sqlite"), for: Inspection.self)
        try await store.insert(Inspection(copy: ToOne(Shelfmark(code: "QA 76"))))
        try await store.delete(Shelfmark.self, id: "QA 76")

        let inspection = try await store.fetch(Inspection.all)[0]
        print(inspection.copy.id ?? "", try await store.fetch(inspection.copy) == nil)
        // docs: hide
        try printed(in: "Documentation/DeleteRules.md")
        // docs: show
    }
}
