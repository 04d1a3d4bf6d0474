import RelataCore

/// The amount that a pipeline may still compute, and whether its request is cancelled.
///
/// A stage can produce much from little: a text joined with itself, an object for each element of a list. Results are
/// counted before they are made.
struct PipelineBudget {
    /// The size of a value besides its text.
    private static let valueSize = 16

    private let limit: Int
    private var size = 0
    private var documentCount = 0

    /// - Parameter limit: The number of bytes the documents of a stage may take, roughly.
    init(_ limit: Int) { self.limit = limit }

    /// Counts a document that a stage made.
    ///
    /// - Throws: ``ParseError`` 116 if it exceeds the budget, and `CancellationError`.
    mutating func add(_ document: JSONValue) throws {
        documentCount += 1
        if documentCount % 1000 == 0 { try Task.checkCancellation() }
        try count(document)
    }

    /// Counts the text of a value before it is made.
    ///
    /// - Throws: ``ParseError`` 116 if it exceeds the budget.
    mutating func add(text bytes: Int) throws(ParseError) {
        size += bytes
        guard size <= limit else { throw .replyTooLarge(limit) }
    }

    /// The documents that are made from others.
    mutating func map(
        _ documents: [JSONValue], _ transform: (JSONValue, inout PipelineBudget) throws -> JSONValue
    ) throws -> [JSONValue] {
        var made: [JSONValue] = []
        made.reserveCapacity(documents.count)
        for document in documents {
            let new = try transform(document, &self)
            try add(new)
            made.append(new)
        }
        return made
    }

    private mutating func count(_ value: JSONValue) throws(ParseError) {
        try add(text: Self.valueSize)
        switch value {
        case .string(let text): try add(text: text.utf8.count)
        case .array(let elements): for element in elements { try count(element) }
        case .object(let members):
            for (name, member) in members {
                try add(text: name.utf8.count)
                try count(member)
            }
        default: break
        }
    }
}
