import Relata

// Fifty small entities, each linked to the next: a schema of the size that a large app has.

@Model struct E01 {
    let id: ID<E01>
    var name: String
    var amount: Double?
    var next: ToOne<E02>?
    @Relationship(inverse: \E50.next) var previous: ToMany<E50>
}

@Model struct E02 {
    let id: ID<E02>
    var name: String
    var amount: Double?
    var next: ToOne<E03>?
    @Relationship(inverse: \E01.next) var previous: ToMany<E01>
}

@Model struct E03 {
    let id: ID<E03>
    var name: String
    var amount: Double?
    var next: ToOne<E04>?
    @Relationship(inverse: \E02.next) var previous: ToMany<E02>
}

@Model struct E04 {
    let id: ID<E04>
    var name: String
    var amount: Double?
    var next: ToOne<E05>?
    @Relationship(inverse: \E03.next) var previous: ToMany<E03>
}

@Model struct E05 {
    let id: ID<E05>
    var name: String
    var amount: Double?
    var next: ToOne<E06>?
    @Relationship(inverse: \E04.next) var previous: ToMany<E04>
}

@Model struct E06 {
    let id: ID<E06>
    var name: String
    var amount: Double?
    var next: ToOne<E07>?
    @Relationship(inverse: \E05.next) var previous: ToMany<E05>
}

@Model struct E07 {
    let id: ID<E07>
    var name: String
    var amount: Double?
    var next: ToOne<E08>?
    @Relationship(inverse: \E06.next) var previous: ToMany<E06>
}

@Model struct E08 {
    let id: ID<E08>
    var name: String
    var amount: Double?
    var next: ToOne<E09>?
    @Relationship(inverse: \E07.next) var previous: ToMany<E07>
}

@Model struct E09 {
    let id: ID<E09>
    var name: String
    var amount: Double?
    var next: ToOne<E10>?
    @Relationship(inverse: \E08.next) var previous: ToMany<E08>
}

@Model struct E10 {
    let id: ID<E10>
    var name: String
    var amount: Double?
    var next: ToOne<E11>?
    @Relationship(inverse: \E09.next) var previous: ToMany<E09>
}

@Model struct E11 {
    let id: ID<E11>
    var name: String
    var amount: Double?
    var next: ToOne<E12>?
    @Relationship(inverse: \E10.next) var previous: ToMany<E10>
}

@Model struct E12 {
    let id: ID<E12>
    var name: String
    var amount: Double?
    var next: ToOne<E13>?
    @Relationship(inverse: \E11.next) var previous: ToMany<E11>
}

@Model struct E13 {
    let id: ID<E13>
    var name: String
    var amount: Double?
    var next: ToOne<E14>?
    @Relationship(inverse: \E12.next) var previous: ToMany<E12>
}

@Model struct E14 {
    let id: ID<E14>
    var name: String
    var amount: Double?
    var next: ToOne<E15>?
    @Relationship(inverse: \E13.next) var previous: ToMany<E13>
}

@Model struct E15 {
    let id: ID<E15>
    var name: String
    var amount: Double?
    var next: ToOne<E16>?
    @Relationship(inverse: \E14.next) var previous: ToMany<E14>
}

@Model struct E16 {
    let id: ID<E16>
    var name: String
    var amount: Double?
    var next: ToOne<E17>?
    @Relationship(inverse: \E15.next) var previous: ToMany<E15>
}

@Model struct E17 {
    let id: ID<E17>
    var name: String
    var amount: Double?
    var next: ToOne<E18>?
    @Relationship(inverse: \E16.next) var previous: ToMany<E16>
}

@Model struct E18 {
    let id: ID<E18>
    var name: String
    var amount: Double?
    var next: ToOne<E19>?
    @Relationship(inverse: \E17.next) var previous: ToMany<E17>
}

@Model struct E19 {
    let id: ID<E19>
    var name: String
    var amount: Double?
    var next: ToOne<E20>?
    @Relationship(inverse: \E18.next) var previous: ToMany<E18>
}

@Model struct E20 {
    let id: ID<E20>
    var name: String
    var amount: Double?
    var next: ToOne<E21>?
    @Relationship(inverse: \E19.next) var previous: ToMany<E19>
}

@Model struct E21 {
    let id: ID<E21>
    var name: String
    var amount: Double?
    var next: ToOne<E22>?
    @Relationship(inverse: \E20.next) var previous: ToMany<E20>
}

@Model struct E22 {
    let id: ID<E22>
    var name: String
    var amount: Double?
    var next: ToOne<E23>?
    @Relationship(inverse: \E21.next) var previous: ToMany<E21>
}

@Model struct E23 {
    let id: ID<E23>
    var name: String
    var amount: Double?
    var next: ToOne<E24>?
    @Relationship(inverse: \E22.next) var previous: ToMany<E22>
}

@Model struct E24 {
    let id: ID<E24>
    var name: String
    var amount: Double?
    var next: ToOne<E25>?
    @Relationship(inverse: \E23.next) var previous: ToMany<E23>
}

@Model struct E25 {
    let id: ID<E25>
    var name: String
    var amount: Double?
    var next: ToOne<E26>?
    @Relationship(inverse: \E24.next) var previous: ToMany<E24>
}
