import Relata

// A trunk with a relationship of each delete rule in each direction.

@Model struct Trunk {
    @Attribute(.primaryKey) let name: String
    var parent: ToOne<Trunk>?
    @Relationship(deleteRule: .nullify, inverse: \Nullified.trunk) var nullified: ToMany<Nullified>
    @Relationship(deleteRule: .cascade, inverse: \Cascaded.trunk) var cascaded: ToMany<Cascaded>
    @Relationship(deleteRule: .deny, inverse: \Denying.trunk) var denying: ToMany<Denying>
    @Relationship(deleteRule: .noAction, inverse: \Dangling.trunk) var dangling: ToMany<Dangling>
    var marks: ToMany<Seal>
}

@Model struct Nullified {
    var id: Int?
    var trunk: ToOne<Trunk>?
    @Relationship(deleteRule: .cascade) var mark: ToOne<Seal>?
}

@Model struct Cascaded {
    var id: Int?
    var trunk: ToOne<Trunk>?
    @Relationship(deleteRule: .cascade, inverse: \CascadedLeaf.owner) var leaves: ToMany<CascadedLeaf>
    @Relationship(deleteRule: .deny) var mark: ToOne<Seal>?
}

@Model struct CascadedLeaf {
    var id: Int?
    var owner: ToOne<Cascaded>
    /// A leaf that refuses to be without its guard.
    @Relationship(onTargetDelete: .deny) var guardian: ToOne<Denying>?
}

@Model struct Denying {
    var id: Int?
    var trunk: ToOne<Trunk>?
    @Relationship(onTargetDelete: .cascade) var mark: ToOne<Seal>?
}

@Model struct Dangling {
    var id: Int?
    var trunk: ToOne<Trunk>?
    @Relationship(onTargetDelete: .noAction) var mark: ToOne<Seal>?
}

@Model struct Seal {
    @Attribute(.primaryKey) let name: String
}
