import RelataCore

/// The objects that conditions apply to.
struct Subject {
    let parseClass: ParseClass
    /// The scope of the fields, and the pointers from there to them.
    let scope: Int
    let path: [String]

    /// A property of the objects, or the objects themselves.
    func property(_ name: String? = nil) -> ExpressionNode {
        .property(scope: scope, path: name.map { path + [$0] } ?? path)
    }
}

/// The values that a key of a query names: one, or any of several.
struct Target {
    /// The key as the request has it, cut short.
    let name: String
    /// The links that it leads through, from outside in.
    var ways: [Way] = []
    /// The value, or any of the values.
    var source: Source
    /// The elements, if the value may be an array.
    var elements: JSONElements?
    /// Whether it is an array and nothing else.
    var isArray = false
    /// A search of the field for no words, if the class has one.
    var searched: ObjectSearch?
    /// Other values that the key names, through arrays in JSON.
    var others: [Target] = []

    /// A condition that any of the values meets.
    enum Way {
        case related(RelatedSet)
        case elements(JSONElements)
    }

    /// Whether any of the values meets a test.
    ///
    /// - Parameter testsArrays: Whether an array itself may meet it, besides its elements.
    func any(testsArrays: Bool = false, _ test: (Source) -> ExpressionNode) -> ExpressionNode {
        var choices: [ExpressionNode] = []
        if !isArray || testsArrays { choices.append(test(source)) }
        if let elements {
            let element = Source.json(JSONPlace(.element(scope: elements.scope)))
            let condition = test(element)
            if condition != ConditionReader.nothing { choices.append(.anyElement(elements, condition: condition)) }
        }
        let choice = choices.filter { $0 != ConditionReader.nothing }
        let condition = wrapped(choice.count == 1 ? choice[0] : .or(choice))
        return or(condition) { $0.any(testsArrays: testsArrays, test) }
    }

    /// Whether the value may be a point in time.
    var mayBeDate: Bool {
        switch source {
        case .missing: true
        case .object: false
        case .column(_, let type, _): if case .date = type { true } else { false }
        // A member of an object may have any type; an object isn't one.
        case .json: elements != nil && !isArray
        }
    }

    /// The number of places the key names.
    var places: Int { others.reduce(1) { $0 + $1.places } }

    /// Whether there is a value.
    var isSet: ExpressionNode { or(wrapped(source.isSet)) { $0.isSet } }

    /// Whether the value is unset, or an array that contains `null`.
    var isNull: ExpressionNode { elements == nil ? .not(isSet) : .or([.not(isSet), hasNull]) }

    private var hasNull: ExpressionNode {
        guard let elements else { return ConditionReader.nothing }
        let element = Source.json(JSONPlace(.element(scope: elements.scope)))
        return or(wrapped(.anyElement(elements, condition: .not(element.isSet)))) { $0.hasNull }
    }

    /// A condition on this, or on anything else that the key names.
    func or(_ condition: ExpressionNode, _ other: (Target) -> ExpressionNode) -> ExpressionNode {
        others.isEmpty ? condition : .or([condition] + others.map(other))
    }

    func wrapped(_ condition: ExpressionNode) -> ExpressionNode {
        if condition == ConditionReader.nothing { return condition }
        var condition = condition
        for way in ways.reversed() {
            switch way {
            case .related(let set): condition = .quantified(.any, set, condition: condition)
            case .elements(let elements): condition = .anyElement(elements, condition: condition)
            }
        }
        return condition
    }
}

/// One value that a query refers to.
enum Source {
    /// A field that the class doesn't have.
    case missing
    /// The id of an object, or an object at the end of a pointer or relation.
    case object(ExpressionNode, ParseClass, isPointer: Bool)
    /// A value with a separate column.
    case column(ExpressionNode, AttributeType, acceptsText: Bool)
    /// Something in a column that holds JSON.
    case json(JSONPlace)

    var isSet: ExpressionNode {
        switch self {
        case .missing: ConditionReader.nothing
        case .object(let node, _, _), .column(let node, _, _): .not(.isNull(node))
        case .json(let place): .not(.isNull(place.base(orAs: .any)))
        }
    }
}

/// A place in a JSON value.
struct JSONPlace {
    enum Base {
        case column(ExpressionNode)
        case element(scope: Int)
    }

    let base: Base
    var path: [JSONStep] = []

    init(_ base: Base, _ path: [JSONStep] = []) {
        self.base = base
        self.path = path
    }

    /// The value, read as one kind.
    func read(_ kind: JSONKind) -> ExpressionNode {
        switch base {
        case .column(let node): .function(.json(kind, path), [node])
        case .element(let scope):
            path.isEmpty
                ? .element(scope: scope, kind) : .function(.json(kind, path), [.element(scope: scope, .compound)])
        }
    }

    /// The whole column, or the value in it, as a kind.
    func base(orAs kind: JSONKind) -> ExpressionNode {
        if case .column(let node) = base, path.isEmpty { node } else { read(kind) }
    }

    /// The place of a member inside this one.
    subscript(members: String...) -> JSONPlace { JSONPlace(base, path + members.map { .member($0) }) }
}

extension ConditionReader {
    /// The values that a key names: `title`, `genre.name`, `address.city`.
    ///
    /// - Throws: ``ParseError`` 105 for a name that no field can have, and for more names than anything stored is deep.
    mutating func target(_ key: String, of subject: Subject) throws(ParseError) -> Target {
        var subject = subject
        var target = Target(name: String(key.prefix(64)), source: .missing)
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains("") else { throw ParseError(.invalidKeyName, "Invalid key name: \(key.prefix(64))") }
        // The meanings of the names multiply.
        guard parts.count <= JSONParser.maximumDepth else {
            throw ParseError(
                .invalidKeyName,
                "Invalid key name: \(key.prefix(64)): it has more than \(JSONParser.maximumDepth) names")
        }
        for (index, part) in parts.enumerated() {
            let rest = Array(parts[(index + 1)...])
            guard let field = subject.parseClass[part] else {
                guard ParseNames.isPlain(part) else {
                    throw ParseError(.invalidKeyName, "Invalid key name: \(key.prefix(64))")
                }
                return target
            }
            switch field.storage {
            // Access lists can't be queried.
            case .access: return target
            case .objectID:
                guard rest.isEmpty else { return target }
                target.source = .object(subject.property(), subject.parseClass, isPointer: false)
                return target
            case .column(let column):
                try read(column, field, rest, of: subject, into: &target)
                return target
            case .pointer(let reference, _):
                guard let next = classes[entity: classes.schema.references[reference].target] else { return target }
                if !rest.isEmpty { try transaction.check(.find, on: next) }
                subject = Subject(parseClass: next, scope: subject.scope, path: subject.path + [field.name])
                target.source = .object(subject.property(), next, isPointer: true)
            case .relation:
                guard let next = field.type.targetClass.flatMap({ classes[$0] }) else { return target }
                if !rest.isEmpty { try transaction.check(.find, on: next) }
                let scope = newScope()
                target.ways.append(
                    .related(
                        RelatedSet(scope: subject.scope, path: subject.path + [field.name], innerScope: scope)))
                subject = Subject(parseClass: next, scope: scope, path: [])
                target.source = .object(subject.property(), next, isPointer: true)
            }
            if !rest.isEmpty { target.source = .missing }
        }
        return target
    }

    private mutating func read(
        _ index: Int, _ field: Field, _ rest: [String], of subject: Subject, into target: inout Target
    ) throws(ParseError) {
        let column = subject.parseClass.table.columns[index]
        let node = subject.property(column.property)
        guard column.type == .json else {
            guard rest.isEmpty else { return }
            let isStamp = field.name == "createdAt" || field.name == "updatedAt"
            target.source = .column(node, column.type, acceptsText: isStamp || readsTextAsDates)
            return
        }
        for name in rest where !JSONPlace.canName(name) {
            throw ParseError(.invalidKeyName, "Invalid key name: \(target.name)")
        }
        var place = JSONPlace(.column(node))
        var path = rest[...]
        if field.type == .array {
            if let index = path.first.flatMap({ JSONPlace.index($0) }) {
                place.path = [.index(index)]
                path.removeFirst()
            } else if !path.isEmpty {
                let elements = JSONElements(of: node, scope: newScope())
                target.ways.append(.elements(elements))
                place = JSONPlace(.element(scope: elements.scope))
            }
        }
        target.isArray = field.type == .array && rest.isEmpty
        let hasElements = target.isArray || !rest.isEmpty || field.isAnyJSON
        let route = Route(ways: target.ways, place: place)
        let routes = try self.routes(
            path, from: route, beginsInArray: field.isAnyJSON || !place.path.isEmpty, arrays: Self.maximumArrays)
        var targets: [Target] = []
        for route in routes {
            var one = target
            one.ways = route.ways
            one.source = .json(route.place)
            if hasElements { one.elements = route.place.elements(scope: newScope()) }
            targets.append(one)
        }
        target = targets.removeFirst()
        target.others = targets
    }

    /// A path in JSON.
    private struct Route {
        var ways: [Target.Way]
        var place: JSONPlace
    }

    /// The number of arrays on the path of a key, besides an array field itself.
    private static var maximumArrays: Int { 2 }

    /// The paths that names may mean: first the members of these names. A number is an index of an array too, and names
    /// after an array are looked up in each of its elements.
    ///
    /// - Parameter beginsInArray: Whether the end of the path may be an array.
    private mutating func routes(
        _ names: ArraySlice<String>, from route: Route, beginsInArray: Bool, arrays: Int
    ) throws(ParseError) -> [Route] {
        var routes: [Route] = []
        for steps in JSONPlace.steps(names, beginInArray: beginsInArray) {
            if !routes.isEmpty { try countOperator() }
            routes.append(Route(ways: route.ways, place: JSONPlace(route.place.base, route.place.path + steps)))
        }
        guard arrays > 0 else { return routes }
        for index in names.indices.dropFirst(beginsInArray ? 0 : 1) where JSONPlace.index(names[index]) == nil {
            for steps in JSONPlace.steps(names[..<index], beginInArray: beginsInArray) {
                try countOperator()
                let array = JSONPlace(route.place.base, route.place.path + steps)
                let scope = newScope()
                let inner = Route(
                    ways: route.ways + [.elements(array.elements(scope: scope))],
                    place: JSONPlace(.element(scope: scope)))
                routes += try self.routes(names[index...], from: inner, beginsInArray: false, arrays: arrays - 1)
            }
        }
        return routes
    }
}

extension JSONPlace {
    /// The elements of the array at this place.
    fileprivate func elements(scope: Int) -> JSONElements {
        switch base {
        case .column(let node): JSONElements(of: node, at: path, scope: scope)
        case .element(let outer): JSONElements(of: .element(scope: outer, .compound), at: path, scope: scope)
        }
    }

    /// The index in an array that a name means; `nil` for none.
    fileprivate static func index(_ name: String) -> Int? {
        guard let index = Int(name), (0...1_000_000_000).contains(index), String(index) == name else { return nil }
        return index
    }

    /// The steps that names may mean: to members, and for the first numbers among them to elements too.
    fileprivate static func steps(_ names: ArraySlice<String>, beginInArray: Bool) -> [[JSONStep]] {
        var all: [[JSONStep]] = [[]]
        for (place, name) in names.enumerated() {
            let members = all.map { $0 + [.member(name)] }
            if all.count < 8, place > 0 || beginInArray, let number = index(name) {
                all = members + all.map { $0 + [.index(number)] }
            } else {
                all = members
            }
        }
        return all
    }

    /// Whether a member can have that name in a query.
    fileprivate static func canName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0 != "\"" && $0 != "\\" && $0.value >= 0x20 }
    }
}
