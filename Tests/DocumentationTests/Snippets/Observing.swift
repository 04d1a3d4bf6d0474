import Relata
import Testing

@Model struct Ship {
    @Attribute(.primaryKey) let name: String
    var tons: Int
    var berth: ToOne<Berth>?
}

@Model struct Berth {
    @Attribute(.primaryKey) let number: Int
    @Relationship(inverse: \Ship.berth) var ships: ToMany<Ship>
}

@Test func observingShips() async throws {
    try await example {
        let store = try await Store.open(temporary("harbour.sqlite"), for: Ship.self)
        let large = Ship.where { $0.tons > 1000 }.sorted { $0.name }.including { $0.berth }
        var ships = store.observe(large).makeAsyncIterator()
        print(try await ships.next()?.map(\.name) ?? [])
        try await store.save(Ship(name: "Aurora", tons: 5000))
        print(try await ships.next()?.map(\.name) ?? [])
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show
        var count = store.observe(countOf: Ship.all).makeAsyncIterator()
        var tons = store.observe(valueOf: Ship.all) { $0.tons.sum() }.makeAsyncIterator()
        var aurora = store.observe(Ship.self, id: "Aurora").makeAsyncIterator()
        var names = store.observe(Ship.all.select { $0.name }).makeAsyncIterator()
        var both = store.observe { tx in [try tx.count(Ship.all), try tx.count(Berth.all)] }.makeAsyncIterator()
        print(try await count.next() ?? 0, try await tons.next() ?? 0, try await both.next() ?? [])
        print(try await names.next() ?? [], try await aurora.next()??.tons ?? 0)
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show
        var differences = store.observe(Ship.sorted { $0.tons }).differences.makeAsyncIterator()
        _ = try await differences.next()
        try await store.write { tx in
            try tx.insert(Ship(name: "Borealis", tons: 300))
            try tx.update(Ship.self, id: "Aurora") { $0.tons = 5200 }
        }
        if let difference = try await differences.next() {
            print("new:", difference.inserted.map(\.element.name), "changed:", difference.updated.map(\.new.name))
        }
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        let update: @Sendable ([Ship]) -> Void = { _ in }
        let report: @Sendable (any Error) -> Void = { _ in }
        // docs: show
        let observer = store.observe(Ship.all, onError: { error in report(error) }) { ships in update(ships) }
        observer.cancel()
        // docs: hide
        // docs: show
        let feed = store.changes
        try await store.save(Ship(name: "Aurora", tons: 5300, berth: ToOne(Berth(number: 7))))
        try await store.delete(Berth.all)
        var transactions = feed.makeAsyncIterator()
        for _ in 1...2 {
            for change in await transactions.next()?.changes ?? [] {
                print(change.entity, change.kind, change.keys, change.properties)
            }
        }
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show
    }
}

@Test func changeLog() async throws {
    try await example {
        var options = Store.Options()
        options.changeLog = true
        let log = try await Store.open(temporary("logged.sqlite"), for: Ship.self, options: options)
        try await log.save([Ship(name: "Aurora", tons: 5000), Ship(name: "Borealis", tons: 300)])
        try await log.delete(Ship.self, id: "Aurora")
        for row in try await log.changes(after: 0) {
            print(row.position, row.change.entity, row.change.kind, row.change.keys)
        }
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show

        try log.close()
        let again = try await Store.open(temporary("logged.sqlite"), for: Ship.self, options: options)
        try await again.update(Ship.self, id: "Borealis") { $0.tons = 310 }
        var position: ChangePosition = 1
        var unread = try await again.changes(after: position, limit: 100)
        while let last = unread.last {
            for row in unread { print(row.position, row.change.kind, row.change.keys, row.change.properties) }
            position = last.position
            unread = try await again.changes(after: position, limit: 100)
        }
        try await again.removeChanges(through: position)
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show

        try await again.write { tx in
            tx.origin = ChangeOrigin("Ada's phone", number: 42)
            try tx.save(Ship(name: "Calypso", tons: 90))
        }
        if let row = try await again.changes(after: position).first, let origin = row.origin {
            print(row.change.kind, row.change.keys, "by", origin.name, origin.number ?? 0)
        }
        // docs: hide
        try printed(in: "Documentation/Observing.md")
        // docs: show
    }
}
