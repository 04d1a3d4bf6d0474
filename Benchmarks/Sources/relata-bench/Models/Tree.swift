import Relata

// Three levels of cascades: 10 roots, 1,000 branches and 99,000 leaves are deleted; an eleventh tree stays.

@Model struct Root {
    let id: Int
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Branch.root) var branches: ToMany<Branch>
}

@Model struct Branch {
    let id: Int
    var name: String
    var root: ToOne<Root>
    @Relationship(deleteRule: .cascade, inverse: \Leaf.branch) var leaves: ToMany<Leaf>
}

@Model struct Leaf {
    let id: Int
    var name: String
    var branch: ToOne<Branch>
}

// The same tree with a rule that could deny the deletion: the exhibits are on loan, but only those of the museum that
// stays.

@Model struct Museum {
    let id: Int
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Room.museum) var rooms: ToMany<Room>
}

@Model struct Room {
    let id: Int
    var name: String
    var museum: ToOne<Museum>
    @Relationship(deleteRule: .cascade, inverse: \Exhibit.room) var exhibits: ToMany<Exhibit>
}

@Model struct Exhibit {
    let id: Int
    var name: String
    var room: ToOne<Room>
    @Relationship(deleteRule: .deny, inverse: \Loan.exhibit) var loans: ToMany<Loan>
}

@Model struct Loan {
    let id: Int
    var borrower: String
    var exhibit: ToOne<Exhibit>
}
