import RelataCore
import RelataEngine

extension ParseTransaction {
    private var hasImported: Bool {
        AccountClasses.isThere(AccountClasses.imported, in: storedClasses.schema)
    }

    /// The greatest cost of the passwords that are kept as another server kept them; `nil` if there is none.
    func importedCost() throws -> Int? {
        guard hasImported else { return nil }
        let row = try accountRows(AccountClasses.imported, []) { table, _ in
            "SELECT cost FROM \(table) ORDER BY cost DESC LIMIT 1"
        }.first
        return row?[0].wholeNumber.map { Int($0) }
    }

    /// Records that a user's password has another server's hash.
    func noteImported(_ user: String, cost: Int) throws {
        try changeAccounts(AccountClasses.imported, [.text(user), .integer(Int64(cost))]) {
            table, values in
            "INSERT INTO \(table) (\"user\", cost) VALUES (\(values.joined(separator: ", "))) ON CONFLICT DO NOTHING"
        }
    }

    /// Removes that record: the password is now stored like others.
    func forgetImported(_ user: String) throws {
        guard hasImported else { return }
        try changeAccounts(AccountClasses.imported, [.text(user)]) { table, values in
            "DELETE FROM \(table) WHERE \"user\" = \(values[0])"
        }
    }
}
