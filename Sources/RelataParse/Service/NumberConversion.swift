import RelataCore
import RelataEngine

/// The conversion of columns of an earlier version, which hold floating-point numbers only, while others use them.
enum NumberConversion {
    /// Limits the time that the open transaction waits for a table of its own to a moment, because all others that need
    /// the table wait behind it.
    static func waitBriefly(_ connection: Connection) throws(RelataError) {
        if connection.dialect == .postgres { try connection.execute("SET LOCAL lock_timeout = '1s'") }
    }

    /// Runs the conversion of some fields, if any.
    ///
    /// - Throws: ``ParseError`` 155 if others use a table all the time; what `body` throws.
    static func naming<Result: Sendable>(
        _ fields: [ConvertedField], _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            guard !fields.isEmpty, case .busy? = error as? RelataError else { throw error }
            throw ParseError(
                .requestLimitExceeded,
                "\(fields.map(\.description).joined(separator: ", ")) must be converted to hold the number, and others use the class: try again, or convert the column by hand as the guide to PostgreSQL says",
                status: 503)
        }
    }
}
