import RelataCore

/// What a webhook is called for besides functions, by Parse's own names.
enum Trigger: String, Hashable, Sendable, CaseIterable {
    case beforeSave, afterSave, beforeDelete, afterDelete, beforeFind, afterFind
    case beforeLogin, afterLogin, afterLogout, beforePasswordResetRequest

    /// Whether it is told of what has happened already, so that nobody waits for it.
    var isNotice: Bool {
        switch self {
        case .afterSave, .afterDelete, .afterLogin, .afterLogout: true
        default: false
        }
    }
}

/// A function or a trigger that another server answers.
struct Webhook: Hashable, Sendable {
    /// What it is called for.
    enum Place: Hashable, Sendable {
        case function(String)
        case trigger(Trigger, className: String)
    }

    let place: Place
    let url: String

    /// As clients with the master key see it.
    var json: JSONValue {
        switch place {
        case .function(let name): ["functionName": .string(name), "url": .string(url)]
        case .trigger(let trigger, let className):
            ["className": .string(className), "triggerName": .string(trigger.rawValue), "url": .string(url)]
        }
    }
}

extension Webhook.Place: CustomStringConvertible {
    /// As in errors.
    var description: String {
        switch self {
        case .function(let name): "the function \(name.prefix(128))"
        case .trigger(let trigger, let className): "\(trigger.rawValue) of \(className.prefix(128))"
        }
    }
}

/// All webhooks of a store. They are kept beside the classes, so that every process knows of a change as soon as it reads
/// or writes anything.
struct Webhooks: Hashable, Sendable, Codable {
    /// The name under which they are kept.
    static let key = "_Hooks"
    /// How many there are at most.
    static let maximumCount = 1000

    /// The addresses of functions by their names.
    private var functions: [String: String] = [:]
    /// The addresses of triggers by their classes and names.
    private var triggers: [String: [String: String]] = [:]

    /// How many there are.
    var count: Int { functions.count + triggers.values.reduce(0) { $0 + $1.count } }

    /// The webhook of a function.
    subscript(function name: String) -> Webhook? {
        functions[name].map { Webhook(place: .function(name), url: $0) }
    }

    /// The webhook of a trigger.
    subscript(trigger: Trigger, className: String) -> Webhook? {
        if triggers.isEmpty { return nil }
        return triggers[className]?[trigger.rawValue].map {
            Webhook(place: .trigger(trigger, className: className), url: $0)
        }
    }

    /// The webhook of a place.
    subscript(place: Webhook.Place) -> Webhook? {
        switch place {
        case .function(let name): self[function: name]
        case .trigger(let trigger, let className): self[trigger, className]
        }
    }

    /// Gives a place an address; `nil` takes its webhook away.
    mutating func set(_ url: String?, at place: Webhook.Place) {
        switch place {
        case .function(let name): functions[name] = url
        case .trigger(let trigger, let className):
            triggers[className, default: [:]][trigger.rawValue] = url
            if triggers[className]?.isEmpty == true { triggers[className] = nil }
        }
    }

    /// All functions, in the order of their names.
    var ofFunctions: [Webhook] { functions.keys.sorted().compactMap { self[function: $0] } }

    /// All triggers, or those of a class, in the order of their classes and names.
    func ofTriggers(_ className: String? = nil) -> [Webhook] {
        triggers.keys.filter { className == nil || $0 == className }.sorted().flatMap { name in
            Trigger.allCases.compactMap { self[$0, name] }
        }
    }

    /// Whether objects of a class are found with a webhook's consent.
    func concernFinding(_ className: String) -> Bool {
        self[.beforeFind, className] != nil || self[.afterFind, className] != nil
    }

    /// Whether a webhook is called for writing objects of a class.
    func concernWriting(_ className: String) -> Bool {
        guard let own = triggers[className] else { return false }
        return [Trigger.beforeSave, .afterSave, .beforeDelete, .afterDelete].contains { own[$0.rawValue] != nil }
    }

    /// Whether there are any triggers.
    var hasTriggers: Bool { !triggers.isEmpty }

    /// Whether any objects are found with a webhook's consent.
    var concernFinding: Bool { triggers.keys.contains(where: concernFinding) }
}
