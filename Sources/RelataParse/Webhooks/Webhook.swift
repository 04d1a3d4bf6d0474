import RelataCore

/// The events that webhooks are called for, by Parse's names.
enum Trigger: String, Hashable, Sendable, CaseIterable {
    case beforeSave, afterSave, beforeDelete, afterDelete, beforeFind, afterFind
    case beforeLogin, afterLogin, afterLogout, beforePasswordResetRequest
    case beforeConnect, beforeSubscribe, afterEvent

    /// The name under which Parse's own server has triggers of connections, which aren't those of a class.
    static let connections = "@Connect"
    /// The name under which it has triggers of files.
    static let files = "@File"
    /// The name under which it has triggers of parameters.
    static let config = "@Config"

    /// Whether the webhook is called after the event, so its reply isn't awaited.
    var isNotice: Bool {
        switch self {
        case .afterSave, .afterDelete, .afterLogin, .afterLogout: true
        default: false
        }
    }
}

/// A function or a trigger that another server answers.
struct Webhook: Hashable, Sendable {
    /// The function or trigger that it answers.
    enum Place: Hashable, Sendable {
        case function(String)
        case trigger(Trigger, className: String)
    }

    let place: Place
    let url: String

    /// The webhook in the form for clients with the master key.
    var json: JSONValue {
        switch place {
        case .function(let name): ["functionName": .string(name), "url": .string(url)]
        case .trigger(let trigger, let className):
            ["className": .string(className), "triggerName": .string(trigger.rawValue), "url": .string(url)]
        }
    }
}

extension Webhook.Place: CustomStringConvertible {
    /// The place in error messages.
    var description: String {
        switch self {
        case .function(let name): "the function \(name.prefix(128))"
        case .trigger(let trigger, let className): "\(trigger.rawValue) of \(className.prefix(128))"
        }
    }
}

/// All webhooks of a store. They are stored with the classes, so every process notices a change with its next read or
/// write.
struct Webhooks: Hashable, Sendable, Codable {
    /// The name under which they are stored.
    static let key = "_Hooks"
    /// The maximum number of webhooks.
    static let maximumCount = 1000

    /// The URLs of functions by name.
    private var functions: [String: String] = [:]
    /// The URLs of triggers by class and name.
    private var triggers: [String: [String: String]] = [:]

    /// The number of webhooks.
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

    /// Sets the URL of a place; `nil` removes its webhook.
    mutating func set(_ url: String?, at place: Webhook.Place) {
        switch place {
        case .function(let name): functions[name] = url
        case .trigger(let trigger, let className):
            triggers[className, default: [:]][trigger.rawValue] = url
            if triggers[className]?.isEmpty == true { triggers[className] = nil }
        }
    }

    /// All functions, sorted by name.
    var ofFunctions: [Webhook] { functions.keys.sorted().compactMap { self[function: $0] } }

    /// All triggers, or those of a class, sorted by class and name.
    func ofTriggers(_ className: String? = nil) -> [Webhook] {
        triggers.keys.filter { className == nil || $0 == className }.sorted().flatMap { name in
            Trigger.allCases.compactMap { self[$0, name] }
        }
    }

    /// Whether a webhook is called for queries of a class.
    func concernFinding(_ className: String) -> Bool {
        self[.beforeFind, className] != nil || self[.afterFind, className] != nil
    }

    /// Whether a webhook is called for writes of a class.
    func concernWriting(_ className: String) -> Bool {
        guard let own = triggers[className] else { return false }
        return [Trigger.beforeSave, .afterSave, .beforeDelete, .afterDelete].contains { own[$0.rawValue] != nil }
    }

    /// Whether there are any triggers.
    var hasTriggers: Bool { !triggers.isEmpty }

    /// Whether a webhook is called for queries of any class.
    var concernFinding: Bool { triggers.keys.contains { $0 != Trigger.files && concernFinding($0) } }
}
