import RelataCore

/// The parts of objects that hooks of events may show to the caller of a live query: only those that the caller sees.
struct LiveMask: Sendable {
    private let className: String
    private let selection: Selection
    /// The fields that are hidden from the caller, by class.
    private let hidden: [String: Set<String>]
    /// The fields that only some objects show to the caller, by class.
    private let partlyHidden: [String: Set<String>]

    init(_ known: KnownCaller, _ query: LiveQuery) {
        className = query.className
        selection = query.selection
        hidden = known.isMaster ? [:] : known.hiddenFields
        partlyHidden = known.isMaster ? [:] : known.partlyHiddenFields
    }

    /// The members that say which object it is, and of when.
    private static let fixed: Set = ["className", "objectId", "createdAt", "updatedAt"]

    /// An object from hooks as it may be sent.
    ///
    /// - Parameter seen: The object as the caller sees it.
    func shown(_ object: JSONObject, insteadOf seen: JSONObject) -> JSONObject {
        var shown = seen.filter { Self.fixed.contains($0.key) }
        for (name, value) in members(of: object, className, insteadOf: seen)
        where !Self.fixed.contains(name) && (seen[name] != nil || selection.mayShow(name)) {
            shown[name] = value
        }
        return shown
    }

    private func members(of object: JSONObject, _ className: String, insteadOf seen: JSONObject?) -> JSONObject {
        let (never, rarely) = (hidden[className] ?? [], partlyHidden[className] ?? [])
        var members: JSONObject = [:]
        for (name, value) in object {
            // A field that only some objects show is there already if this object shows it.
            guard !never.contains(name), seen?[name] != nil || !rarely.contains(name) else { continue }
            members[name] = self.value(value, insteadOf: seen?[name])
        }
        return members
    }

    /// A value in an object. It may contain objects of other classes.
    private func value(_ value: JSONValue, insteadOf seen: JSONValue?) -> JSONValue {
        switch value {
        case .array(let elements):
            return .array(elements.map { element in self.value(element, insteadOf: seen?.array?.first(like: element)) })
        case .object(let object):
            guard object["__type"] == "Object", let name = object["className"]?.string else {
                return .object(JSONObject(object.map { ($0.key, self.value($0.value, insteadOf: seen?[$0.key])) }))
            }
            let isSame = seen?["objectId"] == object["objectId"] && seen?["className"] == object["className"]
            return .object(members(of: object, name, insteadOf: isSame ? seen?.object : nil))
        default: return value
        }
    }
}

extension Selection {
    /// Whether a member that an object doesn't have yet may be shown.
    fileprivate func mayShow(_ name: String) -> Bool {
        if excluded.contains(name) { return false }
        return keys.map { $0.contains(name) || $0.contains("*") } ?? true
    }
}

extension [JSONValue] {
    /// The element that is the same object.
    fileprivate func first(like element: JSONValue) -> JSONValue? {
        guard let id = element["objectId"] else { return nil }
        return first { $0["objectId"] == id && $0["className"] == element["className"] }
    }
}
