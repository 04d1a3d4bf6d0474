import RelataCore
import RelataEngine

/// One page of a query's objects, or of shapes of them.
public struct Page<Object: Sendable>: Sendable {
    /// The page's objects.
    public let objects: [Object]
    /// The position of the next page; `nil` after the last one. `Codable`, so that a client can send it back.
    public let next: PagePosition?
}

/// Finds the end of a page, while its rows are read: one more is read, which shows that there is a next page.
struct PageEnd {
    private let size: Int
    /// The columns with a row's position in the order, and their meanings.
    private let placeColumns: Range<Int>
    private let types: [AttributeType?]
    private let order: String?
    private var count = 0
    private var last: [Value] = []
    /// The position of the next page, once all rows were read; `nil` after the last page.
    private(set) var next: PagePosition?

    init(size: Int, of query: CompiledQuery) {
        self.size = size
        types = query.columnTypes
        order = query.placeOrder
        placeColumns = types.count - query.placeColumns..<types.count
    }

    /// Whether a row belongs to the page.
    mutating func takes(_ row: Row) -> Bool {
        guard count < size else {
            next = PagePosition(last, order: order)
            return false
        }
        count += 1
        if count == size { last = placeColumns.map { row.value(at: $0, as: types[$0]) } }
        return true
    }
}

extension QueryPlan {
    /// The plan of one page of the query.
    func page(size: Int) throws(RelataError) -> QueryPlan {
        guard size > 0 else { throw .invalidUse("a page must have at least one object, not \(size)") }
        guard limit == nil, offset == nil else {
            throw .invalidUse("a page sets its own limit and offset: leave them out of its query")
        }
        var plan = self
        // No table has more rows than the largest number.
        plan.limit = size == .max ? size : size + 1
        return plan
    }
}
