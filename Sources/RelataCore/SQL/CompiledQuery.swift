/// A query in SQL and how its rows are read.
package struct CompiledQuery: Hashable, Sendable {
    /// The text and the bound values.
    package var statement: SQLStatement
    /// The meaning of each column; `nil` if it isn't known. An object or a to-one has a column for each part of its
    /// key.
    package var columnTypes: [AttributeType?]
    /// The number of columns at the end that give the row's position in the order; see ``PagePosition``.
    package var placeColumns: Int
    /// The order that the place is one of; see ``PagePosition/order``.
    package var placeOrder: String?
    /// The first column of each part of ``SelectedColumns/parts(_:)``, and the end.
    package var partColumns: [Int]
    /// For each to-one whose objects rows may share, the number of the parameter with the known keys; `nil` if every
    /// row has its object. The reader of the rows adds the key of each object to the bound value. A row may then leave
    /// its object unset, and has its key by the owner's column: the part before the object's own key.
    package var knownKeys: [Int?]
    /// The first columns of rows, if links and objects come in separate rows; otherwise `nil`. A row of a link has the
    /// owner, the object's key in the first of ``partColumns``, and a position column if positions are stored: the
    /// link's place is the position and then that key. After all links, there is a row for each object, without an
    /// owner; see ``ObjectRows``. Others may be among them.
    package var objectRows: ObjectRows?
    /// The parameters that are values of the access; only set for a plain query.
    package var accessParameters: [AccessParameter]

    /// A query and how its rows are read.
    package init(
        statement: SQLStatement, columnTypes: [AttributeType?], placeColumns: Int = 0, placeOrder: String? = nil,
        partColumns: [Int] = [], knownKeys: [Int?] = [], objectRows: ObjectRows? = nil,
        accessParameters: [AccessParameter] = []
    ) {
        self.statement = statement
        self.columnTypes = columnTypes
        self.placeColumns = placeColumns
        self.placeOrder = placeOrder
        self.partColumns = partColumns
        self.knownKeys = knownKeys
        self.objectRows = objectRows
        self.accessParameters = accessParameters
    }
}

/// The first columns of object rows, which follow all links to them.
package enum ObjectRows: Hashable, Sendable {
    /// The number of the object's key, from 1, among those that the reader of the links adds to the bound value.
    case numbers(parameter: Int)
    /// None: the column of the object's key is also the column of a link, which has an owner.
    case keys
}

/// The columns of a query's result.
package enum SelectedColumns: Hashable, Sendable {
    /// The entity's columns in the order of ``Table/columns``.
    case all
    /// Chosen expressions; an object or a to-one yields its key.
    case expressions([ExpressionNode])
    /// Expressions, and objects with all their columns, side by side: the columns of a shape.
    case parts([SelectedPart])
}

/// A part of a query's result; see ``SelectedColumns/parts(_:)``.
package enum SelectedPart: Hashable, Sendable {
    /// A value; a to-one yields the key it holds.
    case expression(ExpressionNode)
    /// The key of the object at the end of to-ones, from its own row: unset without a row.
    case key(path: [String])
    /// All columns of the object at the end of to-ones; unset without a row.
    case object(path: [String])
}

/// A row's position in the order of a query, after which the next page begins. It stays right while rows are added or
/// removed, because it contains values, not a number of rows.
public struct PagePosition: Hashable, Sendable, Codable {
    /// The values of the position columns in the last row of the page before (see `CompiledQuery.placeColumns`), as
    /// stored.
    public let values: [Value]
    /// A short text that identifies the order: a position has no meaning in another order. `nil` for a position without
    /// its order.
    public let order: String?

    /// The place after the row with these values.
    package init(_ values: [Value], order: String? = nil) {
        self.values = values
        self.order = order
    }
}

extension QueryPlan {
    /// A short text that differs for different orders; the same in every process.
    var orderName: String {
        var hasher = StableHasher()
        hasher.combine(entity)
        if let relatedTo {
            hasher.combine(relatedTo.entity)
            hasher.combine(relatedTo.relationship)
        }
        if let search {
            hasher.combine("search")
            hasher.combine(search.text.text)
            for name in search.properties { hasher.combine(name) }
        }
        for term in sort {
            if case .property(let scope, let path) = term.node {
                hasher.combine(word: UInt64(truncatingIfNeeded: scope))
                for name in path { hasher.combine(name) }
            } else {
                hasher.combine("\(term.node)")
            }
            let nulls: UInt64 = term.nullsFirst.map { $0 ? 1 : 2 } ?? 0
            hasher.combine(word: (term.isAscending ? 1 : 0) | nulls << 1 | UInt64(term.options.rawValue) << 8)
            if let locale = term.locale { hasher.combine(locale) }
        }
        return hasher.digits
    }
}

/// The new value of a property in an update by query.
public struct Assignment: Hashable, Sendable {
    /// The property's name. A path such as `owner.name` leads to another object, which can't be set.
    package let property: String
    /// Its new value.
    package let value: NewValue

    /// A new value.
    package enum NewValue: Hashable, Sendable {
        /// A value, which may use the object's own: `price * 2`.
        case expression(ExpressionNode)
        /// The object that a to-one points at, or none.
        case key(KeyValue?)
    }

    /// Sets an attribute, or a to-one whose key has one part.
    package init(_ property: String, _ expression: ExpressionNode) {
        self.property = property
        value = .expression(expression)
    }

    /// Sets a to-one.
    package init(_ property: String, key: KeyValue?) {
        self.property = property
        value = .key(key)
    }
}
