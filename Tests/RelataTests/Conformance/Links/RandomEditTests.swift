import Relata
import RelataTesting
import Testing

@Model struct Cart {
    var id: Int?
    var name: String = "cart"
    @Relationship(inverse: \CartLine.cart, ordered: true) var lines: ToMany<CartLine>
    @Relationship(inverse: \CartNote.cart) var notes: ToMany<CartNote>
    @Relationship(inverse: \CartItem.cart, order: \CartItem.position) var items: ToMany<CartItem>
    @Relationship(through: \Cart.items, \CartItem.goods) var goods: Through<CartGoods>
    @Relationship(ordered: true) var labels: ToMany<CartLabel>
    var owners: ToMany<CartOwner>
    @Relationship(ordered: true) var coupons: ToMany<CartCoupon>
}

@Model struct CartLine {
    var id: Int?
    var text: String
    var cart: ToOne<Cart>?
}

@Model struct CartNote {
    var id: Int?
    var text: String
    var cart: ToOne<Cart>?
}

@Model struct CartItem {
    var id: Int?
    var text: String
    var position: Int = 0
    var cart: ToOne<Cart>?
    var goods: ToOne<CartGoods>
}

@Model struct CartGoods {
    @Attribute(.primaryKey) let name: String
}

@Model struct CartLabel {
    var id: Int?
    var text: String
}

@Model struct CartOwner {
    var id: Int?
    var text: String
}

@Model struct CartCoupon {
    let id: ID<CartCoupon>
    var text: String
}

/// Lists of one kind, to be edited at random and compared with plain arrays.
private protocol CartMember: Model {
    static var link: WritableKeyPath<Cart, ToMany<Self>> & Sendable { get }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart
    static func stored(_ store: Store, _ cart: Cart) throws -> [Self]
    static var isOrdered: Bool { get }
    /// Whether new ones may be equal: of a many-to-many they would be treated as copies of one.
    static var mayBeEqual: Bool { get }
    init(_ text: String)
    var text: String { get }
}

extension CartMember {
    static var isOrdered: Bool { true }
    static var mayBeEqual: Bool { true }
}

extension CartLine: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartLine>> & Sendable { \.lines }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.lines } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartLine] { try store.related(to: cart) { $0.lines } }
    init(_ text: String) { self.init(text: text) }
}

extension CartNote: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartNote>> & Sendable { \.notes }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.notes } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartNote] { try store.related(to: cart) { $0.notes } }
    static var isOrdered: Bool { false }
    init(_ text: String) { self.init(text: text) }
}

extension CartItem: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartItem>> & Sendable { \.items }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.items } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartItem] {
        let items = try store.related(to: cart) { $0.items }
        // Targets read through the items are in the items' order.
        let goods = try store.related(to: cart) { $0.goods }
        #expect(goods.map(\.name) == items.compactMap(\.goods.id))
        return items
    }
    init(_ text: String) { self.init(text: text, goods: ToOne(id: text.hasSuffix("1") ? "1" : "0")) }
}

extension CartLabel: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartLabel>> & Sendable { \.labels }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.labels } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartLabel] { try store.related(to: cart) { $0.labels } }
    static var mayBeEqual: Bool { false }
    init(_ text: String) { self.init(text: text) }
}

extension CartOwner: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartOwner>> & Sendable { \.owners }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.owners } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartOwner] { try store.related(to: cart) { $0.owners } }
    static var isOrdered: Bool { false }
    static var mayBeEqual: Bool { false }
    init(_ text: String) { self.init(text: text) }
}

extension CartCoupon: CartMember {
    static var link: WritableKeyPath<Cart, ToMany<CartCoupon>> & Sendable { \.coupons }
    static func load(_ store: Store, _ cart: Cart) throws -> Cart { try store.load(cart) { $0.coupons } }
    static func stored(_ store: Store, _ cart: Cart) throws -> [CartCoupon] {
        try store.related(to: cart) { $0.coupons }
    }
    init(_ text: String) { self.init(text: text) }
}

/// Edits of lists of new and stored objects, compared with plain arrays: in the value, in the result of the save, and
/// in the database.
@Suite struct RandomEditTests {
    @Test(arguments: Engine.allCases, 0..<12) func editsMatchAnArray(_ engine: Engine, _ seed: UInt64) throws {
        for var run in [
            try EditRun<CartLine>(engine, seed), try EditRun<CartNote>(engine, seed),
            try EditRun<CartItem>(engine, seed), try EditRun<CartLabel>(engine, seed),
            try EditRun<CartOwner>(engine, seed), try EditRun<CartCoupon>(engine, seed),
        ] as [any AnyEditRun] {
            for step in 0..<30 { try run.step(step) }
        }
    }
}

private protocol AnyEditRun {
    mutating func step(_ step: Int) throws
}

private struct EditRun<Member: CartMember>: AnyEditRun {
    let store: Store
    let seed: UInt64
    var random: SampleRandom
    /// The list, as the store has it.
    var stored: [Member] = []
    var cart = Cart()
    /// The number of objects ever inserted: taking one out of a list leaves it.
    var inserted = 0
    /// Stored objects that are in no list.
    var others: [Member] = []
    var serial = 0
    /// Whether new objects may be equal. A list that isn't loaded doesn't know which of them stands first.
    var isEqualAllowed = true

    init(_ engine: Engine, _ seed: UInt64) throws {
        self.seed = seed
        random = SampleRandom(seed: seed)
        store = try TestStore.make(engine, for: Cart.self)
        try store.insert((0..<5).map { CartGoods(name: "\($0)") })
        others = try store.insert([Member("0"), Member("1")])
        inserted = 2
    }

    mutating func step(_ step: Int) throws {
        let isLoaded = step % 3 != 1
        if step % 10 == 0 {
            (cart, stored) = (Cart(), [])  // a new one
            cart[keyPath: Member.link].set([])
        } else {
            cart = try store.refresh(cart)
            if isLoaded { cart = try Member.load(store, cart) }
        }
        let isNew = cart.id == nil
        isEqualAllowed = Member.mayBeEqual && (isLoaded || isNew)
        var expected = stored
        for _ in 0..<Int.random(in: 1...6, using: &random) { try edit(&expected, isLoaded: isLoaded || isNew) }
        let note: Testing.Comment = "\(Member.entityName), seed \(seed), step \(step)"
        if isLoaded || isNew { #expect(try cart[keyPath: Member.link].objects == expected, note) }
        if !isNew {
            let loaded = try Member.load(store, cart)
            #expect(try texts(loaded[keyPath: Member.link].objects) == texts(expected), note)
        }

        let saved = try store.save(cart)
        let returned = saved[keyPath: Member.link].loaded
        if isLoaded || isNew { #expect(returned?.map(\.text) == expected.map(\.text), note) }
        let members = try Member.stored(store, saved)
        #expect(texts(members) == texts(expected), note)
        if let returned {
            if Member.isOrdered { #expect(returned.map(\.primaryKey) == members.map(\.primaryKey), note) }
            #expect(Set(returned.map(\.primaryKey)) == Set(members.map(\.primaryKey)), note)
        }
        // Each member of the list that wasn't stored was inserted once, and nothing else was.
        let known = Set((stored + others).map(\.primaryKey))
        inserted += members.count { !known.contains($0.primaryKey) }
        #expect(try store.count(Member.all) == inserted, note)
        let inList = Set(members.map(\.primaryKey))
        others = try store.fetch(Member.all).filter { !inList.contains($0.primaryKey) }
        (cart, stored) = (saved, members)
    }

    private func texts(_ members: [Member]) -> [String] {
        Member.isOrdered ? members.map(\.text) : members.map(\.text).sorted()
    }

    private func isSame(_ left: Member, _ right: Member) -> Bool {
        left.primaryKey == nil ? left == right : left.primaryKey == right.primaryKey
    }

    private mutating func new() -> Member {
        serial += 1
        return Member(isEqualAllowed ? "\(serial % 2)" : "n\(serial)")
    }

    /// One of the list, one that is stored elsewhere, or a new one.
    private mutating func any(_ expected: [Member]) -> Member {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: expected.randomElement(using: &random) ?? new()
        case 1: others.randomElement(using: &random) ?? new()
        default: new()
        }
    }

    /// The same, except for new objects that may not be added twice.
    private mutating func addable(_ expected: [Member]) -> Member {
        let member = any(expected)
        let isTwice = member.primaryKey == nil && expected.contains(member) && !Member.mayBeEqual
        return isTwice ? new() : member
    }

    private mutating func edit(_ expected: inout [Member], isLoaded: Bool) throws {
        switch Int.random(in: 0..<(isLoaded ? 10 : 7), using: &random) {
        case 0, 1:
            let member = addable(expected)
            cart[keyPath: Member.link].add(member)
            append(member, &expected)
        case 2:
            let members = [addable(expected), new(), new()]
            cart[keyPath: Member.link].add(members)
            for member in members { append(member, &expected) }
        case 3:
            let member = any(expected)
            cart[keyPath: Member.link].remove(member)
            takeOut(member, &expected)
        case 4:
            let members = expected.shuffled(using: &random).prefix(2)
            cart[keyPath: Member.link].remove(members)
            for member in members { takeOut(member, &expected) }
        case 5...8 where !Member.isOrdered: return  // such a list has no places
        case 5, 6:
            let member = any(expected)
            let other = expected.randomElement(using: &random)
            cart[keyPath: Member.link].place(member, after: other)
            if let other, isSame(other, member) { return }
            takeOut(member, &expected)
            let index = other.flatMap { other in expected.firstIndex { isSame($0, other) } }
            expected.insert(member, at: index.map { $0 + 1 } ?? 0)
        case 7:
            let member = addable(expected)
            if member.primaryKey != nil { expected.removeAll { isSame($0, member) } }
            let index = Int.random(in: 0...expected.count, using: &random)
            try cart[keyPath: Member.link].insert(member, at: index)
            expected.insert(member, at: index)
        case 8:
            guard !expected.isEmpty else { return }
            let (from, to) = (
                Int.random(in: 0..<expected.count, using: &random), Int.random(in: 0..<expected.count, using: &random)
            )
            try cart[keyPath: Member.link].move(from: from, to: to)
            expected.insert(expected.remove(at: from), at: to)
        default:
            expected = expected.shuffled(using: &random).dropLast() + [new()]
            cart[keyPath: Member.link].set(expected)
        }
    }

    private func append(_ member: Member, _ expected: inout [Member]) {
        if member.primaryKey == nil || !expected.contains(where: { isSame($0, member) }) { expected.append(member) }
    }

    private func takeOut(_ member: Member, _ expected: inout [Member]) {
        if let index = expected.firstIndex(where: { isSame($0, member) }) { expected.remove(at: index) }
    }
}
