import Relata

// The second half of the fifty.

@Model struct E26 {
    let id: ID<E26>
    var name: String
    var amount: Double?
    var next: ToOne<E27>?
    @Relationship(inverse: \E25.next) var previous: ToMany<E25>
}

@Model struct E27 {
    let id: ID<E27>
    var name: String
    var amount: Double?
    var next: ToOne<E28>?
    @Relationship(inverse: \E26.next) var previous: ToMany<E26>
}

@Model struct E28 {
    let id: ID<E28>
    var name: String
    var amount: Double?
    var next: ToOne<E29>?
    @Relationship(inverse: \E27.next) var previous: ToMany<E27>
}

@Model struct E29 {
    let id: ID<E29>
    var name: String
    var amount: Double?
    var next: ToOne<E30>?
    @Relationship(inverse: \E28.next) var previous: ToMany<E28>
}

@Model struct E30 {
    let id: ID<E30>
    var name: String
    var amount: Double?
    var next: ToOne<E31>?
    @Relationship(inverse: \E29.next) var previous: ToMany<E29>
}

@Model struct E31 {
    let id: ID<E31>
    var name: String
    var amount: Double?
    var next: ToOne<E32>?
    @Relationship(inverse: \E30.next) var previous: ToMany<E30>
}

@Model struct E32 {
    let id: ID<E32>
    var name: String
    var amount: Double?
    var next: ToOne<E33>?
    @Relationship(inverse: \E31.next) var previous: ToMany<E31>
}

@Model struct E33 {
    let id: ID<E33>
    var name: String
    var amount: Double?
    var next: ToOne<E34>?
    @Relationship(inverse: \E32.next) var previous: ToMany<E32>
}

@Model struct E34 {
    let id: ID<E34>
    var name: String
    var amount: Double?
    var next: ToOne<E35>?
    @Relationship(inverse: \E33.next) var previous: ToMany<E33>
}

@Model struct E35 {
    let id: ID<E35>
    var name: String
    var amount: Double?
    var next: ToOne<E36>?
    @Relationship(inverse: \E34.next) var previous: ToMany<E34>
}

@Model struct E36 {
    let id: ID<E36>
    var name: String
    var amount: Double?
    var next: ToOne<E37>?
    @Relationship(inverse: \E35.next) var previous: ToMany<E35>
}

@Model struct E37 {
    let id: ID<E37>
    var name: String
    var amount: Double?
    var next: ToOne<E38>?
    @Relationship(inverse: \E36.next) var previous: ToMany<E36>
}

@Model struct E38 {
    let id: ID<E38>
    var name: String
    var amount: Double?
    var next: ToOne<E39>?
    @Relationship(inverse: \E37.next) var previous: ToMany<E37>
}

@Model struct E39 {
    let id: ID<E39>
    var name: String
    var amount: Double?
    var next: ToOne<E40>?
    @Relationship(inverse: \E38.next) var previous: ToMany<E38>
}

@Model struct E40 {
    let id: ID<E40>
    var name: String
    var amount: Double?
    var next: ToOne<E41>?
    @Relationship(inverse: \E39.next) var previous: ToMany<E39>
}

@Model struct E41 {
    let id: ID<E41>
    var name: String
    var amount: Double?
    var next: ToOne<E42>?
    @Relationship(inverse: \E40.next) var previous: ToMany<E40>
}

@Model struct E42 {
    let id: ID<E42>
    var name: String
    var amount: Double?
    var next: ToOne<E43>?
    @Relationship(inverse: \E41.next) var previous: ToMany<E41>
}

@Model struct E43 {
    let id: ID<E43>
    var name: String
    var amount: Double?
    var next: ToOne<E44>?
    @Relationship(inverse: \E42.next) var previous: ToMany<E42>
}

@Model struct E44 {
    let id: ID<E44>
    var name: String
    var amount: Double?
    var next: ToOne<E45>?
    @Relationship(inverse: \E43.next) var previous: ToMany<E43>
}

@Model struct E45 {
    let id: ID<E45>
    var name: String
    var amount: Double?
    var next: ToOne<E46>?
    @Relationship(inverse: \E44.next) var previous: ToMany<E44>
}

@Model struct E46 {
    let id: ID<E46>
    var name: String
    var amount: Double?
    var next: ToOne<E47>?
    @Relationship(inverse: \E45.next) var previous: ToMany<E45>
}

@Model struct E47 {
    let id: ID<E47>
    var name: String
    var amount: Double?
    var next: ToOne<E48>?
    @Relationship(inverse: \E46.next) var previous: ToMany<E46>
}

@Model struct E48 {
    let id: ID<E48>
    var name: String
    var amount: Double?
    var next: ToOne<E49>?
    @Relationship(inverse: \E47.next) var previous: ToMany<E47>
}

@Model struct E49 {
    let id: ID<E49>
    var name: String
    var amount: Double?
    var next: ToOne<E50>?
    @Relationship(inverse: \E48.next) var previous: ToMany<E48>
}

@Model struct E50 {
    let id: ID<E50>
    var name: String
    var amount: Double?
    var next: ToOne<E01>?
    @Relationship(inverse: \E49.next) var previous: ToMany<E49>
}
