import Relata
import Testing

@Model struct Account {
    @Attribute(.primaryKey) let number: Int
    @Attribute(.unique) var owner: String
    @Attribute(.range(0...)) var balance: Int
    @Attribute(.revision) var revision: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Transfer.account) var transfers: ToMany<Transfer>
}

@Model struct Transfer {
    var id: Int?
    var amount: Int
    var account: ToOne<Account>
}

@Test func insertUpdateSave() async throws {
    try await example {
        let store = try await Store.open(temporary("bank.sqlite"), for: Account.self)
        let ada = try await store.insert(Account(number: 1, owner: "Ada", balance: 100))
        do {
            try await store.insert(ada)
        } catch {
            print(error)
        }
        do {
            try await store.update(Account(number: 2, owner: "Ben", balance: 0))
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show
    }
}

@Test func oneCall() async throws {
    try await example {
        let store = try await Store.open(temporary("bank.sqlite"), for: Account.self)
        // docs: hide
        try await store.insert(Account(number: 1, owner: "Ada", balance: 100))
        // docs: show
        let changed = try await store.update(Account.self, id: 1) {
            $0.balance -= 30
            $0.transfers.add(Transfer(amount: -30))
        }
        print(changed.balance, try await store.count(Transfer.all))
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show

        let (cleo, transfer) = try await store.save(
            Account(number: 3, owner: "Cleo", balance: 5), Transfer(amount: 5, account: ToOne(id: 3)))
        print(cleo.owner, transfer.id ?? 0)

        try await store.save([
            Transfer(amount: 1, account: ToOne(id: 4)),  // its account comes later in the same batch
            Account(number: 4, owner: "Dana", balance: 1),
        ])
        print(try await store.count(Account.all))
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show

        let results = try await store.saveEach([
            Account(number: 5, owner: "Ada", balance: 0),
            Account(number: 6, owner: "Eli", balance: -1),
            Account(number: 7, owner: "Fay", balance: 1),
        ])
        for result in results {
            switch result {
            case .success(let account): print("saved", (account as? Account)?.owner ?? "")
            case .failure(let error): print(error)
            }
        }
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show

        let imported = try await store.insert(
            contentsOf: (1...100_000).lazy.map { Transfer(amount: $0 % 7, account: ToOne(id: 3)) })
        print(imported)
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show

        let fay = try await store.save(Account(number: 99, owner: "Fay", balance: 20), matching: { $0.owner })
        print(fay.number, fay.balance)
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show

        let count = try await store.update(Account.where { $0.balance < 10 }) { $0.balance.set(to: $0.balance + 10) }
        print(count, "accounts got something")
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show
    }
}

@Test func revisions() async throws {
    try await example {
        let store = try await Store.open(temporary("bank.sqlite"), for: Account.self)
        let mine = try await store.insert(Account(number: 1, owner: "Ada", balance: 100))

        var theirs = mine
        theirs.balance = 90
        try await store.save(theirs)

        do {
            var stale = mine
            stale.balance = 110
            try await store.save(stale)
        } catch RelataError.conflict(let conflict) {
            let (given, stored) = (conflict.given as? Account, conflict.stored as? Account)
            print("mine:", given?.balance ?? 0, "theirs:", stored?.balance ?? 0)
        }
        print(try await store.refresh(mine).balance)
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show
    }
}

@Test func transactions() async throws {
    try await example {
        let store = try await Store.open(temporary("bank.sqlite"), for: Account.self)
        try await store.save([
            Account(number: 1, owner: "Ada", balance: 100), Account(number: 2, owner: "Ben", balance: 0),
        ])

        try await store.write { tx in
            try tx.update(Account.self, id: 1) { $0.balance -= 40 }
            try tx.update(Account.self, id: 2) { $0.balance += 40 }
        }

        do {
            try await store.write { tx in
                try tx.update(Account.self, id: 2) { $0.balance += 500 }
                try tx.update(Account.self, id: 1) { $0.balance -= 500 }
            }
        } catch {
            print(error)
        }
        print(try await store.fetch(Account.sorted { $0.number }).map(\.balance))
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show
    }
}

@Test func savepoints() async throws {
    try await example {
        let store = try await Store.open(temporary("savepoint.sqlite"), for: Account.self)
        try await store.write { tx in
            try tx.insert(Account(number: 1, owner: "Ada", balance: 100))
            do {
                try tx.savepoint { tx in
                    try tx.delete(Account.self, id: 1)
                    throw Rollback()
                }
            } catch is Rollback {}
        }
        print(try await store.count(Account.all))
        // docs: hide
        try printed(in: "Documentation/Saving.md")
        // docs: show
    }
}

func synchronously() throws {
    let store = try Store.open(temporary("bank.sqlite"), for: Account.self)
    try store.save(Account(number: 1, owner: "Ada", balance: 100))
    print(try store.count(Account.all))
}
// docs: hide

@Test func synchronousCode() async throws {
    try await example {
        try synchronously()
        try printed(in: "Documentation/Saving.md")
    }
}
// docs: show
