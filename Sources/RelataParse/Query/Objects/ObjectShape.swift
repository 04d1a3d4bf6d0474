import RelataCore

/// Reads objects of a class from the rows of one statement, and writes them as JSON. Made once for a query.
///
/// The objects of pointers come with the same rows, by joins. If that would take too many joins, and for pointers
/// inside JSON, their objects are fetched afterwards.
final class ObjectShape: Sendable {
    /// The beginning of every object, up to its id.
    let head: [UInt8]
    /// Its id.
    let id: Key
    /// The fields after the id.
    let fields: [Field]

    /// A field of an object.
    struct Field: Sendable {
        /// The JSON before the value: `,"title":`.
        let prefix: [UInt8]
        let content: Content
    }

    /// The source of a field's value; columns are those of the statement.
    enum Content: Sendable {
        case value(Int, Kind)
        /// JSON; invalid JSON is written as text.
        case json(Int)
        /// JSON in which pointers are replaced by their objects.
        case search(Int, InnerSelection)
        case pointer(Key)
        /// A pointer whose object is fetched afterwards.
        case late(Key, InnerSelection)
        /// The object of a pointer; the pointer itself if it dangles.
        case object(ObjectShape, Key)
        case constant([UInt8])
    }

    /// The form in which a column is written.
    enum Kind: Sendable {
        case text, uuid, number, decimal, boolean, bytes
        case date(DateEncoding)
        /// A date without a type around it.
        case stamp(DateEncoding)
    }

    /// The type members of objects.
    enum Naming {
        case nothing
        /// Their class, if the request queries another.
        case className
        /// Their class and `__type`: they replace pointers.
        case object
    }

    /// The columns of a key.
    struct Key: Sendable {
        let column: Int
        let types: [AttributeType]
        let coding: ObjectIDCoding
        let className: String
        /// The beginning of a pointer, up to the id.
        let prefix: [UInt8]

        init(column: Int, of parseClass: ParseClass) {
            self.column = column
            types = parseClass.table.keyColumns.map { parseClass.table.columns[$0].type }
            coding = parseClass.objectID
            className = parseClass.name
            prefix = Array(
                "{\"__type\":\"Pointer\",\"className\":\(JSONWriter.text(.string(className))),\"objectId\":".utf8)
        }
    }

    fileprivate init(head: [UInt8], id: Key, fields: [Field]) {
        self.head = head
        self.id = id
        self.fields = fields
    }
}

/// Makes the shape of a query's objects, and the list of the columns that it needs.
struct ObjectShapeBuilder {
    let classes: ClassSet
    /// The parts that the query yields.
    private(set) var parts: [SelectedPart] = []
    private var columns = 0
    private var joins = 0
    private var inner: [Selection: InnerSelection] = [:]

    /// SQLite joins 64 tables and yields 2000 columns at most; conditions and order need some too.
    private static let maximumJoins = 40
    private static let maximumColumns = 1000

    init(_ classes: ClassSet) { self.classes = classes }

    /// The shape of a query's objects.
    ///
    /// - Parameters:
    ///   - path: The pointers from the query's objects to them.
    ///   - naming: Their type members.
    ///   - score: A number that is shown besides their fields, instead of a field with the same name.
    mutating func shape(
        of parseClass: ParseClass, _ selection: Selection, path: [String] = [], naming: ObjectShape.Naming,
        score: ExpressionNode? = nil
    ) -> ObjectShape {
        let id = ObjectShape.Key(column: add(.key(path: path), parseClass.table.keyColumns.count), of: parseClass)
        var fields: [ObjectShape.Field] = []
        for field in parseClass.fields where field.isStamp || selection.shows(field) {
            guard score == nil || field.name != "score",
                let content = content(of: field, parseClass, selection, path)
            else { continue }
            fields.append(
                ObjectShape.Field(prefix: Array(",\(JSONWriter.text(.string(field.name))):".utf8), content: content))
        }
        if let score {
            fields.append(
                ObjectShape.Field(prefix: Array(",\"score\":".utf8), content: .value(add(.expression(score)), .number)))
        }
        let className = "\"className\":\(JSONWriter.text(.string(parseClass.name))),"
        let head =
            switch naming {
            case .nothing: "{"
            case .className: "{" + className
            case .object: "{\"__type\":\"Object\"," + className
            }
        return ObjectShape(head: Array((head + "\"objectId\":").utf8), id: id, fields: fields)
    }

    /// One selection for all places that show the same fields.
    private mutating func shared(_ selection: Selection) -> InnerSelection {
        if let known = inner[selection] { return known }
        let new = InnerSelection(selection, included: selection.included.mapValues { shared($0) })
        inner[selection] = new
        return new
    }

    private mutating func add(_ part: SelectedPart, _ width: Int = 1) -> Int {
        parts.append(part)
        defer { columns += width }
        return columns
    }

    private mutating func content(
        of field: Field, _ parseClass: ParseClass, _ selection: Selection, _ path: [String]
    ) -> ObjectShape.Content? {
        switch field.storage {
        case .objectID: return nil
        case .access:
            joins += 1
            let list = path + [InternalClasses.link, InternalClasses.permissions]
            return .json(add(.expression(.property(scope: 0, path: list))))
        case .relation:
            guard let target = field.type.targetClass else { return nil }
            return .constant(Array(JSONWriter.text(["__type": "Relation", "className": .string(target)]).utf8))
        case .column(let index):
            let type = parseClass.table.columns[index].type
            let column = add(
                .expression(.property(scope: 0, path: path + [parseClass.table.columns[index].property])))
            guard type == .json else { return .value(column, ObjectShape.Kind(type, isStamp: field.isStamp)) }
            // Objects in an array are shown like those of a pointer, those within an object only if `keys` names them.
            if field.type == .array {
                return selection[pointer: field.name].map { .search(column, shared($0)) } ?? .json(column)
            }
            guard let inner = selection.included[field.name], inner != Selection() else { return .json(column) }
            return .search(column, shared(inner))
        case .pointer(let reference, let indexes):
            guard let target = classes[entity: classes.schema.references[reference].target] else { return nil }
            let path = path + [field.name]
            let key = ObjectShape.Key(
                column: add(.expression(.property(scope: 0, path: path)), indexes.count), of: target)
            guard let inner = selection[pointer: field.name] else { return .pointer(key) }
            guard joins < Self.maximumJoins, columns + target.table.columns.count < Self.maximumColumns else {
                return .late(key, shared(inner))
            }
            joins += 1
            return .object(shape(of: target, inner, path: path, naming: .object), key)
        }
    }
}

extension Field {
    /// Whether it is the time of the object's creation or last change.
    fileprivate var isStamp: Bool { name == "createdAt" || name == "updatedAt" }
}

extension ObjectShape.Kind {
    fileprivate init(_ type: AttributeType, isStamp: Bool) {
        self =
            switch type {
            case .text, .json: .text
            case .uuid: .uuid
            case .integer, .real: .number
            case .decimal: .decimal
            case .boolean: .boolean
            case .data: .bytes
            case .date(let encoding): isStamp ? .stamp(encoding) : .date(encoding)
            }
    }
}
